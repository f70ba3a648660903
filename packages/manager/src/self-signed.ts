import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its private key, PEM. */
export interface SelfSignedPair {
  readonly cert: string;
  readonly key: string;
}

/** How long before `now` validity begins, for clocks that disagree, and how long it lasts, in ms. */
const earlierMs = 3_600_000;
const validityMs = 3_652 * 86_400_000;

/**
 * A new key and a certificate for `localhost` and 127.0.0.1 that it signed itself: it hides what is said from those who
 * only listen, and proves nothing. X.509 v3, P-256, ECDSA-SHA256 (RFC 5280 §4.1), written out in DER because
 * node:crypto makes keys but no certificates. `now` is wall-clock time in ms.
 */
export function createSelfSignedPair(now: number): SelfSignedPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ecdsaWithSha256));
  const serial = randomBytes(16);
  // Positive, and without superfluous leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const name = sequence(element(0x31, sequence(oid(commonName), element(0x0c, Buffer.from('localhost')))));
  const extensions = [
    extension(subjectAlternativeName, [
      sequence(element(0x82, Buffer.from('localhost')), element(0x87, Buffer.from([127, 0, 0, 1]))),
    ]),
    extension(basicConstraints, [boolean(true), sequence()]),
    extension(keyUsage, [boolean(true), element(0x03, Buffer.from([7, 0x80]))]),
    extension(extendedKeyUsage, [sequence(oid(serverAuth))]),
  ];
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, serial),
    algorithm,
    name,
    sequence(time(now - earlierMs), time(now + validityMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(body, algorithm, element(0x03, Buffer.from([0]), sign('sha256', body, privateKey)));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replaceAll(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const ecdsaWithSha256 = [1, 2, 840, 10045, 4, 3, 2];
const commonName = [2, 5, 4, 3];
const subjectAlternativeName = [2, 5, 29, 17];
const basicConstraints = [2, 5, 29, 19];
const keyUsage = [2, 5, 29, 15];
const extendedKeyUsage = [2, 5, 29, 37];
const serverAuth = [1, 3, 6, 1, 5, 5, 7, 3, 1];

/** Tag, length, content. */
function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(0x30, ...parts);
}

function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

/** The value is the last part; the one before it says whether it is critical. */
function extension(id: readonly number[], parts: readonly Buffer[]): Buffer {
  return sequence(oid(id), ...parts.slice(0, -1), element(0x04, ...parts.slice(-1)));
}

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = rest.flatMap((number) => {
    const base128 = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) base128.unshift((left & 0x7f) | 0x80);
    return base128;
  });
  return element(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

/** UTCTime until 2049, GeneralizedTime after it, as RFC 5280 wants. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}
