/** cert-manager: issuers, certificates with their secrets, renewal, its webhook, and its CA injector. */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSelfSignedCertificate } from '@kctl/webhook';
import { runSync } from '../command.js';
import { goEnvironment, moduleFolder, peersCache } from '../go-module.js';
import { condition, decoded, equal, isTrue } from './expect.js';
import {
  atPlace,
  installDefinitions,
  installWebhooks,
  readFolder,
  type Manifest,
  type WebhookPlace,
} from './manifests.js';
import { writePair } from './serving.js';
import { freePort, type Operator, type Stage } from './stage.js';

const version = 'v1.21.2';
const module = 'github.com/cert-manager/cert-manager';
const group = 'cert-manager.io/v1';
const issued = '/apis/cert-manager.io/v1/namespaces/certs';
const secrets = '/api/v1/namespaces/certs/secrets';

/** Upstream's commands are modules that are not published: cert-manager/main.go puts its packages together instead. */
function program(): string {
  const path = join(peersCache, `cert-manager-${version}`, 'cert-manager');
  if (!existsSync(path)) {
    process.stderr.write(`building cert-manager ${version}\n`);
    const folder = fileURLToPath(new URL('../../cert-manager', import.meta.url));
    runSync('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', path, '.'], { cwd: folder, env: goEnvironment });
  }
  return path;
}

/** The webhooks of upstream's chart: everything of its groups is validated, requests are stamped with their user. */
function webhooks(place: WebhookPlace): readonly Manifest[] {
  const webhook = (name: string, path: string, rule: object): object => ({
    name,
    rules: [rule],
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
    timeoutSeconds: 30,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    clientConfig: { service: { path } },
  });
  const configuration = (kind: string, hook: object): Manifest =>
    atPlace(
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind,
        metadata: { name: 'cert-manager-webhook' },
        webhooks: [hook],
      } as unknown as Manifest,
      'cert-manager-webhook',
      place,
    );
  return [
    configuration(
      'MutatingWebhookConfiguration',
      webhook('webhook.cert-manager.io', '/mutate', {
        apiGroups: ['cert-manager.io'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['certificaterequests'],
      }),
    ),
    configuration(
      'ValidatingWebhookConfiguration',
      webhook('webhook.cert-manager.io', '/validate', {
        apiGroups: ['cert-manager.io', 'acme.cert-manager.io'],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['*/*'],
      }),
    ),
  ];
}

const certificate = (name: string, spec: object): object => ({
  apiVersion: group,
  kind: 'Certificate',
  metadata: { name },
  spec: { secretName: name, privateKey: { algorithm: 'ECDSA', size: 256 }, ...spec },
});

async function playIssuers({ api, check }: Pick<Stage, 'api' | 'check'>): Promise<void> {
  // The first writes wait for the webhook to listen.
  await check('an Issuer is admitted and becomes ready', async () => {
    const path = `${issued}/issuers/self`;
    const object = { apiVersion: group, kind: 'Issuer', metadata: { name: 'self' }, spec: { selfSigned: {} } };
    const found = await api.get(path).catch(() => api.create(`${issued}/issuers`, object));
    condition(found, 'Ready', 'True');
  });
  await check('the webhook refuses an Issuer of two sorts', async () => {
    const bad = {
      apiVersion: group,
      kind: 'Issuer',
      metadata: { name: 'bad' },
      spec: { selfSigned: {}, ca: { secretName: 'x' } },
    };
    const answer = await api.create(`${issued}/issuers`, bad).then(
      () => 'admitted',
      (error: unknown) => String(error),
    );
    isTrue(answer, answer.includes('may not specify more than one issuer type'));
  });
  await api.create(
    `${issued}/certificates`,
    certificate('authority', { isCA: true, commonName: 'authority', issuerRef: { name: 'self' } }),
  );
  await check('a self-signed authority is issued', async () => {
    condition(await api.get(`${issued}/certificates/authority`), 'Ready', 'True');
    const x509 = new X509Certificate(decoded(await api.get(`${secrets}/authority`), 'tls.crt'));
    isTrue('is an authority', x509.ca && x509.verify(x509.publicKey));
  });
  const issuer = {
    apiVersion: group,
    kind: 'Issuer',
    metadata: { name: 'ca' },
    spec: { ca: { secretName: 'authority' } },
  };
  await api.create(`${issued}/issuers`, issuer);
  await check('an Issuer with that authority is ready', async () => {
    condition(await api.get(`${issued}/issuers/ca`), 'Ready', 'True');
  });
}

async function playCertificates({ api, check }: Pick<Stage, 'api' | 'check'>): Promise<void> {
  const leaf = certificate('leaf', { dnsNames: ['a.example'], issuerRef: { name: 'ca' }, duration: '2h' });
  await api.create(`${issued}/certificates`, leaf);
  const certificateOf = async (): Promise<X509Certificate> =>
    new X509Certificate(decoded(await api.get(`${secrets}/leaf`), 'tls.crt'));
  await check('a leaf is issued by the authority', async () => {
    condition(await api.get(`${issued}/certificates/leaf`), 'Ready', 'True');
    const authority = new X509Certificate(decoded(await api.get(`${secrets}/authority`), 'tls.crt'));
    const x509 = await certificateOf();
    isTrue('issued by the authority', x509.verify(authority.publicKey));
    equal('names', x509.subjectAltName, 'DNS:a.example');
    equal('type', (await api.get(`${secrets}/leaf`)).type, 'kubernetes.io/tls');
  });
  await check('its request is approved, ready, and stamped by the webhook', async () => {
    const [request] = (await api.list(`${issued}/certificaterequests`)).filter(({ metadata }) =>
      metadata.name.startsWith('leaf-'),
    );
    if (request === undefined) throw new Error('no CertificateRequest of leaf');
    condition(request, 'Approved', 'True');
    condition(request, 'Ready', 'True');
    isTrue('has a username', typeof request.spec?.['username'] === 'string' && request.spec['username'] !== '');
  });
  const first = await certificateOf();
  await api.delete(`${secrets}/leaf`);
  await check('a deleted secret is issued anew', async () => {
    isTrue('another serial number', (await certificateOf()).serialNumber !== first.serialNumber);
  });
  await api.patch(`${issued}/certificates/leaf`, { spec: { dnsNames: ['a.example', 'b.example'] } });
  await check('a changed certificate is issued anew', async () => {
    equal('names', (await certificateOf()).subjectAltName, 'DNS:a.example, DNS:b.example');
  });
  await api.create('/apis/networking.k8s.io/v1/namespaces/certs/ingresses', {
    metadata: { name: 'web', annotations: { 'cert-manager.io/issuer': 'ca' } },
    spec: {
      tls: [{ hosts: ['web.example'], secretName: 'web-tls' }],
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
    },
  });
  await check('an annotated Ingress gets its certificate', async () => {
    const object = await api.get(`${issued}/certificates/web-tls`);
    condition(object, 'Ready', 'True');
    equal('owner', object.metadata.ownerReferences?.[0]?.kind, 'Ingress');
  });
}

async function playInjection({ api, check }: Pick<Stage, 'api' | 'check'>): Promise<void> {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  await api.create(path, {
    metadata: { name: 'injected', annotations: { 'cert-manager.io/inject-ca-from': 'certs/leaf' } },
    webhooks: [
      {
        name: 'injected.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/none' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: [{ apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }],
      },
    ],
  });
  await check('the injector writes the authority into a webhook configuration', async () => {
    const { webhooks: found = [] } = await api.get(`${path}/injected`);
    const authority = (await api.get(`${secrets}/leaf`)).data?.['ca.crt'];
    const config = found[0]?.['clientConfig'] as { readonly caBundle?: string } | undefined;
    equal('caBundle', config?.caBundle, authority);
  });
}

export const certManager: Operator = {
  name: 'cert-manager',
  version,
  async play(stage) {
    const binary = program();
    const { api } = stage;
    const check = stage.check.bind(stage);
    await installDefinitions(stage, await readFolder(join(moduleFolder(module, version), 'deploy/crds')));
    for (const name of ['cert-manager', 'certs']) await api.create('/api/v1/namespaces', { metadata: { name } });
    const pair = await createSelfSignedCertificate();
    const [certFile, keyFile] = await writePair(stage.peer.folder, 'cert-manager', pair);
    const port = await freePort();
    await installWebhooks(stage, webhooks({ port, caPem: pair.cert }));
    const kubeconfig = `-kubeconfig=${stage.peer.kubeconfigPath}`;
    stage.start(binary, [
      ...['-mode=webhook', kubeconfig, `-port=${port}`],
      ...[`-tls-cert-file=${certFile}`, `-tls-private-key-file=${keyFile}`],
    ]);
    stage.start(binary, ['-mode=controller', kubeconfig]);
    stage.start(binary, ['-mode=cainjector', kubeconfig]);
    await playIssuers({ api, check });
    await playCertificates({ api, check });
    await playInjection({ api, check });
  },
};
