/** prometheus-operator: its objects become StatefulSets, Secrets, ConfigMaps and Services, and follow every change. */
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { moduleFolder } from '../go-module.js';
import { buildGoProgram } from '../go-program.js';
import type { KubeObject } from './api.js';
import { at, condition, equal, isTrue } from './expect.js';
import { installDefinitions, readFolder } from './manifests.js';
import { freePort, type Operator, type Stage } from './stage.js';

const version = 'v0.85.0';
const module = 'github.com/prometheus-operator/prometheus-operator';
const monitoring = '/apis/monitoring.coreos.com/v1/namespaces/metrics';
const core = '/api/v1/namespaces/metrics';
const apps = '/apis/apps/v1/namespaces/metrics';

function program(): string {
  const part = (name: string): string => `${module}/pkg/${name}`;
  return buildGoProgram({
    name: 'prometheus-operator',
    module,
    version,
    command: `${module}/cmd/operator`,
    replaced: { [part('apis/monitoring')]: version, [part('client')]: version },
  });
}

const group = 'monitoring.coreos.com/v1';

const prometheus = {
  apiVersion: group,
  kind: 'Prometheus',
  metadata: { name: 'main' },
  spec: {
    replicas: 2,
    serviceAccountName: 'default',
    serviceMonitorSelector: { matchLabels: { team: 'a' } },
    ruleSelector: {},
    resources: { requests: { memory: '400Mi' } },
    retention: '10d',
  },
};

const serviceMonitor = {
  apiVersion: group,
  kind: 'ServiceMonitor',
  metadata: { name: 'web', labels: { team: 'a' } },
  spec: { selector: { matchLabels: { app: 'web' } }, endpoints: [{ port: 'http', interval: '30s' }] },
};

const rule = (expression: string): object => ({
  apiVersion: group,
  kind: 'PrometheusRule',
  metadata: { name: 'rules' },
  spec: { groups: [{ name: 'g', rules: [{ alert: 'Down', expr: expression, for: '5m' }] }] },
});

const alertmanager = {
  apiVersion: group,
  kind: 'Alertmanager',
  metadata: { name: 'main' },
  spec: { replicas: 1, alertmanagerConfigSelector: {} },
};

const alertmanagerConfig = {
  apiVersion: 'monitoring.coreos.com/v1alpha1',
  kind: 'AlertmanagerConfig',
  metadata: { name: 'routes' },
  spec: {
    route: { receiver: 'hook', groupBy: ['job'] },
    receivers: [{ name: 'hook', webhookConfigs: [{ url: 'http://hook.example' }] }],
  },
};

/** The configuration that Prometheus would load. */
function configOf(secret: KubeObject): string {
  return gunzipSync(Buffer.from(secret.data?.['prometheus.yaml.gz'] ?? '', 'base64')).toString('utf8');
}

async function playWorkloads({ api, check }: Pick<Stage, 'api' | 'check'>): Promise<void> {
  await check('a Prometheus becomes a StatefulSet', async () => {
    const set = await api.get(`${apps}/statefulsets/prometheus-main`);
    equal('replicas', set.spec?.['replicas'], 2);
    equal('owner', set.metadata.ownerReferences?.[0]?.kind, 'Prometheus');
    equal('service', set.spec?.['serviceName'], 'prometheus-operated');
  });
  await check('the governing Service is there', async () => {
    equal('clusterIP', (await api.get(`${core}/services/prometheus-operated`)).spec?.['clusterIP'], 'None');
  });
  await check('the configuration scrapes what the ServiceMonitor says', async () => {
    isTrue('job', configOf(await api.get(`${core}/secrets/prometheus-main`)).includes('serviceMonitor/metrics/web/0'));
  });
  await check('rules are in a ConfigMap', async () => {
    const { data = {} } = await api.get(`${core}/configmaps/prometheus-main-rulefiles-0`);
    isTrue('expression', JSON.stringify(data).includes('up == 0'));
  });
  await check('the status says what is missing: pods', async () => {
    const object = await api.get(`${monitoring}/prometheuses/main`);
    condition(object, 'Reconciled', 'True');
    condition(object, 'Available', 'False');
  });
  await check('an Alertmanager becomes a StatefulSet with its configuration', async () => {
    equal('replicas', (await api.get(`${apps}/statefulsets/alertmanager-main`)).spec?.['replicas'], 1);
    const { data = {} } = await api.get(`${core}/secrets/alertmanager-main-generated`);
    const config = gunzipSync(Buffer.from(data['alertmanager.yaml.gz'] ?? '', 'base64')).toString('utf8');
    isTrue('receiver of the AlertmanagerConfig', config.includes('metrics/routes/hook'));
  });
}

async function playChanges({ api, check }: Pick<Stage, 'api' | 'check'>): Promise<void> {
  await api.patch(`${monitoring}/prometheuses/main`, { spec: { replicas: 3, retention: '20d' } });
  await check('a change of the Prometheus reaches the StatefulSet', async () => {
    const set = await api.get(`${apps}/statefulsets/prometheus-main`);
    equal('replicas', set.spec?.['replicas'], 3);
    isTrue('retention', JSON.stringify(at(set, 'spec.template.spec.containers')).includes('retention.time=20d'));
  });
  await api.patch(`${monitoring}/prometheusrules/rules`, rule('up == 1'));
  await check('a change of a rule reaches the ConfigMap', async () => {
    const { data = {} } = await api.get(`${core}/configmaps/prometheus-main-rulefiles-0`);
    isTrue('expression', JSON.stringify(data).includes('up == 1'));
  });
  await api.delete(`${monitoring}/servicemonitors/web`);
  await check('a deleted ServiceMonitor leaves the configuration', async () => {
    isTrue('job', !configOf(await api.get(`${core}/secrets/prometheus-main`)).includes('serviceMonitor/metrics/web/0'));
  });
  // The operator reverts what others change in the spec that it makes.
  await api.patch(`${apps}/statefulsets/prometheus-main`, { spec: { replicas: 9 } });
  await check('a change of the StatefulSet is taken back', async () => {
    equal('replicas', (await api.get(`${apps}/statefulsets/prometheus-main`)).spec?.['replicas'], 3);
  });
  await api.delete(`${monitoring}/prometheuses/main`);
  await check('what a Prometheus owned is collected', async () => {
    const sets = await api.list(`${apps}/statefulsets`);
    equal(
      'StatefulSets',
      sets.map(({ metadata }) => metadata.name),
      ['alertmanager-main'],
    );
  });
}

export const prometheusOperator: Operator = {
  name: 'prometheus-operator',
  version,
  async play(stage) {
    const binary = program();
    const { api } = stage;
    const check = stage.check.bind(stage);
    const definitions = await readFolder(join(moduleFolder(module, version), 'example/prometheus-operator-crd'));
    await installDefinitions(stage, definitions);
    await api.create('/api/v1/namespaces', { metadata: { name: 'metrics' } });
    stage.start(binary, [`-web.listen-address=127.0.0.1:${await freePort()}`]);
    await api.create(`${monitoring}/prometheuses`, prometheus);
    await api.create(`${monitoring}/servicemonitors`, serviceMonitor);
    await api.create(`${monitoring}/prometheusrules`, rule('up == 0'));
    await api.create(`${monitoring}/alertmanagers`, alertmanager);
    await api.create('/apis/monitoring.coreos.com/v1alpha1/namespaces/metrics/alertmanagerconfigs', alertmanagerConfig);
    await playWorkloads({ api, check });
    await playChanges({ api, check });
  },
};
