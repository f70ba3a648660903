import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificateAuthority, type CertificateAndKey, type CertificateSubject } from './certificates.js';

const authorityName = 'kctl-test-ca';
/** The first address of the service range, to which the `kubernetes` service resolves. */
const kubernetesServiceAddress = '10.0.0.1';

/** A line of kube-apiserver's `--token-auth-file`. */
export interface StaticToken {
  readonly token: string;
  readonly user: string;
  /** @default the user name */
  readonly uid?: string;
  /** @default none */
  readonly groups?: readonly string[];
}

/** The credentials of one API server. */
export interface Pki {
  readonly caPem: string;
  /** A client certificate of the group system:masters. */
  readonly admin: CertificateAndKey;
  /** The same rights as a bearer token. */
  readonly adminToken: string;
  /** Their paths as files. */
  readonly files: Readonly<
    Record<'ca' | 'servingCert' | 'servingKey' | 'serviceAccountKey' | 'serviceAccountPublicKey' | 'tokens', string>
  >;
  issueClientCertificate(subject: CertificateSubject): Promise<CertificateAndKey>;
}

interface Material {
  readonly ca: CertificateAndKey;
  readonly serving: CertificateAndKey;
  readonly admin: CertificateAndKey;
  readonly adminToken: string;
  readonly serviceAccount: { readonly privateKey: string; readonly publicKey: string };
}

/**
 * Writes the credentials into a folder, or reads those that are there, so that tokens and certificates stay valid over
 * a restart on the same data.
 */
export async function ensurePki(folder: string, tokens: readonly StaticToken[], now: number): Promise<Pki> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (name: string): string => join(folder, name);
  const stored = await readFile(path('pki.json'), 'utf8').catch(() => undefined);
  const material: Material = stored === undefined ? await createMaterial(now) : (JSON.parse(stored) as Material);
  const files = {
    ca: path('ca.crt'),
    servingCert: path('apiserver.crt'),
    servingKey: path('apiserver.key'),
    serviceAccountKey: path('sa.key'),
    serviceAccountPublicKey: path('sa.pub'),
    tokens: path('tokens.csv'),
  };
  const masters: StaticToken = { token: material.adminToken, user: 'kctl-admin', groups: ['system:masters'] };
  const save = (file: string, text: string): Promise<void> => writeFile(file, text, { mode: 0o600 });
  await Promise.all([
    save(files.ca, material.ca.certPem),
    save(files.servingCert, material.serving.certPem),
    save(files.servingKey, material.serving.keyPem),
    save(files.serviceAccountKey, material.serviceAccount.privateKey),
    save(files.serviceAccountPublicKey, material.serviceAccount.publicKey),
    save(files.tokens, [masters, ...tokens].map(tokenLine).join('')),
    ...(stored === undefined ? [save(path('pki.json'), JSON.stringify(material))] : []),
  ]);
  const authority = await createCertificateAuthority(authorityName, now, material.ca);
  return {
    caPem: material.ca.certPem,
    admin: material.admin,
    adminToken: material.adminToken,
    files,
    issueClientCertificate: (subject) => authority.issueClient(subject),
  };
}

async function createMaterial(now: number): Promise<Material> {
  const authority = await createCertificateAuthority(authorityName, now);
  const serviceNames = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((end) => `kubernetes${end}`);
  const [serving, admin] = await Promise.all([
    authority.issueServing({
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', ...serviceNames],
      ipAddresses: ['127.0.0.1', '::1', kubernetesServiceAddress],
    }),
    authority.issueClient({ commonName: 'kctl-admin', organizations: ['system:masters'] }),
  ]);
  const serviceAccount = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { ca: authority.ca, serving, admin, adminToken: randomBytes(24).toString('base64url'), serviceAccount };
}

/** Every field is quoted, as CSV requires if a value has a comma or a quote. */
function tokenLine({ token, user, uid = user, groups = [] }: StaticToken): string {
  const fields = [token, user, uid, groups.join(',')];
  return `${fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')}\n`;
}
