import { signCertificate } from '@kctl/http-server/internal/certificates';
import type { PemPair } from '@kctl/http-server/internal/certificates';

export type KeyPair = PemPair;

export interface Authority extends KeyPair {
  /** Signs a certificate for a server at 127.0.0.1 (and `names`) or, with `clientName`, for a client. */
  issue(options?: IssueOptions): KeyPair;
}

export interface IssueOptions {
  readonly names?: readonly string[];
  readonly clientName?: string;
  readonly notAfter?: Date;
  readonly notBefore?: Date;
}

const dayMs = 86_400_000;

let made = 0;

export function createAuthority(name = 'test-ca'): Authority {
  const now = Date.now();
  const ca = signCertificate({
    commonName: `${name}-${++made}`,
    purpose: 'authority',
    validFrom: now - dayMs,
    validTo: now + dayMs,
  });
  return {
    ...ca,
    issue: ({ names = [], clientName, notAfter = new Date(now + dayMs), notBefore = new Date(now - dayMs) } = {}) =>
      signCertificate({
        issuer: ca,
        validFrom: notBefore.getTime(),
        validTo: notAfter.getTime(),
        ...(clientName === undefined
          ? {
              commonName: 'server',
              purpose: 'server',
              dnsNames: names,
              ipAddresses: names.length === 0 ? ['127.0.0.1'] : [],
            }
          : { commonName: clientName, purpose: 'client' }),
      }),
  };
}
