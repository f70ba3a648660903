import { isAlreadyExists, isNotFound, type KubeObject } from '@kctl/apimachinery';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import {
  defaultFaultRates,
  simulate,
  type FaultName,
  type Operator,
  type ReplicaWorld,
  type SimulateOptions,
} from '../src/index.js';

const namespace = 'shop';
const resources: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  } as KubeObject,
];

/** Reads, writes and watches a little of everything that a fault can strike. */
async function turn(client: HttpClient, signal: AbortSignal, name: string): Promise<void> {
  const owner = await client.get(Namespace, { name: namespace }, { signal });
  const { apiVersion = 'v1', kind = 'Namespace' } = owner;
  const metadata = {
    namespace,
    name: 'child',
    ownerReferences: [{ apiVersion, kind, name: namespace, uid: owner.metadata.uid, controller: true }],
  };
  await client.create(ConfigMap, { metadata }, { signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.patch(ConfigMap, metadata, { type: 'merge', body: { data: { name } } }, { signal });
  const { resourceVersion } = (await client.list(ConfigMap, { namespace, signal })).metadata;
  await client.list(ConfigMap, { namespace, resourceVersion: '0', signal });
  const spec = { holderIdentity: name, leaseDurationSeconds: 15 };
  await client
    .patch(Lease, { namespace: 'default', name }, { type: 'merge', body: { spec } }, { signal })
    .catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await client.create(Lease, { metadata: { namespace: 'default', name }, spec }, { signal });
    });
  const watch = await client.watch(ConfigMap, {
    namespace,
    signal,
    timeoutSeconds: 20,
    allowWatchBookmarks: true,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
  for await (const _event of watch);
}

const operator = ({ connection, clock, name }: ReplicaWorld): Operator => ({
  webhooks: new Map([['/validate', { handle: () => Promise.resolve({ body: {} }) }]]),
  run: async (signal) => {
    await using client = createHttpClient({ connection, clock, requestTimeoutMs: 10_000 });
    while (!signal.aborted) {
      await turn(client, signal, name).catch(() => undefined);
      await untilAborted(sleep(1000, { clock, signal }), signal);
    }
  },
});

/** What a step of each fault says. */
const steps: Readonly<Record<FaultName, RegExp>> = {
  'cut-before': /^cut-before: /,
  'cut-after': /^cut-after: /,
  delay: /^delay: /,
  'half-open': /^half-open: /,
  truncated: /^truncated: /,
  conflict: /^conflict: /,
  gone: /^gone: |^each version of configmaps that replica-\d names has expired for/,
  throttled: /^throttled: /,
  'server-error': /^server-error: /,
  unavailable: /^unavailable: /,
  'watch-dropped': /^watch-dropped/,
  'watch-hangs': /^watch-hangs/,
  'watch-flaps': /^each watch of \w+ by replica-\d ends at once for/,
  'bookmarks-missing': /^bookmarks-missing/,
  'bookmarks-late': /^bookmarks-late/,
  'stale-list': /^stale-list: /,
  compaction: /^history is compacted/,
  partition: /is cut off for/,
  'server-restart': /^the server is down for [\d.]+ s$/,
  'server-restart-cold': /^the server is down for [\d.]+ s and loses its watch cache/,
  crash: /^crashes by itself/,
  'crash-after-write': /^crash-after-write/,
  restart: /is stopped/,
  stall: /event loop of replica-\d stands still/,
  'clock-jump': /^the wall clock of replica-\d jumps by -?[\d.]+ s/,
  'lease-edit': /^another client sets the holder of the Lease/,
  'crd-recreated': /^another client deletes the CustomResourceDefinition and creates it again/,
  'namespace-deleted': /^another client deletes the namespace and creates it again/,
  'permission-revoked':
    /^replica-\d may not (?:use|write) (?:configmaps|namespaces|leases|customresourcedefinitions) for/,
  'webhook-down': /^no webhook can be reached for/,
  'other-edits': /another client edits/,
  'other-deletes': /another client deletes/,
};

it.each(Object.entries(steps) as [FaultName, RegExp][])('makes %s happen', async (fault, step) => {
  const seen = new Set<string>();
  const { faults } = await simulate({
    operator,
    replicas: 2,
    resources,
    seeds: 1,
    simulatedMinutes: 3,
    quietMs: 0,
    compare: false,
    verifyReplay: false,
    faults: { [fault]: 400 },
    only: ['uncaught-error'],
    workload: async ({ client }) =>
      void (await client.create(ConfigMap, { metadata: { namespace, name: 'of-a-user' } })),
    onStep: ({ who, what }) => {
      if (who === 'fault' || what.startsWith('crashes')) seen.add(what);
    },
  });
  expect([...seen].join('\n')).toMatch(new RegExp(step.source, 'm'));
  expect(faults).toBeGreaterThan(0);
});

const short = {
  resources,
  seeds: 1,
  quietMs: 0,
  compare: false,
  verifyReplay: false,
  only: ['uncaught-error'],
} satisfies Partial<SimulateOptions>;

/** When each bookmark of a watch that begins with the initial events arrives, in ms since the one before. */
async function bookmarkGaps(faults: SimulateOptions['faults']): Promise<{ first: number[]; later: number[] }> {
  const [first, later]: [number[], number[]] = [[], []];
  await simulate({
    ...short,
    replicas: 1,
    simulatedMinutes: 30,
    ...(faults === undefined ? {} : { faults }),
    // Elsewhere: a bookmark comes where there is a version to tell.
    workload: async ({ client, sleep: pause }) => {
      for (let count = 0; count < 80; count++) {
        await client.create(ConfigMap, { metadata: { namespace: 'default', name: `elsewhere-${count}` } });
        await pause(20_000);
      }
    },
    operator: ({ connection, clock }) => ({
      run: async (signal) => {
        await using client = createHttpClient({ connection, clock });
        while (!signal.aborted) {
          let before = clock.monotonicNow();
          let gaps = first;
          const watch = await client.watch(ConfigMap, {
            namespace,
            signal,
            timeoutSeconds: 280,
            allowWatchBookmarks: true,
            sendInitialEvents: true,
            resourceVersionMatch: 'NotOlderThan',
          });
          for await (const { type } of watch) {
            if (type !== 'BOOKMARK') continue;
            gaps.push(clock.monotonicNow() - before);
            before = clock.monotonicNow();
            gaps = later;
          }
        }
      },
    }),
  });
  return { first, later };
}

it('makes bookmarks late, that after the initial events too', async () => {
  const usual = await bookmarkGaps('none');
  expect([Math.max(...usual.first) < 1000, Math.max(...usual.later) < 62_000]).toEqual([true, true]);
  const { first, later } = await bookmarkGaps({ 'bookmarks-late': 60 });
  expect(Math.max(...first)).toBeGreaterThan(1000);
  expect(Math.max(...later)).toBeGreaterThan(65_000);
});

it('lets a request of one connection overtake an earlier one of another by a delay', async () => {
  const committed: string[] = [];
  const count = 200;
  await simulate({
    ...short,
    replicas: 1,
    simulatedMinutes: 20,
    faults: { delay: 120 },
    operator: ({ connection, clock }) => ({
      run: async (signal) => {
        await using client = createHttpClient({ connection, clock });
        for (let turn = 0; turn < count; turn++) {
          for (const which of ['first', 'second'])
            void client
              .create(ConfigMap, { metadata: { namespace: 'default', name: `${which}-${turn}` } })
              .catch(() => undefined);
          await untilAborted(sleep(5_000, { clock, signal }), signal);
        }
        await untilAborted(new Promise(() => undefined), signal);
      },
    }),
    onStep: ({ who, what, object }) => {
      if (who === 'server' && what.startsWith('ADDED')) committed.push(object);
    },
  });
  const place = (name: string): number => committed.indexOf(`configmaps default/${name}`);
  const overtakes = Array.from({ length: count }, (_, turn) => place(`first-${turn}`) > place(`second-${turn}`));
  // Without a delay their latencies differ by about a millisecond; with one, a later turn may be between them.
  expect(overtakes.filter(Boolean).length).toBeGreaterThan(0);
  const late = Array.from({ length: count - 1 }, (_, turn) => place(`first-${turn}`) > place(`first-${turn + 1}`));
  expect(late).toContain(true);
});

it('has each version of a resource expired for a while, and not what names none', async () => {
  let isExpired = false;
  const refused: string[] = [];
  await simulate({
    ...short,
    replicas: 1,
    simulatedMinutes: 20,
    faults: { gone: 60 },
    operator: ({ connection, clock }) => ({
      run: async (signal) => {
        await using client = createHttpClient({ connection, clock });
        const follow = async (): Promise<void> => {
          const watch = await client.watch(ConfigMap, { namespace: 'default', signal, timeoutSeconds: 30 });
          for await (const _event of watch);
        };
        void (async () => {
          while (!signal.aborted) await follow().catch(() => undefined);
        })();
        while (!signal.aborted) {
          for (const resourceVersion of ['', '0', '1'])
            await client
              .list(ConfigMap, { namespace: 'default', ...(resourceVersion === '' ? {} : { resourceVersion }) })
              .catch(() => refused.push(resourceVersion));
          await untilAborted(sleep(1000, { clock, signal }), signal);
        }
      },
    }),
    onStep: ({ what }) => {
      if (/has expired for/.test(what)) isExpired = true;
    },
  });
  expect(isExpired).toBe(true);
  const times = (version: string): number => refused.filter((each) => each === version).length;
  expect(times('')).toBe(0);
  expect(times('1')).toBeGreaterThan(times('0') + 5);
});

it('has a step for each fault', () => {
  expect(Object.keys(steps)).toEqual(Object.keys(defaultFaultRates));
});
