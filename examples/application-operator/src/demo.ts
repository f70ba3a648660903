// What `npm run demo` runs: the operator on an API server, and a story in which its objects are created, changed, broken
// and deleted. `--keep` stays up for kubectl, `--cluster` uses the cluster of KUBECONFIG.
import { isNotFound, keyOf } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Namespace, Service } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { setupSignalHandler } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { Application, applicationCrd } from './application.js';
import { ApplicationV2 } from './application-v2.js';
import { convertibleCrd, webhookOn } from './conversion-webhook.js';
import { createNarrator, createStoryLogger, describe, freePort, playKubelet } from './demo-steps.js';
import { createDirectory } from './directory.js';
import { createOperator } from './operator.js';

const keep = process.argv.includes('--keep');
const onCluster = process.argv.includes('--cluster');
const namespace = 'demo';
const { step, line } = createNarrator(
  (text) => console.log(text),
  () => performance.now(),
);

async function main(signal: AbortSignal): Promise<void> {
  step('An API server');
  const webhookPort = await freePort();
  await using environment = await createEnvironment({
    server: onCluster ? 'existing' : 'embedded',
    // A cluster's API server does not reach this process: there the demo has the first version only.
    crds: [onCluster ? applicationCrd : convertibleCrd(`https://localhost:${webhookPort}`)],
  });
  const { client } = environment;
  const { major, minor } = await version();
  line(
    `${onCluster ? 'the cluster of KUBECONFIG' : 'embedded, in this process, over real HTTPS'}: ${environment.connection.server} (Kubernetes ${major}.${minor})`,
  );
  line(`CustomResourceDefinition ${keyOf(applicationCrd).name} is established`);
  await client.create(Namespace, { metadata: { name: namespace } }).catch(() => undefined);

  step('An operator');
  const directory = new Map<string, string>();
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const manager = await createOperator(
    {
      connection: environment.connection,
      logger: createStoryLogger(line),
      leaderElection: { name: 'application-operator', namespace },
      health: { port: healthPort, host: '127.0.0.1' },
      metricsServer: { port: metricsPort, host: '127.0.0.1' },
      ...(onCluster ? {} : { webhook: webhookOn(namespace, { port: webhookPort, host: '127.0.0.1' }) }),
    },
    createDirectory(directory),
  );
  const stop = new AbortController();
  const running = manager.run(AbortSignal.any([signal, stop.signal]));
  const kubelet = onCluster ? undefined : playKubelet(client, namespace, stop.signal);
  await Promise.race([manager.elected, running]);
  line('the operator leads and its caches are in sync');

  step('Three Applications are created');
  for (const [name, image] of [
    ['shop', 'shop:1.0'],
    ['blog', 'blog:2.1'],
    ['wiki', 'wiki:0.9'],
  ] as const) {
    await client.create(Application, { metadata: { namespace, name }, spec: { image, replicas: 2 } });
    line(`created application ${name}`);
  }
  await settled();
  await show();

  step('A specification is changed: shop gets version 1.1 and three replicas');
  await client.patch(
    Application,
    { namespace, name: 'shop' },
    { type: 'merge', body: { spec: { image: 'shop:1.1', replicas: 3 } } },
  );
  await eventually(async () => {
    const { spec } = await client.get(Deployment, { namespace, name: 'shop' });
    if (spec?.replicas !== 3 || spec.template.spec?.containers[0]?.image !== 'shop:1.1')
      throw new Error('the Deployment does not follow');
  });
  await settled();
  await show();

  step("A child is deleted by hand: blog's Service");
  const before = await client.get(Service, { namespace, name: 'blog' });
  await client.delete(Service, { namespace, name: 'blog' });
  const after = await eventually(async () => {
    const service = await client.get(Service, { namespace, name: 'blog' });
    if (service.metadata.uid === before.metadata.uid) throw new Error('the old Service is still there');
    return service;
  });
  line(`restored: uid ${before.metadata.uid} → ${after.metadata.uid}`);

  step('An Application is deleted: wiki');
  line(`directory: ${[...directory.keys()].sort().join(', ')}`);
  await client.delete(Application, { namespace, name: 'wiki' });
  await gone(() => client.get(Application, { namespace, name: 'wiki' }), 'the application');
  line(`its finalizer was honoured; directory: ${[...directory.keys()].sort().join(', ')}`);
  await gone(() => client.get(Deployment, { namespace, name: 'wiki' }), 'the Deployment');
  await gone(() => client.get(Service, { namespace, name: 'wiki' }), 'the Service');
  line('its Deployment and Service were collected');
  await show();

  if (!onCluster) {
    step('A second version: the API server has each object converted by the operator');
    const shop = await eventually(() => client.get(ApplicationV2, { namespace, name: 'shop' }), { timeoutMs: 15_000 });
    line(`v2 of shop: ${JSON.stringify(shop.spec)}`);
    await client.create(ApplicationV2, {
      metadata: { namespace, name: 'news' },
      spec: { image: { repository: 'registry.example/news', tag: '3.0' }, stage: 'staging' },
    });
    const news = await client.get(Application, { namespace, name: 'news' });
    line(`v1 of news: ${JSON.stringify(news.spec)}, annotations ${JSON.stringify(news.metadata.annotations)}`);
    await settled();
    await show();
  }

  step('Health, metrics and events');
  line(`GET /readyz?verbose → ${(await get(healthPort, '/readyz?verbose')).trim().split('\n').join(' | ')}`);
  const metrics = (await get(metricsPort, '/metrics')).split('\n');
  for (const name of [
    'controller_runtime_reconcile_total',
    'workqueue_adds_total',
    'leader_election_master_status',
    'rest_client_requests_total',
  ])
    for (const sample of metrics.filter((text) => text.startsWith(name) && !text.endsWith(' 0')).slice(0, 3))
      line(sample);
  const events = await eventually(async () => {
    const { items } = await client.list(Event, { namespace });
    if (!items.some(({ reason }) => reason === 'Deregistered')) throw new Error('the events have not arrived');
    return items;
  });
  for (const { reason = '', regarding, note = '' } of events.slice(0, 5))
    line(`event ${reason.padEnd(18)} ${regarding?.kind ?? ''}/${regarding?.name ?? ''}: ${note}`);

  if (keep) {
    step('It stays up (Ctrl-C ends it)');
    line(`export KUBECONFIG=${environment.kubeconfigPath}`);
    line('kubectl get applications,deployments -A');
    line(`kubectl -n ${namespace} patch application shop --type merge -p '{"spec":{"replicas":5}}'`);
    line(`kubectl -n ${namespace} delete application blog`);
    await Promise.race([running, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
  }

  step('The end');
  stop.abort();
  await Promise.all([running, kubelet]);
  line('the operator has stopped: work first, then caches, then the lease was given back');
  if (onCluster) await client.delete(Namespace, { name: namespace });

  async function version(): Promise<{ major: string; minor: string }> {
    const response = await client.transport.send({ method: 'GET', path: '/version', accept: 'application/json' });
    const chunks: Uint8Array[] = [];
    for await (const batch of response.body) chunks.push(...batch);
    return JSON.parse(Buffer.concat(chunks).toString()) as { major: string; minor: string };
  }

  /** Until every Application is reconciled at its newest generation and available. */
  async function settled(): Promise<void> {
    await eventually(
      async () => {
        for (const { metadata, status } of (await client.list(Application, { namespace })).items) {
          const available = status?.conditions?.find(({ type }) => type === 'Available');
          if (status?.observedGeneration !== metadata.generation || available?.status !== 'True')
            throw new Error(`application ${metadata.name} is not available`);
        }
      },
      { timeoutMs: onCluster ? 120_000 : 15_000 },
    );
  }

  async function show(): Promise<void> {
    for (const row of await describe(client, namespace)) line(row);
  }

  async function gone(read: () => Promise<unknown>, what: string): Promise<void> {
    await eventually(
      async () => {
        const found = await read().then(
          () => true,
          (error: unknown) => {
            if (isNotFound(error)) return false;
            throw error;
          },
        );
        if (found) throw new Error(`${what} is still there`);
      },
      { timeoutMs: 60_000 },
    );
  }
}

async function get(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  if (!response.ok) throw new Error(`GET ${path} answered ${response.status}`);
  return response.text();
}

try {
  await main(setupSignalHandler());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
