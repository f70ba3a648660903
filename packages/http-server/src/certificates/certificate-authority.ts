import { type PemPair, isAddress, signCertificate } from './sign-certificate.js';

/** How long before `now` validity begins, in ms, for clocks that disagree. */
const skewMs = 3_600_000;
const tenYearsMs = 3_652 * 86_400_000;

/** Issues certificates that its `cert` vouches for. */
export interface CertificateAuthority extends PemPair {
  /** A certificate for a server under these DNS names and IP addresses. */
  issueServer(commonName: string, names: readonly string[]): PemPair;
  /** A certificate for a client, with user name and groups. */
  issueClient(user: string, groups: readonly string[]): PemPair;
}

/** Options of {@link createCertificateAuthority}. */
export interface CertificateAuthorityOptions {
  readonly name: string;
  /** Wall-clock time, in ms since the epoch. */
  readonly now: number;
  /** An authority made earlier, to go on with. @default a new one */
  readonly existing?: PemPair;
}

/** An authority for servers and clients of tests, development and embedded servers, valid for ten years. */
export function createCertificateAuthority({ name, now, existing }: CertificateAuthorityOptions): CertificateAuthority {
  const validity = { validFrom: now - skewMs, validTo: now + tenYearsMs };
  const authority = existing ?? signCertificate({ ...validity, commonName: name, purpose: 'authority' });
  const common = { ...validity, issuer: authority };
  return {
    cert: authority.cert,
    key: authority.key,
    issueServer: (commonName, names) =>
      signCertificate({
        ...common,
        purpose: 'server',
        commonName,
        dnsNames: names.filter((each) => !isAddress(each)),
        ipAddresses: names.filter(isAddress),
      }),
    issueClient: (user, groups) =>
      signCertificate({ ...common, purpose: 'client', commonName: user, organizations: groups }),
  };
}
