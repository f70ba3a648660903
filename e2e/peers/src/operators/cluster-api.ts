/**
 * Cluster API: the core manager and the kubeadm bootstrap provider, with their admission and conversion webhooks, over
 * an infrastructure that this program plays. The workload cluster is the management cluster itself.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSelfSignedCertificate } from '@kctl/webhook';
import { moduleFolder } from '../go-module.js';
import { buildGoProgram } from '../go-program.js';
import type { KubeObject } from './api.js';
import { at, condition, decoded, equal, isTrue } from './expect.js';
import {
  atPlace,
  convertedAt,
  installDefinitions,
  installWebhooks,
  readFolder,
  readManifests,
  type Manifest,
  type WebhookPlace,
} from './manifests.js';
import { writePair } from './serving.js';
import { freePort, type Operator, type Stage } from './stage.js';

const version = 'v1.14.2';
const module = 'sigs.k8s.io/cluster-api';
const core = '/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet';
const bootstrap = '/apis/bootstrap.cluster.x-k8s.io/v1beta2/namespaces/fleet';
const infrastructure = '/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/fleet';
const secrets = '/api/v1/namespaces/fleet/secrets';
const contract = { 'cluster.x-k8s.io/v1beta2': 'v1beta2' };

function program(name: string, folder: string): string {
  return buildGoProgram({
    name,
    module,
    version,
    command: `${module}/${folder}`,
    replaced: { [`${module}/api`]: version },
  });
}

/** A definition that takes every spec and status: what an infrastructure provider would bring. */
function infrastructureDefinition(kind: string): Manifest {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.infrastructure.cluster.x-k8s.io`, labels: contract },
    spec: {
      group: 'infrastructure.cluster.x-k8s.io',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [
        {
          name: 'v1beta2',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}

/** The provider's definitions as its kustomization has them: labelled with the contract, converted by its webhook. */
async function definitionsOf(folder: string, place: WebhookPlace): Promise<Manifest[]> {
  return (await readFolder(join(folder, 'config/crd/bases'))).map((crd) =>
    convertedAt(
      {
        ...crd,
        metadata: { ...crd.metadata, labels: { ...contract, 'cluster.x-k8s.io/v1beta1': 'v1beta1' } },
      },
      place,
    ),
  );
}

async function startProvider(stage: Stage, name: string, at: string): Promise<void> {
  const folder = join(moduleFolder(module, version), at);
  const pair = await createSelfSignedCertificate();
  const place = { port: await freePort(), caPem: pair.cert };
  const certDir = join(stage.peer.folder, name);
  await writePair(stage.peer.folder, name, pair);
  await installDefinitions(stage, await definitionsOf(folder, place));
  stage.start(
    program(name, at),
    [
      `--webhook-port=${place.port}`,
      `--webhook-cert-dir=${certDir}`,
      `--health-addr=127.0.0.1:${await freePort()}`,
      `--diagnostics-address=127.0.0.1:${await freePort()}`,
      '--insecure-diagnostics',
    ],
    { POD_NAMESPACE: 'default', POD_NAME: name, POD_UID: '00000000-0000-4000-8000-000000000000' },
  );
  const configurations = (await readManifests(join(folder, 'config/webhook/manifests.yaml'))).map((manifest) =>
    atPlace(manifest, `${name}-${manifest.metadata.name}`, place),
  );
  await installWebhooks(stage, configurations);
}

const reference = (kind: string, name: string, apiGroup = 'infrastructure.cluster.x-k8s.io'): object => ({
  apiGroup,
  kind,
  name,
});

const cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'one' },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ['192.168.0.0/16'] } },
    controlPlaneEndpoint: { host: 'one.example', port: 6443 },
    infrastructureRef: reference('FakeCluster', 'one'),
  },
};

/** The only machine of the control plane. */
const controlPlane = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: {
    name: 'one-control-plane',
    labels: { 'cluster.x-k8s.io/cluster-name': 'one', 'cluster.x-k8s.io/control-plane': '' },
  },
  spec: {
    clusterName: 'one',
    version: 'v1.36.3',
    bootstrap: { configRef: reference('KubeadmConfig', 'one-control-plane', 'bootstrap.cluster.x-k8s.io') },
    infrastructureRef: reference('FakeMachine', 'one-control-plane'),
  },
};

const workers = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { name: 'workers' },
  spec: {
    clusterName: 'one',
    replicas: 2,
    selector: { matchLabels: { pool: 'workers' } },
    template: {
      metadata: { labels: { pool: 'workers' } },
      spec: {
        clusterName: 'one',
        version: 'v1.36.3',
        bootstrap: { configRef: reference('KubeadmConfigTemplate', 'workers', 'bootstrap.cluster.x-k8s.io') },
        infrastructureRef: reference('FakeMachineTemplate', 'workers'),
      },
    },
  },
};

/** Does for a machine what a provider of infrastructure and its kubelet would do. */
async function provideMachine(stage: Stage, machine: KubeObject): Promise<void> {
  const name = String(at(machine, 'spec.infrastructureRef.name'));
  const providerID = `fake:///${name}`;
  const path = `${infrastructure}/fakemachines/${name}`;
  await stage.api.patch(path, { spec: { providerID } });
  await stage.api.patch(`${path}/status`, { status: { initialization: { provisioned: true } } });
  const nodes = '/api/v1/nodes';
  await stage.api
    .get(`${nodes}/${name}`)
    .catch(() => stage.api.create(nodes, { metadata: { name }, spec: { providerID } }));
  const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+/, '');
  const reported = (type: string, status: string): object => ({
    type,
    status,
    reason: 'Kubelet',
    message: 'as a kubelet reports',
    lastHeartbeatTime,
  });
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => reported(type, 'False'));
  await stage.api.patch(`${nodes}/${name}/status`, {
    status: { conditions: [reported('Ready', 'True'), ...pressures], nodeInfo: { kubeletVersion: 'v1.36.3' } },
  });
}

async function machinesOf(stage: Stage): Promise<readonly KubeObject[]> {
  const machines = await stage.api.list(`${core}/machines?labelSelector=pool%3Dworkers`);
  return machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function playAdmission(stage: Stage): Promise<void> {
  const { api } = stage;
  await stage.check('the webhooks of both managers answer', async () => {
    const dryRun = '?dryRun=All';
    await api.create(`${core}/clusters${dryRun}`, cluster);
    await api.create(`${bootstrap}/kubeadmconfigs${dryRun}`, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfig',
      metadata: { name: 'probe' },
      spec: { files: [{ path: '/a', content: 'b' }] },
    });
  });
  await stage.check('a MachineDeployment whose selector does not fit is refused by the webhook', async () => {
    const bad = { ...workers, spec: { ...workers.spec, selector: { matchLabels: { pool: 'other' } } } };
    const answer = await api.create(`${core}/machinedeployments`, bad).then(
      () => 'admitted',
      (error: unknown) => String(error),
    );
    isTrue(answer, answer.includes('spec.template.metadata.labels: Forbidden: must match spec.selector'));
  });
}

async function playControlPlane(stage: Stage): Promise<void> {
  const { api } = stage;
  await api.create(`${infrastructure}/fakeclusters`, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'FakeCluster',
    metadata: { name: 'one' },
    spec: { controlPlaneEndpoint: { host: 'one.example', port: 6443 } },
  });
  await api.create(`${core}/clusters`, cluster);
  await stage.check('the Cluster takes its infrastructure over', async () => {
    const owner = (await api.get(`${infrastructure}/fakeclusters/one`)).metadata.ownerReferences?.[0];
    equal('owner', owner?.kind, 'Cluster');
  });
  await api.patch(`${infrastructure}/fakeclusters/one/status`, { status: { initialization: { provisioned: true } } });
  await stage.check('the Cluster sees that its infrastructure is there', async () => {
    const object = await api.get(`${core}/clusters/one`);
    equal('provisioned', at(object, 'status.initialization.infrastructureProvisioned'), true);
    equal('phase', object.status?.['phase'], 'Provisioned');
  });
  await api.create(`${bootstrap}/kubeadmconfigs`, {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfig',
    metadata: { name: 'one-control-plane' },
    spec: {
      clusterConfiguration: { featureGates: { NodeLocalCRISocket: true } },
      initConfiguration: { nodeRegistration: { name: 'one-control-plane' } },
      preKubeadmCommands: ['echo before'],
    },
  });
  await api.create(`${infrastructure}/fakemachines`, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'FakeMachine',
    metadata: { name: 'one-control-plane' },
    spec: {},
  });
  await api.create(`${core}/machines`, controlPlane);
  await stage.check('the bootstrap provider writes the data of the first machine', async () => {
    const config = await api.get(`${bootstrap}/kubeadmconfigs/one-control-plane`);
    condition(config, 'DataSecretAvailable', 'True');
    const data = decoded(await api.get(`${secrets}/${String(config.status?.['dataSecretName'])}`), 'value');
    isTrue('kubeadm init', data.includes('kubeadm init') && data.includes('echo before'));
  });
  await stage.check('the certificates of the cluster are there', async () => {
    for (const name of ['ca', 'etcd', 'sa', 'proxy'])
      equal('type', (await api.get(`${secrets}/one-${name}`)).type, 'cluster.x-k8s.io/secret');
  });
  await stage.check('the lock for the first machine of a control plane is taken', async () => {
    const { data = {} } = await api.get('/api/v1/namespaces/fleet/configmaps/one-lock');
    isTrue('names the machine', JSON.stringify(data).includes('one-control-plane'));
  });
  // The workload cluster: this server.
  await api.create(secrets, {
    metadata: { name: 'one-kubeconfig', labels: { 'cluster.x-k8s.io/cluster-name': 'one' } },
    type: 'cluster.x-k8s.io/secret',
    data: { value: Buffer.from(await readFile(stage.peer.kubeconfigPath)).toString('base64') },
  });
  await provideMachine(stage, await api.get(`${core}/machines/one-control-plane`));
  await stage.check('the Machine finds its Node and runs', async () => {
    const machine = await api.get(`${core}/machines/one-control-plane`);
    equal('node', at(machine, 'status.nodeRef.name'), 'one-control-plane');
    equal('phase', machine.status?.['phase'], 'Running');
  });
  await stage.check('the Cluster says that its control plane is initialized', async () => {
    condition(await api.get(`${core}/clusters/one`), 'ControlPlaneInitialized', 'True');
  });
}

async function playWorkers(stage: Stage): Promise<void> {
  const { api } = stage;
  await api.create(`${bootstrap}/kubeadmconfigtemplates`, {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name: 'workers' },
    spec: { template: { spec: { joinConfiguration: { nodeRegistration: { taints: [] } } } } },
  });
  await api.create(`${infrastructure}/fakemachinetemplates`, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'FakeMachineTemplate',
    metadata: { name: 'workers' },
    spec: { template: { spec: { size: 'small' } } },
  });
  await api.create(`${core}/machinedeployments`, workers);
  await stage.check('a MachineDeployment becomes a MachineSet with machines', async () => {
    const sets = await api.list(`${core}/machinesets`);
    equal('MachineSets', sets.length, 1);
    equal('machines', (await machinesOf(stage)).length, 2);
  });
  await stage.check('machines are cloned from their template', async () => {
    for (const machine of await machinesOf(stage)) {
      const clone = await api.get(
        `${infrastructure}/fakemachines/${String(at(machine, 'spec.infrastructureRef.name'))}`,
      );
      equal('size', clone.spec?.['size'], 'small');
    }
  });
  await stage.check('workers get their data, with a token of the workload cluster', async () => {
    for (const machine of await machinesOf(stage)) {
      const name = String(at(machine, 'spec.bootstrap.dataSecretName'));
      const data = decoded(await api.get(`${secrets}/${name}`), 'value');
      isTrue('kubeadm join', data.includes('kubeadm join'));
    }
    const tokens = await api.list(
      '/api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken',
    );
    isTrue('tokens', tokens.length > 0);
  });
  for (const machine of await machinesOf(stage)) await provideMachine(stage, machine);
  await stage.check('all workers run', async () => {
    const object = await api.get(`${core}/machinedeployments/workers`);
    equal('ready', object.status?.['readyReplicas'], 2);
    equal('phase', object.status?.['phase'], 'Running');
  });
  await api.patch(`${core}/machinedeployments/workers/scale`, { spec: { replicas: 1 } });
  await stage.check('scaled down, one machine goes with all that it owned', async () => {
    equal('machines', (await api.list(`${core}/machines?labelSelector=pool%3Dworkers`)).length, 1);
    equal('infrastructure', (await api.list(`${infrastructure}/fakemachines`)).length, 2);
    equal('configurations', (await api.list(`${bootstrap}/kubeadmconfigs`)).length, 2);
  });
}

async function playVersions(stage: Stage): Promise<void> {
  const { api } = stage;
  await stage.check('an object is read in the version before by conversion', async () => {
    const old = await api.get('/apis/cluster.x-k8s.io/v1beta1/namespaces/fleet/machinedeployments/workers');
    equal(
      'infrastructureRef',
      at(old, 'spec.template.spec.infrastructureRef.apiVersion'),
      'infrastructure.cluster.x-k8s.io/v1beta2',
    );
  });
  await stage.check('a write in the version before is one in this version', async () => {
    await api.patch('/apis/cluster.x-k8s.io/v1beta1/namespaces/fleet/machinedeployments/workers', {
      spec: { minReadySeconds: 7 },
    });
    const object = await api.get(`${core}/machinedeployments/workers`);
    equal('minReadySeconds', at(object, 'spec.template.spec.minReadySeconds'), 7);
  });
}

async function playDeletion(stage: Stage): Promise<void> {
  const { api } = stage;
  await api.delete(`${core}/clusters/one`);
  await stage.check('a deleted Cluster takes everything with it', async () => {
    for (const path of [
      `${core}/clusters`,
      `${core}/machinedeployments`,
      `${core}/machines`,
      `${infrastructure}/fakemachines`,
      `${infrastructure}/fakeclusters`,
    ])
      equal(path, (await api.list(path)).length, 0);
  });
}

export const clusterApi: Operator = {
  name: 'Cluster API',
  version,
  async play(stage) {
    await stage.api.create('/api/v1/namespaces', { metadata: { name: 'fleet' } });
    const kinds = ['FakeCluster', 'FakeMachine', 'FakeMachineTemplate'];
    await installDefinitions(stage, kinds.map(infrastructureDefinition));
    await startProvider(stage, 'capi-core', 'core');
    await startProvider(stage, 'capi-kubeadm-bootstrap', 'bootstrap/kubeadm');
    await playAdmission(stage);
    await playControlPlane(stage);
    await playWorkers(stage);
    await playVersions(stage);
    await playDeletion(stage);
  },
};
