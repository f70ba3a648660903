import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

/** A certificate and its private key, PEM. */
export interface KeyAndCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Issues certificates that its `cert` vouches for. */
export interface CertificateAuthority extends KeyAndCertificate {
  /** A certificate for a server under these DNS names and IP addresses. */
  issueServer(names: readonly string[]): KeyAndCertificate;
  /** A certificate for a client, with user name and groups. */
  issueClient(user: string, groups: readonly string[]): KeyAndCertificate;
}

/** Options of {@link createCertificateAuthority}. */
export interface CertificateAuthorityOptions {
  /** When validity begins, in ms since the epoch; an hour earlier is written, for clocks that disagree. */
  readonly now: number;
  /** An authority made earlier, to go on with. */
  readonly existing?: KeyAndCertificate;
}

const tenYearsMs = 3_652 * 86_400_000;

function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(0x30, ...parts);
const utf8 = (text: string): Buffer => encode(0x0c, Buffer.from(text));
const octets = (content: Uint8Array): Buffer => encode(0x04, content);
const bits = (content: Uint8Array, unused = 0): Buffer => encode(0x03, Buffer.from([unused]), content);
const boolean = (value: boolean): Buffer => encode(0x01, Buffer.from([value ? 0xff : 0]));

/** A positive integer. */
function integer(bytes: Uint8Array): Buffer {
  const isNegative = (bytes[0] ?? 0) >= 0x80;
  return encode(0x02, isNegative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of rest) {
    const base128 = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) base128.unshift((left & 0x7f) | 0x80);
    bytes.push(...base128);
  }
  return encode(0x06, Buffer.from(bytes));
}

/** UTCTime until 2049, GeneralizedTime after it, as RFC 5280 wants. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? encode(0x17, Buffer.from(digits.slice(2)))
    : encode(0x18, Buffer.from(digits));
}

/** A distinguished name, with groups as O, the user as CN. */
function distinguishedName(commonName: string, organisations: readonly string[] = []): Buffer {
  const attribute = (type: string, value: string): Buffer => encode(0x31, sequence(oid(type), utf8(value)));
  return sequence(...organisations.map((name) => attribute('2.5.4.10', name)), attribute('2.5.4.3', commonName));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return isCritical ? sequence(oid(id), boolean(true), octets(value)) : sequence(oid(id), octets(value));
}

function ipBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return Buffer.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]));
}

/** Node's pattern for IPv6 takes 5 ms to compile, and the names in every certificate do not need it. */
function isAddress(name: string): boolean {
  return isIPv4(name) || name === '::1' || (name.includes(':') && isIPv6(name));
}

function alternativeNames(names: readonly string[]): Buffer {
  const general = names.map((name) =>
    isAddress(name) ? encode(0x87, ipBytes(name)) : encode(0x82, Buffer.from(name)),
  );
  return extension('2.5.29.17', sequence(...general));
}

const basicConstraints = (isAuthority: boolean): Buffer =>
  extension('2.5.29.19', isAuthority ? sequence(boolean(true)) : sequence(), true);
/** keyCertSign + cRLSign + digitalSignature, or digitalSignature alone. */
const keyUsage = (isAuthority: boolean): Buffer =>
  extension('2.5.29.15', isAuthority ? bits(Buffer.from([0x86]), 1) : bits(Buffer.from([0x80]), 7), true);
const extendedKeyUsage = (purpose: 'server' | 'client'): Buffer =>
  extension('2.5.29.37', sequence(oid(purpose === 'server' ? '1.3.6.1.5.5.7.3.1' : '1.3.6.1.5.5.7.3.2')));

interface Certificate {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly now: number;
}

function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .replaceAll(/(.{64})(?=.)/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** Signs an X.509 v3 certificate with ECDSA-SHA256 (RFC 5280 §4.1). */
function issue({ subject, issuer, publicKey, signingKey, extensions, now }: Certificate): string {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
  const body = sequence(
    encode(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    issuer,
    sequence(time(now - 3_600_000), time(now + tenYearsMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    encode(0xa3, sequence(...extensions)),
  );
  return pem('CERTIFICATE', sequence(body, algorithm, bits(sign('sha256', body, signingKey))));
}

const newKeys = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' });
const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/**
 * A fresh authority with P-256 keys, written out in DER by node:crypto alone. It takes 2 ms, instead of the 30 ms and
 * more of the certificate libraries, because a start-up has to stay below 150 ms.
 */
export function createCertificateAuthority({ now, existing }: CertificateAuthorityOptions): CertificateAuthority {
  const privateKey = existing === undefined ? newKeys().privateKey : createPrivateKey(existing.key);
  const publicKey = createPublicKey(privateKey);
  const keyId = createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  const name = distinguishedName('kctl-apiserver-ca');
  const subjectKeyId = extension('2.5.29.14', octets(keyId));
  const authorityKeyId = extension('2.5.29.35', sequence(encode(0x80, keyId)));
  const leaf = (subject: Buffer, extensions: readonly Buffer[]): KeyAndCertificate => {
    const keys = newKeys();
    const common = [basicConstraints(false), keyUsage(false), authorityKeyId];
    const cert = issue({
      subject,
      issuer: name,
      publicKey: keys.publicKey,
      signingKey: privateKey,
      extensions: [...common, ...extensions],
      now,
    });
    return { cert, key: privatePem(keys.privateKey) };
  };
  return {
    key: existing?.key ?? privatePem(privateKey),
    cert:
      existing?.cert ??
      issue({
        subject: name,
        issuer: name,
        publicKey,
        signingKey: privateKey,
        extensions: [basicConstraints(true), keyUsage(true), subjectKeyId],
        now,
      }),
    issueServer: (names) =>
      leaf(distinguishedName('kctl-apiserver'), [extendedKeyUsage('server'), alternativeNames(names)]),
    issueClient: (user, groups) => leaf(distinguishedName(user, groups), [extendedKeyUsage('client')]),
  };
}
