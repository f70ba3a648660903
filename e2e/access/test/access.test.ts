/**
 * The rights of every example, on one server with RBAC: those that it uses while its story is played are those that are
 * generated for it (or, of a program without a manager, those that are written here), and each is named where it is
 * missing. KCTL_TEST_SERVER=real takes a kube-apiserver.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Namespace, Node, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { accessTo, type AccessNeed } from '@kctl/rbac';
import { noopLogger, type RuntimeManager } from '@kctl/runtime';
import { createEnvironment, createOperatorAccess, eventually, type OperatorAccess } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { FakeClock } from '@kctl/wait/testing';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Application, applicationCrd } from '@kctl/example-application-operator/application.js';
import { createOperator } from '@kctl/example-application-operator/operator.js';
import { Greeting as ByHand, greetingCrd } from '@kctl/example-by-hand/greeting.js';
import { ChaosPod, chaosPodCrd } from '@kctl/example-chaos-pod/chaos-pod.js';
import { createChaos } from '@kctl/example-chaos-pod/reconciler.js';
import { CronJob } from '@kctl/example-cronjob/api/cron-job.js';
import { operator as cronJob } from '@kctl/example-cronjob/main.js';
import { createDeployer } from '@kctl/example-external-source/receiver.js';
import { run as runByHand } from '@kctl/example-from-client-node/steps/0-by-hand.js';
import { createContacts } from '@kctl/example-from-client-node/steps/5-manager.js';
import { Greeting } from 'greeting/src/api/greeting.ts';
import { operator as greeting } from 'greeting/src/main.ts';
import { joinedByAnnotation, runNodeLabeler } from '@kctl/example-node-labeler/labeler.js';
import { createServiceDiscovery } from '@kctl/example-service-discovery/discovery.js';
import { createTrainingOperator } from '@kctl/example-training-job/reconciler.js';
import { TrainingJob, trainingJobCrd } from '@kctl/example-training-job/training-job.js';
import { proveAccess } from '../src/prove-access.js';
import { startRecordingProxy } from '../src/recording-proxy.js';

const examples = join(import.meta.dirname, '..', '..', '..', 'examples');
/** Examples that send no request. */
const withoutApi: Readonly<Record<string, string>> = { 'workqueue-only': 'a queue alone: there is no cluster' };
const quiet = { healthProbeBindAddress: '0', metricsBindAddress: '0', logLevel: 'error' } as const;
const onList = 'the server has no streaming lists';

let environment: Awaited<ReturnType<typeof createEnvironment>>;
let client: typeof environment.client;
beforeAll(async () => {
  environment = await createEnvironment({
    crds: [applicationCrd, greetingCrd, chaosPodCrd, CronJob.toYaml(), Greeting.toYaml(), trainingJobCrd],
    embedded: { authorization: 'RBAC' },
  });
  client = environment.client;
  // Where it could not be made, that is the failure to see.
  return async () => await environment.stop();
}, 180_000);

/** An example with a manager: the rights are generated from what it has registered. */
async function proveManager(
  name: string,
  make: (access: OperatorAccess) => Promise<RuntimeManager>,
  play: (namespace: string) => Promise<void>,
): Promise<number> {
  const access = createOperatorAccess(environment, { name });
  const namespace = await environment.createNamespace(name);
  const manager = await make(access);
  const needs = manager.accessNeeds();
  await access.grant(needs);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  try {
    await play(namespace);
    return await proveAccess(access, needs);
  } finally {
    stop.abort();
    await running;
  }
}

/** An example that is a program of single packages: nothing is registered, and its rights are written out. */
async function proveProgram(
  { name, program = 'main' }: { readonly name: string; readonly program?: string },
  needs: (namespace: string) => readonly AccessNeed[],
  play: (namespace: string, operator: ReturnType<typeof startExample>) => Promise<void>,
): Promise<number> {
  const access = createOperatorAccess(environment, { name: program === 'main' ? name : program });
  const namespace = await environment.createNamespace(name);
  const granted = needs(namespace);
  await access.grant(granted);
  await using proxy = await startRecordingProxy(access);
  const running = startExample(join(examples, name, 'src', `${program}.ts`), {
    env: { KUBECONFIG: proxy.kubeconfigPath, POD_NAMESPACE: namespace },
  });
  try {
    await play(namespace, running);
    return await proveAccess(access, granted);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${running.output}`, { cause: error });
  } finally {
    await running.stop();
  }
}

const watches = (...kinds: Parameters<typeof accessTo>[0][]): AccessNeed[] =>
  kinds.flatMap((kind) => [accessTo(kind, ['watch']), accessTo(kind, ['list'], { when: onList })]);

/** What each example does, so that it uses everything that it may; returns how many rights it has. */
const proofs: Readonly<Record<string, () => Promise<number>>> = {
  'application-operator': () =>
    proveManager(
      'application-operator',
      ({ connection }) =>
        createOperator({ connection, logger: noopLogger, leaderElection: { name: 'application-operator' } }),
      async (namespace) => {
        const key = { namespace, name: 'shop' };
        await client.create(Application, { metadata: key, spec: { image: 'shop:1', port: 8080 } });
        await eventually(() => client.get(Service, key));
        await client.patch(Application, key, { type: 'merge', body: { spec: { image: 'shop:2', port: 9090 } } });
        await eventually(async () =>
          expect((await client.get(Service, key)).spec?.ports?.[0]).toMatchObject({ targetPort: 9090 }),
        );
        expect((await client.get(Deployment, key)).spec?.template.spec?.containers[0]?.image).toBe('shop:2');
        await client.delete(Application, key);
        await eventually(async () => expect((await client.list(Application, { namespace })).items).toEqual([]));
      },
    ),
  'by-hand': async () => {
    let count = 0;
    // The client of the one reads past its informers, that of the other from the cache.
    for (const [program, reads] of [
      ['by-hand', [accessTo(ConfigMap, ['get'])]],
      ['with-builder', []],
    ] as const)
      count += await proveProgram(
        { name: 'by-hand', program },
        () => [...watches(ByHand, ConfigMap), ...reads, accessTo(ConfigMap, ['create', 'update'])],
        async (namespace, running) => {
          const key = { namespace, name: 'world' };
          await client.create(ByHand, { metadata: key, spec: { name: 'world' } });
          await running.waitFor('world: created');
          await client.patch(ByHand, key, { type: 'merge', body: { spec: { name: 'cluster' } } });
          await running.waitFor('world: updated');
        },
      );
    return count;
  },
  'chaos-pod': () =>
    proveManager(
      'chaos-pod',
      ({ connection }) => createChaos({ connection, logger: noopLogger }, { random: () => 0, periodMs: 1_000 }),
      async (namespace) => {
        const key = { namespace, name: 'victim' };
        const template = { spec: { containers: [{ name: 'web', image: 'web:1' }] } };
        await client.create(ChaosPod, { metadata: key, spec: { template } });
        await eventually(async () => expect((await client.get(ChaosPod, key)).status?.runs ?? 0).toBeGreaterThan(1));
      },
    ),
  cronjob: async () => {
    const minuteMs = 60_000;
    const clock = new FakeClock({ now: (Math.floor(Date.now() / minuteMs) + 180.5) * minuteMs });
    return await proveManager(
      'cronjob',
      ({ connection }) => cronJob.createManager({ connection, clock, webhook: { port: -1 } }, quiet),
      async (namespace) => {
        const key = { namespace, name: 'hello' };
        const pod = { restartPolicy: 'OnFailure', containers: [{ name: 'hello', image: 'busybox:1' }] };
        const spec = { startingDeadlineSeconds: 20, schedule: '* * * * *', concurrencyPolicy: 'Replace' } as const;
        const jobTemplate = { spec: { template: { spec: pod } } };
        await client.create(CronJob, CronJob.create({ metadata: key, spec: { ...spec, jobTemplate } }));
        const untilJob = async (other?: string): Promise<string> =>
          await eventually(async () => {
            await clock.advance(minuteMs / 4);
            const { items } = await client.list(Job, { namespace });
            const found = items.find(({ metadata }) => metadata.deletionTimestamp === undefined);
            if (found === undefined || found.metadata.name === other) throw new Error('there is no new Job');
            return found.metadata.name;
          });
        await untilJob(await untilJob());
        await clock.advance(1_000); // events are sent in batches
      },
    );
  },
  'external-source': async () => {
    let port = 0;
    return await proveManager(
      'external-source',
      async ({ connection, namespace }) => {
        port = await freePort();
        return await createDeployer({ manager: { connection, logger: noopLogger }, namespace, port });
      },
      async () => {
        const push = async (commit: string): Promise<void> => {
          const body = JSON.stringify({ repository: 'shop', commit });
          const headers = { 'content-type': 'application/json' };
          const { status } = await fetch(`http://127.0.0.1:${port}/push`, { method: 'POST', headers, body });
          expect(status).toBe(202);
          const key = { namespace: 'external-source-system', name: 'shop' };
          await eventually(async () => expect((await client.get(ConfigMap, key)).data).toEqual({ commit }));
        };
        await eventually(() => push('c1'));
        await push('c2');
      },
    );
  },
  'from-client-node': async () => {
    const teams = { namespace: 'default', name: 'teams' };
    await client.create(ConfigMap, { metadata: teams, data: { tea: 'tea@example.com', rice: 'rice@example.com' } });
    const play = async (namespace: string): Promise<void> => {
      const contact = async (team: string): Promise<void> => {
        await client.patch(Namespace, { name: namespace }, { type: 'merge', body: { metadata: { labels: { team } } } });
        await eventually(async () => {
          const { data } = await client.get(ConfigMap, { namespace, name: 'contact' });
          expect(data?.['contact']).toBe(`${team}@example.com`);
        });
      };
      await contact('tea');
      await contact('rice');
    };
    const identity = { identity: 'first', log: () => undefined };
    const managed = await proveManager(
      'from-client-node',
      async (access) => {
        const proxy = await startRecordingProxy(access);
        closing.push(proxy);
        return await createContacts({ ...identity, kubeConfig: kubeConfigOf(proxy.kubeconfigPath) });
      },
      play,
    );
    await client.delete(Lease, { namespace: 'default', name: 'contacts' });

    // Before the port: what its authors had to write by hand, and to keep in step.
    const access = createOperatorAccess(environment, { name: 'before-the-port' });
    const lease = { namespaces: ['default'] };
    const needs = [
      accessTo(Namespace, ['list', 'watch']),
      accessTo(ConfigMap, ['get', 'create', 'update']),
      accessTo(Lease, ['create'], lease),
      accessTo(Lease, ['get', 'update'], { ...lease, names: ['contacts'] }),
    ];
    await access.grant(needs);
    const proxy = await startRecordingProxy(access);
    closing.push(proxy);
    const stop = new AbortController();
    const kubeConfig = kubeConfigOf(proxy.kubeconfigPath);
    const running = runByHand({ ...identity, kubeConfig, signal: stop.signal });
    running.catch(() => undefined); // awaited below
    try {
      await play(await environment.createNamespace('before-the-port'));
      return managed + (await proveAccess(access, needs));
    } finally {
      stop.abort();
      await running;
    }
  },
  greeting: () =>
    proveManager(
      'greeting',
      ({ connection }) => greeting.createManager({ connection }, quiet),
      async (namespace) => {
        const key = { namespace, name: 'hello' };
        await client.create(Greeting, { metadata: key, spec: { message: 'Hello' } });
        await eventually(async () => expect((await client.get(Greeting, key)).status?.published).toBe('Hello'));
      },
    ),
  'informer-by-hand': () =>
    proveProgram(
      { name: 'informer-by-hand' },
      () => watches(ConfigMap),
      async (namespace, running) => {
        await running.waitFor('in sync: ');
        await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
        await running.waitFor(`added ${namespace}/a`);
      },
    ),
  'informer-only': () =>
    proveProgram(
      { name: 'informer-only' },
      () => watches(ConfigMap),
      async (namespace, running) => {
        await running.waitFor('in sync: ');
        await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
        await running.waitFor(`added ${namespace}/a`);
      },
    ),
  'leader-elected-task': () =>
    proveProgram(
      { name: 'leader-elected-task' },
      (namespace) => [
        accessTo(Lease, ['create'], { namespaces: [namespace] }),
        accessTo(Lease, ['get', 'update'], { namespaces: [namespace], names: ['leader-elected-task'] }),
      ],
      async (_namespace, running) => {
        await running.waitFor(' run 3');
      },
    ),
  'node-labeler': async () => {
    const access = createOperatorAccess(environment, { name: 'node-labeler' });
    const needs = [...watches(Node), accessTo(Node, ['patch'])];
    await access.grant(needs);
    await using own = createHttpClient({ connection: access.connection });
    const stop = new AbortController();
    const lines: string[] = [];
    const running = runNodeLabeler({ client: own, signal: stop.signal, log: (line) => lines.push(line) });
    try {
      await client.create(Node, {
        metadata: { name: 'elastic', annotations: { [joinedByAnnotation]: 'autoscaling' } },
      });
      await eventually(() => expect(lines).toContain('elastic joined by autoscaling: labelled'));
      return await proveAccess(access, needs);
    } finally {
      stop.abort();
      await running;
    }
  },
  'service-discovery': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kctl-targets-'));
    const file = join(folder, 'targets.json');
    try {
      return await proveManager(
        'service-discovery',
        ({ connection }) => createServiceDiscovery({ connection, logger: noopLogger }, file),
        async () => {
          await eventually(() => expect(existsSync(file)).toBe(true));
        },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  'training-job': () =>
    proveManager(
      'training-job',
      ({ connection }) => createTrainingOperator({ connection, logger: noopLogger }),
      async (namespace) => {
        const key = { namespace, name: 'resnet' };
        const pods = async (count: number): Promise<void> =>
          await eventually(async () => {
            const { items } = await client.list(Pod, { namespace });
            expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(count);
          });
        await client.create(TrainingJob, { metadata: key, spec: { image: 'trainer:1', workers: 2 } });
        await pods(2);
        await client.patch(Service, key, { type: 'merge', body: { spec: { selector: { broken: 'yes' } } } });
        await eventually(async () =>
          expect((await client.get(Service, key)).spec?.selector).not.toHaveProperty('broken'),
        );
        await client.patch(TrainingJob, key, { type: 'merge', body: { spec: { workers: 1 } } });
        await pods(1);
      },
    ),
};

const closing: AsyncDisposable[] = [];
afterAll(async () => {
  for (const each of closing) await each[Symbol.asyncDispose]();
});

describe('the rights of an example', () => {
  it('are proved here for every example that has any', () => {
    const all = readdirSync(examples, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    );
    expect([...Object.keys(proofs), ...Object.keys(withoutApi)].sort()).toEqual(all.sort());
  });

  it.each(Object.entries(proofs))('%s', async (name, prove) => {
    const count = await prove();
    expect(count).toBeGreaterThan(0);
    console.log(`${name}: ${count} rights, each of them used, and named where it is missing`);
  });

  it('are named by the report where the server has a rule less', async () => {
    const access = createOperatorAccess(environment, { name: 'reduced' });
    const namespace = await environment.createNamespace('reduced');
    const manager = await greeting.createManager({ connection: access.connection }, quiet);
    const needs = manager.accessNeeds();
    await access.grant(needs.filter(({ resource, verbs }) => resource !== 'configmaps' || !verbs.includes('create')));
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    try {
      await client.create(Greeting, { metadata: { namespace, name: 'hello' }, spec: { message: 'Hello' } });
      await eventually(() =>
        expect(access.report()).toMatch(
          /^not granted: \w+ configmaps in namespace reduced-\S+ \(sent .*, refused each time\): add \.needs\(/m,
        ),
      );
    } finally {
      stop.abort();
      await running;
    }
  });
});

function kubeConfigOf(path: string): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(path);
  return kubeConfig;
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
