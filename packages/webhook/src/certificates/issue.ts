import { randomUUID, webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';

/** A certificate and its private key, PEM. */
export interface PemPair {
  readonly cert: string;
  readonly key: string;
}

/** How long before now validity begins, for clocks that disagree, in ms. */
export const skewMs = 3_600_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** When something is issued and for how long, in ms; `now` is wall-clock time. */
export interface Validity {
  readonly now: number;
  readonly validityMs: number;
}

/** A new certificate authority. Its name is its own, so that two in one bundle can be distinguished. */
export async function issueAuthority(name: string, { now, validityMs }: Validity): Promise<PemPair> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: new x509.Name([{ CN: [`${name}-${randomUUID().slice(0, 8)}`] }]).toString(),
      notBefore: new Date(now - skewMs),
      notAfter: new Date(now + validityMs),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) };
}

/** A new serving certificate of an authority, valid no longer than the authority is. */
export async function issueServing(
  authority: PemPair,
  { dnsNames, now, validityMs }: Validity & { readonly dnsNames: readonly string[] },
): Promise<PemPair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.cert);
  const [der] = x509.PemConverter.decode(authority.key);
  if (der === undefined) throw new TypeError('the key of the certificate authority is not PEM');
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: new x509.Name([{ CN: [dnsNames[0] ?? 'webhook'] }]).toString(),
      issuer: issuer.subject,
      notBefore: new Date(now - skewMs),
      notAfter: new Date(Math.min(now + validityMs, issuer.notAfter.getTime())),
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: 'dns' as const, value }))),
        await x509.AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) };
}

/** Loaded by those who need it alone: most servers have files. */
async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata'); // @peculiar/x509 asks for it to be loaded first
  return await import('@peculiar/x509');
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${bytes.replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END PRIVATE KEY-----\n`;
}
