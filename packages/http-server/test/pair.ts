import { signCertificate } from '../src/certificates/sign-certificate.js';
import type { PemPair } from '../src/certificates/sign-certificate.js';

/** A certificate for `localhost` that signs itself, and its key, as PEM. */
export function selfSignedPair(): PemPair {
  const now = Date.now();
  return signCertificate({
    commonName: 'localhost',
    purpose: 'server',
    validFrom: now - 60_000,
    validTo: now + 86_400_000,
    dnsNames: ['localhost'],
  });
}
