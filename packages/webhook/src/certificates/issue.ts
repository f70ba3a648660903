import { randomUUID, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateFields, PemPair } from '@kctl/http-server/internal/certificates';

export type { PemPair } from '@kctl/http-server/internal/certificates';

/** How long before now validity begins, for clocks that disagree, in ms. */
export const skewMs = 3_600_000;

/** When something is issued and for how long, in ms; `now` is wall-clock time. */
export interface Validity {
  readonly now: number;
  readonly validityMs: number;
}

/** A new certificate authority. Its name is its own, so that two in one bundle can be distinguished. */
export async function issueAuthority(name: string, { now, validityMs }: Validity): Promise<PemPair> {
  return await signed({
    commonName: `${name}-${randomUUID().slice(0, 8)}`,
    validFrom: now - skewMs,
    validTo: now + validityMs,
    purpose: 'authority',
  });
}

/** A new serving certificate of an authority, for names and addresses, valid no longer than the authority is. */
export async function issueServing(
  authority: PemPair,
  { dnsNames, now, validityMs }: Validity & { readonly dnsNames: readonly string[] },
): Promise<PemPair> {
  return await signed({
    commonName: dnsNames[0] ?? 'webhook',
    issuer: authority,
    purpose: 'server',
    validFrom: now - skewMs,
    validTo: Math.min(now + validityMs, new X509Certificate(authority.cert).validToDate.getTime()),
    // Go takes no address for the name of a host.
    dnsNames: dnsNames.filter((name) => isIP(name) === 0),
    ipAddresses: dnsNames.filter((name) => isIP(name) !== 0),
  });
}

/** In code that only its users load, because most servers have files. */
export async function signed(fields: CertificateFields): Promise<PemPair> {
  const { signCertificate } = await import('@kctl/http-server/internal/certificates');
  return signCertificate(fields);
}
