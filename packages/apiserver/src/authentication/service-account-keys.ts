import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A public key that tokens of service accounts are verified with. */
export interface VerificationKey {
  /** Derived as upstream, the SHA-256 of the key, which reveals nothing of it. */
  readonly id: string;
  readonly algorithm: string;
  readonly key: KeyObject;
}

/** The keys of a token issuer. */
export interface TokenKeys {
  /** If absent, tokens are verified and not issued. */
  readonly signing: VerificationKey | undefined;
  readonly verification: readonly VerificationKey[];
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** The signing key of a data directory, made with its first use, so that tokens stay good over restarts; else a new one. */
export function loadSigningKey(dataDir: string | undefined): string {
  if (dataDir === undefined) return generateSigningKey();
  const path = join(dataDir, 'service-account.key');
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const key = generateSigningKey();
  writeFileSync(path, key, { mode: 0o600 });
  return key;
}

/** A fresh P-256 key in PEM, which takes 1 ms instead of a hundred for RSA. */
function generateSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * Reads the keys of an issuer. The public half of the signing key verifies, too.
 *
 * @throws TypeError that names the option
 */
export function readTokenKeys({
  signingKey,
  publicKeys,
}: {
  readonly signingKey: string;
  readonly publicKeys: readonly string[];
}): TokenKeys {
  const signing = readKey('serviceAccounts.signingKey', signingKey, createPrivateKey);
  const others = publicKeys.flatMap((text, index) =>
    blocksOf(text).map((block) => readKey(`serviceAccounts.publicKeys[${index}]`, block, publicKeyOf)),
  );
  const verification = new Map<string, VerificationKey>();
  for (const each of [{ ...signing, key: createPublicKey(signing.key) }, ...others]) verification.set(each.id, each);
  return { signing, verification: [...verification.values()] };
}

/** A public key, a private key or a certificate, PEM. */
function publicKeyOf(pem: string): KeyObject {
  return pem.includes('BEGIN CERTIFICATE') ? new X509Certificate(pem).publicKey : createPublicKey(pem);
}

/** The blocks of a PEM file with several keys; parameters of a curve are left out. */
function blocksOf(text: string): string[] {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [text];
  return blocks.filter((block) => !block.includes('EC PARAMETERS'));
}

function readKey(option: string, pem: string, read: (pem: string) => KeyObject): VerificationKey {
  try {
    const [block = pem] = blocksOf(pem);
    return describe(read(block));
  } catch (cause) {
    // The cause of OpenSSL never quotes the key.
    throw new TypeError(`${option}: expected an RSA or ECDSA (P-256, P-384, P-521) key or certificate in PEM`, {
      cause,
    });
  }
}

function describe(key: KeyObject): VerificationKey {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const algorithm = asymmetricKeyType === 'rsa' ? 'RS256' : curves[asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw new TypeError(`keys of type ${asymmetricKeyType ?? 'secret'} are not supported`);
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(der).digest('base64url'), algorithm, key };
}
