/**
 * X.509 certificates (ECDSA P-256) written as DER by hand: enough for a test cluster, without openssl.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * @typedef {object} CertificateAndKey
 * @property {string} certPem
 * @property {string} keyPem
 *
 * @typedef {object} Subject
 * @property {string} commonName the user name, in a client certificate
 * @property {string[]} [organizations] the groups, in a client certificate
 */

const YEAR_MS = 365 * 24 * 3_600_000;
/** Tolerates clocks of containers and virtual machines that run behind. */
const BACKDATE_MS = 3_600_000;

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};

/** Bits of KeyUsage as the BIT STRING's unused-bit count and its one byte. */
const KEY_USAGE = { certSignAndCrlSign: [1, 0x06], digitalSignature: [7, 0x80] };

/**
 * A self-signed certificate authority.
 *
 * @param {string} commonName
 * @returns {CertificateAndKey}
 */
export function createCertificateAuthority(commonName) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = distinguishedName({ commonName });
  const extensions = [
    extension(OID.basicConstraints, sequence(tlv(0x01, Buffer.from([0xff]))), true),
    extension(OID.keyUsage, tlv(0x03, Buffer.from(KEY_USAGE.certSignAndCrlSign)), true),
    extension(OID.subjectKeyIdentifier, tlv(0x04, keyIdentifier(publicKey))),
  ];
  return { certPem: certificate(subject, subject, publicKey, privateKey, extensions), keyPem: keyToPem(privateKey) };
}

/**
 * A serving certificate.
 *
 * @param {CertificateAndKey} ca made by {@link createCertificateAuthority} with `caName` as its name
 * @param {string} caName
 * @param {{ commonName: string, dnsNames: string[], ipAddresses: string[] }} server
 * @returns {CertificateAndKey}
 */
export function issueServingCertificate(ca, caName, { commonName, dnsNames, ipAddresses }) {
  const names = [
    ...dnsNames.map((name) => tlv(0x82, Buffer.from(name, 'ascii'))),
    ...ipAddresses.map((address) => tlv(0x87, ipBytes(address))),
  ];
  return issue(ca, caName, { commonName }, OID.serverAuth, [extension(OID.subjectAltName, sequence(...names))]);
}

/**
 * A client certificate.
 *
 * @param {CertificateAndKey} ca made by {@link createCertificateAuthority} with `caName` as its name
 * @param {string} caName
 * @param {Subject} subject
 * @returns {CertificateAndKey}
 */
export function issueClientCertificate(ca, caName, subject) {
  return issue(ca, caName, subject, OID.clientAuth, []);
}

/**
 * @param {CertificateAndKey} ca
 * @param {string} caName
 * @param {Subject} subject
 * @param {string} purpose an extended key usage
 * @param {Buffer[]} extraExtensions
 * @returns {CertificateAndKey}
 */
function issue(ca, caName, subject, purpose, extraExtensions) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const caKey = createPrivateKey(ca.keyPem);
  const extensions = [
    extension(OID.keyUsage, tlv(0x03, Buffer.from(KEY_USAGE.digitalSignature)), true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(purpose))),
    extension(OID.authorityKeyIdentifier, sequence(tlv(0x80, keyIdentifier(createPublicKey(caKey))))),
    ...extraExtensions,
  ];
  const issuer = distinguishedName({ commonName: caName });
  const certPem = certificate(issuer, distinguishedName(subject), publicKey, caKey, extensions);
  return { certPem, keyPem: keyToPem(privateKey) };
}

/**
 * RFC 5280, §4.1.
 *
 * @param {Buffer} issuer
 * @param {Buffer} subject
 * @param {import('node:crypto').KeyObject} publicKey
 * @param {import('node:crypto').KeyObject} signingKey
 * @param {Buffer[]} extensions
 */
function certificate(issuer, subject, publicKey, signingKey, extensions) {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial.writeUInt8(0x40 | (serial.readUInt8() & 0x3f)); // positive, and no leading zero byte
  const now = Date.now();
  const toBeSigned = sequence(
    tlv(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    algorithm,
    issuer,
    sequence(utcTime(now - BACKDATE_MS), utcTime(now + 10 * YEAR_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, signingKey)]);
  const base64 = sequence(toBeSigned, algorithm, tlv(0x03, signature)).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** @param {Subject} subject */
function distinguishedName({ commonName, organizations = [] }) {
  const attribute = (/** @type {string} */ oid, /** @type {string} */ value) =>
    tlv(0x31, sequence(objectIdentifier(oid), tlv(0x0c, Buffer.from(value, 'utf8'))));
  return sequence(
    ...organizations.map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, commonName),
  );
}

/**
 * @param {string} oid
 * @param {Buffer} value
 * @param {boolean} [critical]
 */
function extension(oid, value, critical = false) {
  const flag = critical ? [tlv(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectIdentifier(oid), ...flag, tlv(0x04, value));
}

/**
 * SHA-1 of the public key's bits (RFC 5280, §4.2.1.2): the last 65 bytes of a P-256 SubjectPublicKeyInfo.
 *
 * @param {import('node:crypto').KeyObject} publicKey
 */
function keyIdentifier(publicKey) {
  const bits = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha1').update(bits).digest();
}

/** @param {import('node:crypto').KeyObject} key */
function keyToPem(key) {
  return /** @type {string} */ (key.export({ type: 'pkcs8', format: 'pem' }));
}

/** @param {string} address an IPv4 address, or `::1` */
function ipBytes(address) {
  if (address === '::1') return Buffer.from([...Array(15).fill(0), 1]);
  return Buffer.from(address.split('.').map(Number));
}

/** @param {number} time in milliseconds, before 2050 */
function utcTime(time) {
  const digits = new Date(time).toISOString().replace(/\D/g, '').slice(2, 14);
  return tlv(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

/** @param {string} dotted */
function objectIdentifier(dotted) {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let value = part >>> 7; value > 0; value >>>= 7) groups.unshift((value & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** @param {Buffer} bytes big-endian, positive */
function integer(bytes) {
  return tlv(0x02, bytes);
}

/** @param {...Buffer} parts */
function sequence(...parts) {
  return tlv(0x30, Buffer.concat(parts));
}

/**
 * @param {number} tag
 * @param {Buffer} content
 */
function tlv(tag, content) {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}
