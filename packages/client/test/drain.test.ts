import { StatusError } from '@kctl/apimachinery';
import type { Kind, StatusReason } from '@kctl/apimachinery';
import { DeadlineExceededError } from '@kctl/wait/internal';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { Client } from '../src/index.js';
import { cordon, drain, DrainRefusedError, isDrainRefused, uncordon } from '../src/operations/index.js';
import type { DrainOptions, DrainProgress } from '../src/operations/index.js';

const failure = (code: number, reason: StatusReason, cause?: string): StatusError =>
  new StatusError({
    code,
    reason,
    message: `refused with ${reason}`,
    ...(cause === undefined ? {} : { details: { causes: [{ reason: cause }] } }),
  });
const notFound = failure(404, 'NotFound');

interface PodObject {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec?: object;
  readonly status?: object;
}
const pod = (name: string, more: object = {}, metadata: object = {}): PodObject => ({
  metadata: { namespace: 'shop', name, uid: name, ...metadata },
  ...more,
});
const ended = (name: string): PodObject => pod(name, { status: { phase: 'Succeeded' } });
const controlledBy = (kind: string, name: string): object => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'o', controller: true }],
});

/** A node with pods. Evictions and later reads of a pod answer as given, one after the other; by default it is gone. */
function nodeWith({
  pods = [],
  evictions = {},
  reads = {},
  daemonSet = notFound,
  isCordoned = true,
}: {
  readonly pods?: readonly PodObject[];
  readonly evictions?: Readonly<Record<string, readonly unknown[]>>;
  readonly reads?: Readonly<Record<string, readonly unknown[]>>;
  readonly daemonSet?: unknown;
  readonly isCordoned?: boolean;
} = {}) {
  const calls: unknown[][] = [];
  const left = {
    ...evictions,
    ...Object.fromEntries(Object.entries(reads).map(([name, all]) => [`read ${name}`, all])),
  };
  const next = (name: string, otherwise: unknown): unknown => {
    const [answer = otherwise, ...rest] = left[name] ?? [];
    left[name] = rest;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const stub = {
    get: async (kind: Kind, key: { name: string }, { live }: { live?: boolean } = {}) => {
      calls.push(['get', kind.kind, key, live]);
      if (kind.kind === 'Node')
        return { metadata: { name: key.name }, spec: isCordoned ? { unschedulable: true } : {} };
      if (kind.kind === 'Pod') return next(`read ${key.name}`, notFound);
      if (daemonSet instanceof Error) throw daemonSet;
      return daemonSet;
    },
    list: async (_kind: Kind, { signal: _signal, ...options }: { signal?: AbortSignal }) => {
      calls.push(['list', options]);
      return { metadata: {}, items: pods };
    },
    patch: async (_kind: Kind, { name }: { name: string }, patch: unknown, options: object = {}) => {
      calls.push(['patch', name, patch, Object.keys(options)]);
      return {};
    },
    subResource: (_kind: Kind, subResource: string) => ({
      create: async (key: { name: string }, body: unknown) => {
        calls.push([subResource, key, body]);
        next(key.name, {});
      },
    }),
  };
  const evicted = (): unknown[] =>
    calls.filter(([verb]) => verb === 'eviction').map(([, key]) => (key as PodObject['metadata']).name);
  return { client: stub as unknown as Client, calls, evicted };
}

const refusing = () =>
  nodeWith({
    pods: [ended('budget'), ended('forbidden')],
    evictions: { budget: Array(99).fill(failure(429, 'TooManyRequests')), forbidden: [failure(403, 'Forbidden')] },
  });

it('ends the attempts at all pods when the eviction of one fails', async () => {
  const clock = new FakeClock();
  const { client, evicted } = refusing();
  await expect(drain(client, 'node-1', { clock })).rejects.toThrow('refused with Forbidden');
  await settle();
  await clock.advance(60_000);
  expect(evicted()).toEqual(['budget', 'forbidden']);
  expect(clock.pendingTimers).toBe(0);
});

it.each([
  [{ gracePeriodSeconds: 0.5 }, 'drain: gracePeriodSeconds 0.5 is not valid'],
  [{ gracePeriodSeconds: -1 }, 'drain: gracePeriodSeconds -1 is not valid'],
  [{ timeoutMs: -1 }, 'drain: timeoutMs -1 is not valid'],
  [{ retryMs: -1 }, 'drain: retryMs -1 is not valid'],
  [{ pollMs: Number.NaN }, 'drain: pollMs NaN is not valid'],
])('sends nothing with %j, which is not valid', async (options, message) => {
  const { client, calls } = refusing();
  await expect(drain(client, 'node-1', options)).rejects.toThrow(message);
  expect(calls).toEqual([]);
});

it.each([true, false])('reports that it has cordoned the node unless it was before: %s', async (isCordoned) => {
  const progress: unknown[] = [];
  const { client } = nodeWith({ isCordoned });
  await drain(client, 'node-1', { onProgress: (step) => progress.push(step) });
  expect(progress).toEqual(isCordoned ? [] : [{ type: 'cordoned', node: 'node-1' }]);
});

it.each([
  ['the pods that a selector chooses', { podSelector: 'app=shop' }, { labelSelector: 'app=shop' }],
  ['all pods of the node without a selector', {}, {}],
])('asks for %s', async (_what, options, expected) => {
  const { client, calls } = nodeWith();
  await drain(client, 'node-1', { ...options, clock: new FakeClock() });
  const wanted = ['list', { live: true, fieldSelector: { 'spec.nodeName': 'node-1' }, ...expected }];
  const lists = calls.filter(([verb]) => verb === 'list');
  expect(lists).toEqual([wanted, wanted]);
});

const agent = { metadata: { name: 'agent' } };
const emptyDir = {
  spec: {
    volumes: [
      { name: 'config', configMap: {} },
      { name: 'scratch', emptyDir: {} },
    ],
  },
};
const web = controlledBy('ReplicaSet', 'web');
const ofAgent = controlledBy('DaemonSet', 'agent');
const failed = { status: { phase: 'Failed' } };
const running = { status: { phase: 'Running' } };
const lost = 'has emptyDir data, which are lost: set deleteEmptyDirData to evict it';
const alone = 'has no controller that makes it anew: set force to evict it';
const daemon = 'managed by a DaemonSet: set ignoreDaemonSets to leave it';
const orphan = 'its DaemonSet does not exist: set force to evict it';
type Allowed = Pick<DrainOptions, 'force' | 'deleteEmptyDirData' | 'ignoreDaemonSets'> & {
  readonly daemonSet?: object;
};
it.each([
  ['a pod with a controller', pod('p', {}, web), {}, 'gone'],
  ['a running pod with a controller', pod('p', running, web), {}, 'gone'],
  ['a pod without volumes', pod('p', { spec: {} }, web), {}, 'gone'],
  [
    'a pod with volumes that are kept',
    pod('p', { spec: { volumes: [{ name: 'c', configMap: {} }] } }, web),
    {},
    'gone',
  ],
  ['a pod with an emptyDir of null', pod('p', { spec: { volumes: [{ name: 'c', emptyDir: null }] } }, web), {}, 'gone'],
  [
    'a mirror pod',
    pod('p', failed, { annotations: { 'kubernetes.io/config.mirror': '' } }),
    { force: true },
    'mirror pod',
  ],
  ['an emptyDir', pod('p', emptyDir, web), { force: true }, lost],
  ['an emptyDir that may go', pod('p', emptyDir, web), { deleteEmptyDirData: true }, 'gone'],
  ['an emptyDir of a pod that succeeded', pod('p', { ...emptyDir, ...ended('p') }), {}, 'gone'],
  ['an emptyDir of a pod that failed', pod('p', { ...emptyDir, ...failed }), {}, 'gone'],
  ['a pod without controller', pod('p', running), {}, alone],
  ['a pod without controller, forced', pod('p'), { force: true }, 'gone'],
  ['a pod of a DaemonSet', pod('p', running, ofAgent), { daemonSet: agent, force: true }, daemon],
  [
    'a pod of a DaemonSet, ignored',
    pod('p', {}, ofAgent),
    { daemonSet: agent, ignoreDaemonSets: true },
    'managed by a DaemonSet',
  ],
  ['a pod of a DaemonSet that has ended', pod('p', failed, ofAgent), { daemonSet: agent }, 'gone'],
  ['a pod of a DaemonSet that is gone', pod('p', {}, ofAgent), { ignoreDaemonSets: true }, orphan],
  ['a pod of a DaemonSet that is gone, forced', pod('p', {}, ofAgent), { force: true }, 'gone'],
  ['the same with an emptyDir', pod('p', emptyDir, ofAgent), { force: true }, lost],
] as readonly (readonly [string, PodObject, Allowed, string])[])(
  'decides as kubectl does about %s',
  async (_what, one, { daemonSet, ...options }, expected) => {
    const { client, calls, evicted } = nodeWith({ pods: [one], ...(daemonSet && { daemonSet }), isCordoned: false });
    const outcome: unknown = await drain(client, 'node-1', options).catch((error: unknown) => error);
    const base = { namespace: 'shop', name: 'p' };
    if (outcome instanceof DrainRefusedError) {
      expect(outcome.pods).toEqual([{ ...base, reason: expected }]);
      expect(outcome.message).toBe(`node node-1 cannot be drained: shop/p (${expected})`);
      expect(calls.filter(([verb]) => verb !== 'list' && verb !== 'get')).toEqual([]);
      return;
    }
    expect(outcome).toEqual([
      expected === 'gone' ? { ...base, outcome: 'gone' } : { ...base, outcome: 'skipped', reason: expected },
    ]);
    expect(evicted()).toEqual(expected === 'gone' ? ['p'] : []);
    expect(calls.filter(([verb]) => verb === 'get').every(([, , , live]) => live)).toBe(true);
  },
);

it('rejects when it cannot find out whether the DaemonSet of a pod exists', async () => {
  const { client, evicted } = nodeWith({ pods: [pod('p', {}, ofAgent)], daemonSet: failure(500, 'InternalError') });
  await expect(drain(client, 'node-1', { force: true, ignoreDaemonSets: true })).rejects.toThrow('InternalError');
  expect(evicted()).toEqual([]);
});

it('names every pod that it refuses', async () => {
  const { client } = nodeWith({ pods: [pod('a'), pod('b', {}, web), pod('c', emptyDir, web)] });
  await expect(drain(client, 'node-1')).rejects.toThrow(
    `node node-1 cannot be drained: shop/a (${alone}), shop/c (${lost})`,
  );
});

it('is recognized when it refuses, also by another copy of the package', () => {
  const foreign = Object.assign(new Error('refused'), { code: 'KCTL_DRAIN_REFUSED' });
  expect([new DrainRefusedError('n', []), foreign].map(isDrainRefused)).toEqual([true, true]);
  const others = [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'E' }),
    { code: 'KCTL_DRAIN_REFUSED' },
    undefined,
  ];
  expect(others.map(isDrainRefused)).toEqual([false, false, false, false]);
});

describe('an eviction', () => {
  it('is for the pod that was read, with the grace period', async () => {
    const { client, calls } = nodeWith({ pods: [ended('p')] });
    await drain(client, 'node-1', { gracePeriodSeconds: 3 });
    await drain(client, 'node-1');
    const body = (more: object) => ({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace: 'shop', name: 'p' },
      deleteOptions: { preconditions: { uid: 'p' }, ...more },
    });
    const key = { namespace: 'shop', name: 'p' };
    expect(calls.filter(([verb]) => verb === 'eviction')).toEqual([
      ['eviction', key, body({ gracePeriodSeconds: 3 })],
      ['eviction', key, body({})],
    ]);
  });

  it.each([
    ['the pod is gone', notFound],
    ['it is another pod by now', failure(409, 'Conflict')],
  ])('counts as done if %s, without a further look', async (_what, answer) => {
    const { client, calls } = nodeWith({ pods: [ended('p')], evictions: { p: [answer] } });
    expect(await drain(client, 'node-1')).toMatchObject([{ outcome: 'gone' }]);
    expect(calls.filter(([verb, kind]) => verb === 'get' && kind === 'Pod')).toEqual([]);
  });

  it('is not needed in a namespace that ends, whose pod is waited for', async () => {
    const { client, calls } = nodeWith({
      pods: [ended('p')],
      evictions: { p: [failure(403, 'Forbidden', 'NamespaceTerminating')] },
    });
    expect(await drain(client, 'node-1')).toMatchObject([{ outcome: 'gone' }]);
    expect(calls.at(-1)).toEqual(['get', 'Pod', { namespace: 'shop', name: 'p' }, true]);
  });

  it.each([
    ['forbidden', failure(403, 'Forbidden', 'Other')],
    ['refused for a reason that mentions a namespace', failure(422, 'Invalid', 'NamespaceTerminating')],
    ['a conflict by code alone', failure(409, 'AlreadyExists')],
    ['broken off', new Error('refused with a reset')],
  ])('that is %s ends the drain', async (_what, answer) => {
    const { client } = nodeWith({ pods: [ended('p')], evictions: { p: [answer] } });
    await expect(drain(client, 'node-1')).rejects.toBe(answer);
  });

  it.each([
    [{}, 5_000, 1_000],
    [{ retryMs: 70, pollMs: 20 }, 70, 20],
  ])(
    'is tried again while a budget refuses, and its pod looked at until it is gone, with %j',
    async (options, retry, poll) => {
      const clock = new FakeClock();
      const refused = failure(429, 'TooManyRequests');
      const { client, calls, evicted } = nodeWith({
        pods: [ended('p')],
        evictions: { p: [refused, refused] },
        reads: { p: [ended('p'), pod('p', {}, { uid: 'later' })] },
        isCordoned: false,
      });
      const progress: DrainProgress[] = [];
      const draining = drain(client, 'node-1', { clock, onProgress: (step) => progress.push(step), ...options });
      const key = { namespace: 'shop', name: 'p' };
      const looks = () => calls.filter(([verb, kind]) => verb === 'get' && kind === 'Pod').length;
      await clock.advance(retry - 1);
      expect(evicted()).toHaveLength(1);
      await clock.advance(1);
      expect(evicted()).toHaveLength(2);
      await clock.advance(retry);
      expect([evicted().length, looks()]).toEqual([3, 1]);
      await clock.advance(poll - 1);
      expect(looks()).toBe(1);
      await clock.advance(1);
      expect(await draining).toEqual([{ ...key, outcome: 'gone' }]);
      expect(progress).toEqual([
        { type: 'cordoned', node: 'node-1' },
        { type: 'evicting', ...key },
        { type: 'refused', ...key, error: refused },
        { type: 'refused', ...key, error: refused },
        { type: 'gone', ...key },
      ]);
    },
  );

  it('ends the drain if its pod cannot be read', async () => {
    const { client } = nodeWith({ pods: [ended('p')], reads: { p: [failure(500, 'InternalError')] } });
    await expect(drain(client, 'node-1')).rejects.toThrow('refused with InternalError');
  });
});

it('gives up after its timeout, and with its signal', async () => {
  const clock = new FakeClock();
  const stuck = () => nodeWith({ pods: [ended('p')], reads: { p: Array(99).fill(ended('p')) } }).client;
  const late = drain(stuck(), 'node-1', { clock, timeoutMs: 1_500 });
  const outcome = expect(late).rejects.toThrow('node node-1 was not drained within 1500 ms; it stays cordoned');
  await clock.advance(1_500);
  await outcome;
  await expect(late).rejects.toBeInstanceOf(DeadlineExceededError);
  const controller = new AbortController();
  const aborted = drain(stuck(), 'node-1', { clock, signal: controller.signal });
  await settle();
  controller.abort(new Error('no longer wanted'));
  await expect(aborted).rejects.toThrow('no longer wanted');
  expect(clock.pendingTimers).toBe(0);
});

it.each([
  ['cordon', cordon, true, {}, false],
  ['cordon', cordon, false, {}, true],
  ['cordon', cordon, false, { dryRun: true }, true],
  ['uncordon', uncordon, true, {}, null],
  ['uncordon', uncordon, false, {}, false],
] as const)('%s of a node that is cordoned: %s', async (...[, call, isCordoned, options, written]) => {
  const { client, calls } = nodeWith({ isCordoned });
  expect(await call(client, 'node-1', options)).toBe(written !== false);
  const body = { spec: { unschedulable: written } };
  expect(calls).toEqual([
    ['get', 'Node', { name: 'node-1' }, true],
    ...(written === false ? [] : [['patch', 'node-1', { type: 'merge', body }, Object.keys(options)]]),
  ]);
});
