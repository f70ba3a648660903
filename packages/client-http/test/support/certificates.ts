import 'reflect-metadata'; // @peculiar/x509 wants it to be loaded first
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
x509.cryptoProvider.set(webcrypto);

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends KeyPair {
  /** Signs a certificate for a server at 127.0.0.1 (and `names`) or, with `clientName`, for a client. */
  issue(options?: IssueOptions): Promise<KeyPair>;
}

export interface IssueOptions {
  readonly names?: readonly string[];
  readonly clientName?: string;
  readonly notAfter?: Date;
  readonly notBefore?: Date;
}

const yesterday = (): Date => new Date(Date.now() - 86_400_000);
const tomorrow = (): Date => new Date(Date.now() + 86_400_000);

let serial = 1;

export async function createAuthority(name = 'test-ca'): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: String(serial++),
    name: `CN=${name}-${serial}`,
    notBefore: yesterday(),
    notAfter: tomorrow(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    cert: ca.toString('pem'),
    key: await pemOf(keys.privateKey),
    issue: async ({ names = [], clientName, notAfter = tomorrow(), notBefore = yesterday() } = {}) => {
      const own = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: String(serial++),
        subject: `CN=${clientName ?? 'server'}`,
        issuer: ca.subject,
        notBefore,
        notAfter,
        signingAlgorithm: algorithm,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.ExtendedKeyUsageExtension([
            clientName === undefined ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
          ]),
          ...(clientName === undefined
            ? [
                new x509.SubjectAlternativeNameExtension([
                  ...(names.length === 0 ? [{ type: 'ip' as const, value: '127.0.0.1' }] : []),
                  ...names.map((value) => ({ type: 'dns' as const, value })),
                ]),
              ]
            : []),
        ],
      });
      return { cert: certificate.toString('pem'), key: await pemOf(own.privateKey) };
    },
  };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${bytes.replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`;
}
