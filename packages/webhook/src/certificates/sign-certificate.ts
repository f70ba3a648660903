import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import {
  BitString,
  Boolean as Asn1Boolean,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as Asn1Set,
  Utf8String,
  UTCTime,
  type BaseBlock,
} from 'asn1js';

/** A certificate and its private key, PEM. */
export interface PemPair {
  readonly cert: string;
  readonly key: string;
}

/** The fields of a certificate. */
export interface CertificateFields {
  readonly commonName: string;
  /** Who signs it. @default itself */
  readonly issuer?: PemPair;
  /** Begin and end of its validity, in ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** For authorities. It signs others, which cannot sign. @default false */
  readonly isAuthority?: boolean;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

const oid = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;
/** The tag class of fields that a structure of RFC 5280 numbers. */
const contextSpecific = 3;
/** Tags of general names, RFC 5280 §4.2.1.6. */
const nameTag = { dns: 2, ip: 7 } as const;
/**
 * Bits of the key usage, and the number of unused bits at the end. digitalSignature, with keyCertSign for an authority.
 */
const usage = { serving: [0x80, 7], authority: [0x84, 2] } as const;

/**
 * A new P-256 key and an X.509 v3 certificate for it (RFC 5280 §4.1).
 *
 * @throws TypeError when certificate or key of the issuer cannot be read
 */
export function signCertificate(fields: CertificateFields): PemPair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = parse(keys.publicKey.export({ type: 'spki', format: 'der' }));
  const issuer = fields.issuer === undefined ? undefined : readIssuer(fields.issuer);
  const subject = sequence(new Asn1Set({ value: [sequence(id(oid.commonName), utf8(fields.commonName))] }));
  const algorithm = (): Sequence => sequence(id(oid.ecdsaWithSha256));
  const body = sequence(
    numbered(0, new Integer({ value: 2 })), // v3
    new Integer({ valueHex: newSerial() }),
    algorithm(),
    issuer?.subject ?? subject,
    sequence(time(fields.validFrom), time(fields.validTo)),
    subject,
    publicKey,
    numbered(3, sequence(...extensionsOf(fields, publicKey, issuer?.publicKey))),
  );
  const signature = sign('sha256', new Uint8Array(body.toBER()), issuer?.key ?? keys.privateKey);
  const certificate = sequence(body, algorithm(), new BitString({ valueHex: bufferOf(signature) }));
  return {
    cert: pemOf('CERTIFICATE', certificate.toBER()),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensionsOf(
  { isAuthority = false, dnsNames = [], ipAddresses = [] }: CertificateFields,
  publicKey: BaseBlock,
  issuerKey: BaseBlock | undefined,
): Sequence[] {
  const [bits, unusedBits] = isAuthority ? usage.authority : usage.serving;
  const constraints = isAuthority ? [new Asn1Boolean({ value: true }), new Integer({ value: 0 })] : [];
  const names = [
    ...dnsNames.map((name) => tagged(nameTag.dns, bufferOf(Buffer.from(name)))),
    ...ipAddresses.map((address) => tagged(nameTag.ip, addressBytes(address))),
  ];
  return [
    extension(oid.basicConstraints, sequence(...constraints), true),
    extension(oid.keyUsage, new BitString({ valueHex: Uint8Array.of(bits).buffer, unusedBits }), true),
    isAuthority
      ? extension(oid.subjectKeyIdentifier, new OctetString({ valueHex: keyIdOf(publicKey) }))
      : extension(oid.extendedKeyUsage, sequence(id(oid.serverAuth))),
    ...(names.length === 0 ? [] : [extension(oid.subjectAltName, sequence(...names))]),
    ...(issuerKey === undefined
      ? []
      : [extension(oid.authorityKeyIdentifier, sequence(tagged(0, keyIdOf(issuerKey))))]),
  ];
}

function extension(name: string, value: BaseBlock, isCritical = false): Sequence {
  const content = new OctetString({ valueHex: value.toBER() });
  return isCritical ? sequence(id(name), new Asn1Boolean({ value: true }), content) : sequence(id(name), content);
}

/** The subject of the issuer's certificate, unchanged, because names are compared byte by byte. */
function readIssuer({ cert, key }: PemPair) {
  const { raw } = new X509Certificate(cert);
  // RFC 5280 §4.1: Certificate → tbsCertificate → [0] version, serial, signature, issuer, validity, subject, key.
  const fields = children(children(parse(raw))[0]);
  const [subject, publicKey] = [fields[5], fields[6]];
  if (subject === undefined || publicKey === undefined)
    throw new TypeError('the certificate of the certificate authority is not an X.509 v3 certificate');
  return { subject, publicKey, key: createPrivateKey(key) };
}

function children(block: BaseBlock | undefined): BaseBlock[] {
  return block instanceof Constructed ? block.valueBlock.value : [];
}

function parse(der: Uint8Array): BaseBlock {
  const { offset, result } = fromBER(bufferOf(der));
  if (offset < 0) throw new TypeError(`not DER: ${result.error}`);
  return result;
}

function sequence(...value: BaseBlock[]): Sequence {
  return new Sequence({ value });
}

function id(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value });
}

function utf8(value: string): Utf8String {
  return new Utf8String({ value });
}

/** `[n] EXPLICIT`. */
function numbered(tagNumber: number, content: BaseBlock): Constructed {
  return new Constructed({ idBlock: { tagClass: contextSpecific, tagNumber }, value: [content] });
}

/** `[n] IMPLICIT` of bytes. */
function tagged(tagNumber: number, valueHex: ArrayBuffer): Primitive {
  return new Primitive({ idBlock: { tagClass: contextSpecific, tagNumber }, valueHex });
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime after it; whole seconds. */
function time(ms: number): UTCTime | GeneralizedTime {
  const valueDate = new Date(Math.floor(ms / 1000) * 1000);
  return valueDate.getUTCFullYear() < 2050 ? new UTCTime({ valueDate }) : new GeneralizedTime({ valueDate });
}

/** Positive, 16 bytes, the first of which is not zero. */
function newSerial(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes.buffer;
}

/** RFC 5280 §4.2.1.2, method 1: the SHA-1 of the key's bits. */
function keyIdOf(publicKey: BaseBlock): ArrayBuffer {
  const bits = children(publicKey)[1];
  if (!(bits instanceof BitString)) throw new TypeError('the public key is not a SubjectPublicKeyInfo');
  return bufferOf(createHash('sha1').update(bits.valueBlock.valueHexView).digest());
}

function addressBytes(address: string): ArrayBuffer {
  if (!isIPv6(address)) return Uint8Array.from(address.split('.').map(Number)).buffer;
  // A URL writes an address with hexadecimal groups alone.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text = ''): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff])).buffer;
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function pemOf(label: string, der: ArrayBuffer): string {
  const base64 = Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`;
}
