import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** A certificate is not one for a host. The code is Go's complaint. */
class CertificateNameError extends Error {
  override readonly name = 'CertificateNameError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function namesOf(alternatives: string, type: 'DNS' | 'IP Address'): string[] {
  return alternatives
    .split(', ')
    .filter((entry) => entry.startsWith(`${type}:`))
    .map((entry) => entry.slice(type.length + 1));
}

/**
 * Whether a certificate is for a host, by its subject alternative names alone. As in Go, and unlike Node.js, a common
 * name counts for nothing.
 */
export function checkCertificateNames(host: string, certificate: PeerCertificate): Error | undefined {
  const alternatives = new X509Certificate(certificate.raw).subjectAltName ?? '';
  const isAddress = isIP(host) > 0;
  const dns = namesOf(alternatives, 'DNS');
  const addresses = namesOf(alternatives, 'IP Address');
  const valid = isAddress ? addresses : dns;
  if (valid.length > 0 && checkServerIdentity(host, certificate) === undefined) return undefined;
  if (isAddress && addresses.length === 0)
    return new CertificateNameError(
      `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`,
    );
  if (valid.length === 0 && alternatives === '')
    return new CertificateNameError('x509: certificate relies on legacy Common Name field, use SANs instead');
  return new CertificateNameError(
    valid.length === 0
      ? `x509: certificate is not valid for any names, but wanted to match ${host}`
      : `x509: certificate is valid for ${valid.join(', ')}, not ${host}`,
  );
}
