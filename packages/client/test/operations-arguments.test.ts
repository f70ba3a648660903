import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import * as operations from '../src/operations/index.js';

type Call = (client: never, argument: never, options?: never) => unknown;
const key = { namespace: 'shop', name: 'web' };
const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'o', controller: true };
const owned = { metadata: { ...key, uid: 'u', ownerReferences: [reference] } };
const resolver = { kindFor: async () => Deployment };
const {
  childrenOf,
  cordon,
  drain,
  evict,
  getScale,
  migrateStorage,
  ownersOf,
  pauseRollout,
  restartRollout,
  resumeRollout,
  rolloutStatus,
  scale,
  topNodes,
  topPods,
  uncordon,
  undoRollout,
  waitForRollout,
} = operations;

/** Each operation, the verbs of the client that it calls, an argument that fits and one that does not. */
const calls: readonly {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly call: Call;
  readonly fits: unknown;
  readonly wrong?: readonly [argument: unknown, message: string];
  readonly hasNoOptionNames?: true;
}[] = [
  { name: 'cordon', verbs: ['get', 'patch'], call: cordon, fits: 'n', wrong: ['', 'the node is empty'] },
  { name: 'uncordon', verbs: ['get', 'patch'], call: uncordon, fits: 'n', wrong: [5, 'the node is'] },
  { name: 'drain', verbs: ['get', 'list', 'patch'], call: drain, fits: 'n', wrong: ['', 'the node is empty'] },
  { name: 'evict', verbs: ['subResource'], call: evict, fits: key, wrong: [{ name: 'web' }, 'Pod "web": namespace'] },
  {
    name: 'waitForRollout',
    verbs: ['get'],
    call: (client, kind, options) => waitForRollout(client, kind, key, options),
    fits: Deployment,
    wrong: [ConfigMap, 'ConfigMap has no rollout'],
  },
  {
    name: 'restartRollout',
    verbs: ['patch'],
    call: (client, kind, options) => restartRollout(client, kind, key, options),
    fits: Deployment,
    wrong: [{ ...Deployment, group: 'example.com' }, 'Deployment.example.com has no rollout'],
  },
  {
    name: 'undoRollout',
    verbs: ['get', 'list', 'patch'],
    call: (client, kind, options) => undoRollout(client, kind, key, options),
    fits: Deployment,
    wrong: [{}, 'the kind is'],
  },
  { name: 'pauseRollout', verbs: ['patch'], call: pauseRollout, fits: key, hasNoOptionNames: true },
  { name: 'resumeRollout', verbs: ['patch'], call: resumeRollout, fits: key, hasNoOptionNames: true },
  {
    name: 'scale',
    verbs: ['subResource'],
    call: (client, named, options = { replicas: 1 } as never) => scale(client, Pod, named, options),
    fits: key,
  },
  {
    name: 'childrenOf',
    verbs: ['list'],
    call: (client, owner, options) => childrenOf(client, owner, [Pod], options),
    fits: owned,
    wrong: [{ metadata: { name: 'x' } }, 'the owner has no uid'],
  },
  {
    name: 'ownersOf',
    verbs: ['get'],
    call: (client, object, options = { resolver } as never) => ownersOf(client, object, options),
    fits: owned,
    wrong: [{}, 'the object is an object without metadata'],
  },
  {
    name: 'topNodes',
    verbs: ['list'],
    call: (client, _none, options) => topNodes(client, options),
    fits: undefined,
    hasNoOptionNames: true,
  },
  {
    name: 'topPods',
    verbs: ['list'],
    call: (client, _none, options) => topPods(client, options),
    fits: undefined,
    hasNoOptionNames: true,
  },
  {
    name: 'migrateStorage',
    verbs: ['get', 'list'],
    call: migrateStorage,
    fits: 'sites.example.com',
    wrong: [{}, 'the kind is not a Kind'],
  },
];

/** A client of which every verb counts, and fails. */
function counting(verbs: readonly string[]): { readonly client: never; readonly asked: string[] } {
  const asked: string[] = [];
  const entries = verbs.map((verb) => [
    verb,
    () => {
      asked.push(verb);
      throw new Error(`${verb} is not expected`);
    },
  ]);
  return { client: Object.fromEntries(entries) as never, asked };
}

describe.each(calls)('$name refuses, before anything is sent,', ({ name, verbs, call, fits, hasNoOptionNames }) => {
  it('a client that is none, or lacks a verb', async () => {
    await expect(async () => call(undefined as never, fits as never)).rejects.toThrow(`${name}: the client is`);
    for (const missing of verbs) {
      const { client, asked } = counting(verbs.filter((verb) => verb !== missing));
      await expect(async () => call(client, fits as never)).rejects.toThrow(`${name}: the client has no ${missing}`);
      expect(asked).toEqual([]);
    }
  });

  it('options that are none, or unknown', async () => {
    const { client, asked } = counting(verbs);
    await expect(async () => call(client, fits as never, 5 as never)).rejects.toThrow(
      ['drain', 'migrateStorage'].includes(name) ? `${name}: expected options` : `${name}: the options are 5`,
    );
    if (hasNoOptionNames === undefined)
      await expect(async () => call(client, fits as never, { signall: 1 } as never)).rejects.toThrow(/"signall"/);
    expect(asked).toEqual([]);
  });
});

it.each(calls.flatMap(({ wrong, ...rest }) => (wrong === undefined ? [] : [{ ...rest, wrong }])))(
  '$name refuses an argument that does not fit before anything is sent',
  async ({ name, verbs, call, wrong: [argument, message] }) => {
    const { client, asked } = counting(verbs);
    await expect(async () => call(client, argument as never)).rejects.toThrow(message);
    await expect(async () => call(client, argument as never)).rejects.toThrow(name);
    expect(asked).toEqual([]);
  },
);

it.each([
  ['the kind', ConfigMap, owned, 'rolloutStatus: ConfigMap has no rollout'],
  ['the object', Deployment, undefined, 'rolloutStatus: the object is'],
])('rolloutStatus names %s that does not fit', (_what, kind, object, message) => {
  expect(() => rolloutStatus(kind as never, object as never)).toThrow(message);
});

it.each([
  [() => getScale({} as never, Pod, key), 'getScale: the client has no subResource'],
  [() => scale({ subResource: () => ({}) } as never, Pod, key, { replicas: -1 }), 'scale: replicas -1 is not valid'],
  [() => scale({ subResource: () => ({}) } as never, Pod, key, { replicas: 1.5 }), 'scale: replicas 1.5 is not valid'],
  [() => scale({ subResource: () => ({}) } as never, Pod, key, {} as never), 'scale: replicas'],
  [() => restartRollout({ patch: 1 } as never, Deployment, key), 'restartRollout: the client has no patch'],
  [
    () => restartRollout(counting(['patch']).client, Deployment, key, { clock: 5 as never }),
    'restartRollout: clock is',
  ],
  [() => childrenOf(counting(['list']).client, {} as never, [Pod]), 'childrenOf: the owner is'],
  [() => childrenOf(counting(['list']).client, owned, Pod as never), 'childrenOf: kinds is'],
  [() => childrenOf(counting(['list']).client, owned, [{} as never]), 'childrenOf: the kind is'],
  [() => ownersOf(counting(['get']).client, owned, {} as never), 'ownersOf: options.resolver is'],
  [() => ownersOf(counting(['get']).client, owned, { resolver: {} as never }), 'ownersOf: options.resolver is'],
  [
    () => migrateStorage(counting(['get', 'list']).client, 'x', { concurrency: 0 }),
    'migrateStorage: concurrency 0 is not valid',
  ],
  [
    () => migrateStorage(counting(['get', 'list']).client, 'x', { concurrency: 1.5 }),
    'migrateStorage: concurrency 1.5 is not valid',
  ],
  [() => migrateStorage(counting(['get', 'list']).client, 'x', { settleMs: -1 }), 'migrateStorage: settleMs -1 is'],
] as readonly (readonly [() => Promise<unknown>, string])[])('%o fails with %s', async (call, message) => {
  await expect(call()).rejects.toThrow(message);
});

it.each([
  [5, 'totalUsage: usages is'],
  [[5], 'totalUsage: the options are'],
])('totalUsage refuses %j', (usages, message) => {
  expect(() => operations.totalUsage(usages as never)).toThrow(message);
});
