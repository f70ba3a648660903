import { isAlreadyExists, isNotFound, type KubeObject } from '@kctl/apimachinery';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { defaultFaultRates, simulate, type FaultName, type Operator, type ReplicaWorld } from '../src/index.js';

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
  gone: /^gone: /,
  throttled: /^throttled: /,
  'server-error': /^server-error: /,
  unavailable: /^unavailable: /,
  'watch-dropped': /^watch-dropped/,
  'watch-hangs': /^watch-hangs/,
  'watch-flaps': /^each watch of \w+ by replica-\d ends at once for/,
  'bookmarks-missing': /^bookmarks-missing/,
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

it('has a step for each fault', () => {
  expect(Object.keys(steps)).toEqual(Object.keys(defaultFaultRates));
});
