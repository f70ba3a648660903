import { isAscii } from 'node:buffer';
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import {
  bits,
  boolean,
  children,
  contentOf,
  integer,
  numbered,
  octets,
  oid,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from './der.js';

/** A certificate and its private key, PEM. */
export interface PemPair {
  readonly cert: string;
  readonly key: string;
}

/** The fields of a certificate. */
export interface CertificateFields {
  readonly commonName: string;
  /** Groups of a client. @default none */
  readonly organizations?: readonly string[];
  /** The authority that signs it. @default itself */
  readonly issuer?: PemPair;
  /** Begin and end of its validity, in ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** An authority signs others, which cannot sign; a server and a client are authenticated by it. */
  readonly purpose: 'authority' | 'server' | 'client';
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

const id = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;
/** Tags of general names, RFC 5280 §4.2.1.6. */
const nameTag = { dns: 2, ip: 7 } as const;

/**
 * A new P-256 key and an X.509 v3 certificate for it (RFC 5280 §4.1), signed with ECDSA and SHA-256.
 *
 * @throws TypeError when certificate or key of the issuer cannot be read
 */
export function signCertificate(fields: CertificateFields): PemPair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'der' });
  const issuer = fields.issuer === undefined ? undefined : readIssuer(fields.issuer);
  const subject = distinguishedName(fields);
  const algorithm = sequence(oid(id.ecdsaWithSha256));
  const body = sequence(
    numbered(0, integer(2)), // v3
    integer(...newSerial()),
    algorithm,
    issuer?.subject ?? subject,
    sequence(time(fields.validFrom), time(fields.validTo)),
    subject,
    publicKey,
    numbered(3, sequence(...extensionsOf(fields, publicKey, issuer?.keyId))),
  );
  const signature = sign('sha256', body, issuer?.key ?? keys.privateKey);
  return {
    cert: pemOf('CERTIFICATE', sequence(body, algorithm, bits(signature))),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensionsOf(
  { purpose, dnsNames = [], ipAddresses = [] }: CertificateFields,
  publicKey: Uint8Array,
  issuerKeyId: Uint8Array | undefined,
): Buffer[] {
  const isAuthority = purpose === 'authority';
  const names = [
    ...dnsNames.map((name) => tagged(nameTag.dns, Buffer.from(asciiName(name)))),
    ...ipAddresses.map((address) => tagged(nameTag.ip, addressBytes(address))),
  ];
  return [
    extension(id.basicConstraints, isAuthority ? sequence(boolean(true), integer(0)) : sequence(), true),
    // digitalSignature, with keyCertSign and cRLSign for an authority; then the number of unused bits.
    extension(id.keyUsage, isAuthority ? bits(Uint8Array.of(0x86), 1) : bits(Uint8Array.of(0x80), 7), true),
    isAuthority
      ? extension(id.subjectKeyIdentifier, octets(keyIdOf(publicKey)))
      : extension(id.extendedKeyUsage, sequence(oid(id[purpose]))),
    ...(names.length === 0 ? [] : [extension(id.subjectAltName, sequence(...names))]),
    ...(issuerKeyId === undefined ? [] : [extension(id.authorityKeyIdentifier, sequence(tagged(0, issuerKeyId)))]),
  ];
}

/**
 * An internationalized host name in its ASCII form, which a certificate has (RFC 5280 §7.2); others as they are.
 *
 * @throws TypeError when the name has no such form
 */
function asciiName(name: string): string {
  if (isAscii(Buffer.from(name))) return name;
  const ascii = domainToASCII(name);
  if (ascii !== '') return ascii;
  throw new TypeError(`the certificate's host name ${JSON.stringify(name)} is not valid: expected a name of DNS`);
}

function extension(name: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(name), ...(isCritical ? [boolean(true)] : []), octets(value));
}

/** A distinguished name, with groups as O, the user as CN. */
function distinguishedName({ commonName, organizations = [] }: CertificateFields): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...organizations.map((name) => attribute(id.organization, name)),
    attribute(id.commonName, commonName),
  );
}

/** The subject of the issuer's certificate, unchanged, because names are compared byte by byte, and its key. */
function readIssuer({ cert, key }: PemPair) {
  const { raw } = new X509Certificate(cert);
  // RFC 5280 §4.1: Certificate → tbsCertificate → [0] version, serial, signature, issuer, validity, subject, key, …
  const [body = raw] = children(raw);
  const [, , , , , subject, publicKey, ...others] = children(body);
  if (subject === undefined || publicKey === undefined)
    throw new TypeError('the certificate of the certificate authority is not an X.509 v3 certificate');
  return { subject, keyId: keyIdIn(others) ?? keyIdOf(publicKey), key: createPrivateKey(key) };
}

/** The subject key identifier among the last fields of a certificate. An authority may compute it in another way. */
function keyIdIn(fields: readonly Uint8Array[]): Uint8Array | undefined {
  const wanted = oid(id.subjectKeyIdentifier);
  for (const extensions of fields.filter(([tag]) => tag === 0xa3).flatMap(children))
    for (const [name, value] of children(extensions).map(children))
      if (name !== undefined && value !== undefined && wanted.equals(name)) return contentOf(contentOf(value));
  return undefined;
}

/** Positive, 16 bytes, the first of which is not zero. */
function newSerial(): Uint8Array {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes;
}

/** RFC 5280 §4.2.1.2, method 1: the SHA-1 of the key's bits. */
function keyIdOf(publicKey: Uint8Array): Uint8Array {
  const [, key = publicKey] = children(publicKey);
  // The first byte of a bit string counts its unused bits.
  return createHash('sha1').update(contentOf(key).subarray(1)).digest();
}

/** Node's pattern for IPv6 takes 5 ms to compile, and the names in every certificate do not need it. */
export function isAddress(name: string): boolean {
  return isIPv4(name) || name === '::1' || (name.includes(':') && isIPv6(name));
}

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.').map(Number));
  // The zone says on which interface of this machine the address is, and is not part of it.
  const [bare = ''] = address.split('%');
  // A URL writes an address with hexadecimal groups alone.
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const groups = (part = ''): number[] => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function pemOf(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`;
}
