/**
 * The credentials of one API server, as files in one folder. A folder that has them already is read, so that
 * tokens, certificates and service account tokens stay valid over a restart on the same data.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificateAuthority, issueClientCertificate, issueServingCertificate } from './certificates.mjs';

const CA_NAME = 'kctl-test-ca';
/** The first address of the service range: what the `kubernetes` service resolves to. */
const KUBERNETES_SERVICE_IP = '10.0.0.1';

/**
 * @typedef {import('./certificates.mjs').CertificateAndKey} CertificateAndKey
 * @typedef {import('./certificates.mjs').Subject} Subject
 *
 * @typedef {object} StaticToken a line of `--token-auth-file`
 * @property {string} token
 * @property {string} user
 * @property {string} [uid] default: the user name
 * @property {string[]} [groups]
 *
 * @typedef {object} Pki
 * @property {string} caPem
 * @property {CertificateAndKey} admin a client certificate of the group system:masters
 * @property {string} adminToken the same rights as a bearer token
 * @property {Record<'ca' | 'servingCert' | 'servingKey' | 'serviceAccountKey' | 'serviceAccountPublicKey' | 'tokens', string>} files
 * @property {(subject: Subject) => CertificateAndKey} issueClientCertificate
 */

/**
 * @param {string} folder created when missing
 * @param {StaticToken[]} tokens further tokens besides the admin's
 * @returns {Promise<Pki>}
 */
export async function ensurePki(folder, tokens) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (/** @type {string} */ name) => join(folder, name);
  const stored = await readFile(path('pki.json'), 'utf8').catch(() => undefined);
  const material = stored === undefined ? createMaterial() : JSON.parse(stored);
  const { ca, serving, admin, adminToken, serviceAccount } = material;
  const files = {
    ca: path('ca.crt'),
    servingCert: path('apiserver.crt'),
    servingKey: path('apiserver.key'),
    serviceAccountKey: path('sa.key'),
    serviceAccountPublicKey: path('sa.pub'),
    tokens: path('tokens.csv'),
  };
  const masters = { token: adminToken, user: 'kctl-admin', groups: ['system:masters'] };
  const save = (/** @type {string} */ file, /** @type {string} */ text) => writeFile(file, text, { mode: 0o600 });
  await Promise.all([
    save(files.ca, ca.certPem),
    save(files.servingCert, serving.certPem),
    save(files.servingKey, serving.keyPem),
    save(files.serviceAccountKey, serviceAccount.privateKey),
    save(files.serviceAccountPublicKey, serviceAccount.publicKey),
    save(files.tokens, [masters, ...tokens].map(tokenLine).join('')),
    ...(stored === undefined ? [save(path('pki.json'), JSON.stringify(material))] : []),
  ]);
  return {
    caPem: ca.certPem,
    admin,
    adminToken,
    files,
    issueClientCertificate: (subject) => issueClientCertificate(ca, CA_NAME, subject),
  };
}

function createMaterial() {
  const ca = createCertificateAuthority(CA_NAME);
  return {
    ca,
    serving: issueServingCertificate(ca, CA_NAME, {
      commonName: 'kube-apiserver',
      dnsNames: [
        'localhost',
        ...['', '.default', '.default.svc', '.default.svc.cluster.local'].map((end) => `kubernetes${end}`),
      ],
      ipAddresses: ['127.0.0.1', '::1', KUBERNETES_SERVICE_IP],
    }),
    admin: issueClientCertificate(ca, CA_NAME, { commonName: 'kctl-admin', organizations: ['system:masters'] }),
    adminToken: randomBytes(24).toString('base64url'),
    serviceAccount: generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }),
  };
}

/**
 * Every field is quoted, as CSV wants it where a value has a comma or a quote.
 *
 * @param {StaticToken} token
 */
function tokenLine({ token, user, uid = user, groups = [] }) {
  const fields = [token, user, uid, groups.join(',')];
  return `${fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')}\n`;
}
