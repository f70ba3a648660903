import type { PemPair } from '@kctl/http-server/internal/certificates';

/** A certificate and its private key, both as PEM. */
export interface CertificateAndKey {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The identity that a client certificate proves. */
export interface CertificateSubject {
  /** The user name. */
  readonly commonName: string;
  /** The groups. */
  readonly organizations?: readonly string[];
}

/** The identity that a serving certificate proves. */
export interface ServingSubject {
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Issues certificates; throw-away, for tests. */
export interface CertificateAuthority {
  readonly ca: CertificateAndKey;
  issueClient(subject: CertificateSubject): Promise<CertificateAndKey>;
  issueServing(subject: ServingSubject): Promise<CertificateAndKey>;
}

/** A new authority, or the one that `stored` came from. `now` is wall-clock time in ms. */
export async function createCertificateAuthority(
  name: string,
  now: number,
  stored?: CertificateAndKey,
): Promise<CertificateAuthority> {
  const existing = stored === undefined ? {} : { existing: { cert: stored.certPem, key: stored.keyPem } };
  // Loaded when it is needed: most tests run on the embedded server.
  const shared = await import('@kctl/http-server/internal/certificates');
  const authority = shared.createCertificateAuthority({ name, now, ...existing });
  return {
    ca: pairOf(authority),
    issueClient: ({ commonName, organizations = [] }) =>
      Promise.resolve(pairOf(authority.issueClient(commonName, organizations))),
    issueServing: ({ commonName, dnsNames, ipAddresses }) =>
      Promise.resolve(pairOf(authority.issueServer(commonName, [...dnsNames, ...ipAddresses]))),
  };
}

function pairOf({ cert, key }: PemPair): CertificateAndKey {
  return { certPem: cert, keyPem: key };
}
