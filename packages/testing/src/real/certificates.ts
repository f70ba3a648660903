import { webcrypto } from 'node:crypto';
import 'reflect-metadata'; // @peculiar/x509 asks for it to be loaded first
import * as x509 from '@peculiar/x509';

/** A certificate and its private key, both as PEM. */
export interface CertificateAndKey {
  readonly certPem: string;
  readonly keyPem: string;
}

/** Whom a client certificate speaks for. */
export interface CertificateSubject {
  /** The user name. */
  readonly commonName: string;
  /** The groups. */
  readonly organizations?: readonly string[];
}

/** Whom a serving certificate speaks for. */
export interface ServingSubject {
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const yearMs = 365 * 24 * 3_600_000;
const { subtle } = webcrypto;
x509.cryptoProvider.set(webcrypto);

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
  const ca = stored ?? (await createRoot(name, now));
  const certificate = new x509.X509Certificate(ca.certPem);
  const [der] = x509.PemConverter.decode(ca.keyPem);
  if (der === undefined) throw new TypeError('createCertificateAuthority: the stored key is not PEM');
  const signingKey = await subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const issue = async (subject: string, extensions: x509.Extension[]): Promise<CertificateAndKey> => {
    const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const issued = await x509.X509CertificateGenerator.create({
      subject,
      issuer: certificate.subject,
      notBefore: new Date(now - 3_600_000),
      notAfter: new Date(now + yearMs),
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    return { certPem: issued.toString('pem'), keyPem: await exportKey(keys.privateKey) };
  };
  return {
    ca,
    issueClient: ({ commonName, organizations = [] }) =>
      issue(distinguishedName(commonName, organizations), [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]),
    issueServing: ({ commonName, dnsNames, ipAddresses }) =>
      issue(distinguishedName(commonName), [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
          ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
        ]),
      ]),
  };
}

async function createRoot(name: string, now: number): Promise<CertificateAndKey> {
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: distinguishedName(name),
    notBefore: new Date(now - 3_600_000),
    notAfter: new Date(now + 10 * yearMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
        true,
      ),
    ],
  });
  return { certPem: root.toString('pem'), keyPem: await exportKey(keys.privateKey) };
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function distinguishedName(commonName: string, organizations: readonly string[] = []): string {
  return new x509.Name([...organizations.map((value) => ({ O: [value] })), { CN: [commonName] }]).toString();
}
