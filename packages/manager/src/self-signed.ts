import { webcrypto } from 'node:crypto';

/** A certificate and its private key, PEM. */
export interface SelfSignedPair {
  readonly cert: string;
  readonly key: string;
}

/** How long before `now` validity begins, for clocks that disagree, and how long it lasts, in ms. */
const earlierMs = 3_600_000;
const validityMs = 3_652 * 86_400_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * A new key and a certificate for `localhost` and 127.0.0.1 that it signed itself: it hides what is said from those who
 * only listen, and proves nothing. `now` is wall-clock time in ms.
 */
export async function createSelfSignedPair(now: number): Promise<SelfSignedPair> {
  // Loaded by those who need it alone: most servers have files, or no TLS.
  await import('reflect-metadata'); // @peculiar/x509 asks for it to be loaded first
  const x509 = await import('@peculiar/x509');
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=localhost',
      notBefore: new Date(now - earlierMs),
      notAfter: new Date(now + validityMs),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto,
  );
  const key = await subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}
