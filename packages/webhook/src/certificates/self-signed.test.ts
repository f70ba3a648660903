import { createPrivateKey, X509Certificate } from 'node:crypto';
import { connect, createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { issueAuthority, issueServing } from './issue.js';
import { createSelfSignedCertificate } from './self-signed.js';

const at = (time: string) => ({ clock: { now: () => Date.parse(time) } });

it('makes certificates that are valid from an hour ago on, also beyond 2049', async () => {
  const { cert, key } = await createSelfSignedCertificate(at('2045-01-01T00:00:00.750Z'));
  const certificate = new X509Certificate(cert);
  expect(certificate.validFromDate.toISOString()).toBe('2044-12-31T23:00:00.000Z');
  expect(certificate.validToDate.getUTCFullYear()).toBe(2055);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(certificate.ca).toBe(false);
});

it('names hosts and addresses, IPv6 included', async () => {
  const { cert } = await createSelfSignedCertificate({
    dnsNames: ['hook.default.svc', '*.example.com'],
    ipAddresses: ['10.1.2.3', '::1', 'fd00::12:abcd', '::ffff:10.0.0.1'],
  });
  const certificate = new X509Certificate(cert);
  expect(certificate.subject).toBe('CN=hook.default.svc');
  expect(certificate.subjectAltName).toBe(
    'DNS:hook.default.svc, DNS:*.example.com, IP Address:10.1.2.3, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:12:ABCD, IP Address:0:0:0:0:0:FFFF:A00:1',
  );
  expect(certificate.checkHost('a.example.com')).toBeDefined();
  expect(certificate.checkIP('fd00::12:abcd')).toBeDefined();
});

it('issues what TLS accepts: an authority that may sign, and a certificate that it vouches for', async () => {
  const now = Date.now();
  const authority = await issueAuthority('hooks', { now, validityMs: 60_000 });
  const serving = await issueServing(authority, { dnsNames: ['hook.default.svc'], now, validityMs: 3_600_000 });
  const [ca, leaf] = [new X509Certificate(authority.cert), new X509Certificate(serving.cert)];
  expect(ca.ca).toBe(true);
  expect(leaf.checkIssued(ca) && leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.validToDate).toEqual(ca.validToDate);
  expect(leaf.serialNumber).not.toBe(ca.serialNumber);

  const server = createServer({ cert: serving.cert, key: serving.key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, servername: 'hook.default.svc', ca: authority.cert });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();
  server.close();
});

it('refuses an authority that is not PEM', async () => {
  const authority = { cert: 'no', key: 'no' };
  await expect(issueServing(authority, { dnsNames: [], now: 0, validityMs: 1 })).rejects.toThrow();
});
