import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCertificateAuthority } from './certificate-authority.js';
import { signCertificate } from './sign-certificate.js';

const now = Date.parse('2026-01-02T03:04:05Z');
const validity = { validFrom: now, validTo: now + 3_600_000 };

it('names an IPv6 address without its zone, which a certificate cannot have', () => {
  const { issueServer } = createCertificateAuthority({ name: 'ca', now });
  const { subjectAltName } = new X509Certificate(issueServer('a', ['fe80::1%eth0', '::ffff:10.0.0.1%1', 'a.b']).cert);
  expect(subjectAltName).toBe('DNS:a.b, IP Address:FE80:0:0:0:0:0:0:1, IP Address:0:0:0:0:0:FFFF:A00:1');
});

it('writes host names with other letters in the form that DNS has', () => {
  const { issueServer } = createCertificateAuthority({ name: 'ca', now });
  const { subjectAltName } = new X509Certificate(issueServer('a', ['bücher.example', '*.bücher.example', 'a_b']).cert);
  expect(subjectAltName).toBe('DNS:xn--bcher-kva.example, DNS:*.xn--bcher-kva.example, DNS:a_b');
  expect(() => issueServer('a', ['ü%2f'])).toThrow('host name "ü%2f" is not valid: expected a name of DNS');
});

it('writes names of any length that a certificate takes', () => {
  const { issueServer, issueClient, cert } = createCertificateAuthority({ name: 'n'.repeat(300), now });
  const names = Array.from({ length: 300 }, (_, index) => `host-${index}.${'a'.repeat(120)}.example`);
  const server = new X509Certificate(issueServer('s'.repeat(128), names).cert);
  expect(server.subjectAltName?.split(', ')).toHaveLength(300);
  const groups = ['g'.repeat(127), 'g'.repeat(128), 'ü'.repeat(128)];
  const client = new X509Certificate(issueClient('', groups).cert);
  expect(client.subject.split('\n')).toHaveLength(4);
  const authority = new X509Certificate(cert);
  for (const issued of [server, client])
    expect(issued.checkIssued(authority) && issued.verify(authority.publicKey)).toBe(true);
});

it.each([200, 20_000, 70_000])('has names of %d bytes in all', (bytes) => {
  const { issueServer, cert } = createCertificateAuthority({ name: 'ca', now });
  const names = Array.from({ length: Math.ceil(bytes / 100) }, (_, index) => `${index}.${'a'.repeat(100)}.example`);
  const server = new X509Certificate(issueServer('server', names).cert);
  expect(server.subjectAltName?.split(', ')).toHaveLength(names.length);
  expect(server.verify(new X509Certificate(cert).publicKey)).toBe(true);
});

it.each([
  ['1949-12-31T23:59:59.999Z', '1949-12-31T23:59:59.000Z'],
  ['1950-01-01T00:00:00Z', '1950-01-01T00:00:00.000Z'],
  ['2049-12-31T23:59:59Z', '2049-12-31T23:59:59.000Z'],
  ['2050-01-01T00:00:00Z', '2050-01-01T00:00:00.000Z'],
  ['+010000-01-01T00:00:00Z', '9999-12-31T23:59:59.000Z'],
])('is valid until %s, as far as a certificate can say it', (time, expected) => {
  const { cert } = signCertificate({ ...validity, validTo: Date.parse(time), commonName: 'a', purpose: 'server' });
  expect(new X509Certificate(cert).validToDate.toISOString()).toBe(expected);
});
