import { webcrypto } from 'node:crypto';
import 'reflect-metadata'; // @peculiar/x509 asks for it to be loaded first
import * as x509 from '@peculiar/x509';

/** A certificate for `localhost` that signs itself, and its key, as PEM. */
export async function selfSignedPair(): Promise<{ readonly cert: string; readonly key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=localhost',
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
    },
    webcrypto,
  );
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}
