import { StatusError } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { Deployment, ReplicaSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import type { Client } from '../src/index.js';
import {
  childrenOf,
  drain,
  evict,
  getScale,
  migrateStorage,
  ownersOf,
  scale,
  waitForRollout,
} from '../src/operations/index.js';

const key = { namespace: 'shop', name: 'web' };
const unasked = (): Promise<never> => Promise.reject(new Error('not asked for'));
const nothing = { get: unasked, list: unasked, patch: unasked } as unknown as Client;
const onProgress = true as never;

it.each([
  ['drain', () => drain(nothing, 'node-1', { onProgress })],
  ['migrateStorage', () => migrateStorage(nothing, 'sites.example.com', { onProgress })],
  ['waitForRollout', () => waitForRollout(nothing, Deployment, key, { onProgress })],
])('%s refuses a hook that is none before anything is asked', async (what, call) => {
  await expect(call()).rejects.toThrow(`${what}: onProgress is a value of type boolean: expected a function`);
});

it('ownersOf ends with its signal, also while a kind is looked for', async () => {
  const controller = new AbortController();
  const site = { apiVersion: 'example.com/v1', kind: 'Site', name: 's', uid: 's', controller: true };
  const resolver = { kindFor: () => new Promise<never>(() => undefined) };
  const owned = { metadata: { ownerReferences: [site] } };
  const owners = ownersOf(nothing, owned, { resolver, signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  await expect(owners).rejects.toThrow('no longer wanted');
});

it('migrateStorage gives up on a conflict that stays', async () => {
  let writes = 0;
  const definition = {
    metadata: { name: 'sites.example.com', uid: 'u', generation: 1, resourceVersion: '7' },
    spec: {
      group: 'example.com',
      names: { kind: 'Site', plural: 'sites' },
      scope: 'Cluster',
      versions: [{ name: 'v2', served: true, storage: true }],
    },
    status: { storedVersions: ['v1', 'v2'] },
  };
  const client = {
    get: async () => definition,
    list: async () => ({ metadata: {}, items: [] }),
    status: () => ({
      update: async () => {
        if (++writes > 50) throw new Error('written again and again');
        throw new StatusError({ code: 409, reason: 'Conflict', message: 'denied by a webhook' });
      },
    }),
  } as unknown as Client;
  await expect(migrateStorage(client, 'sites.example.com', { settleMs: 0 })).rejects.toThrow('denied by a webhook');
  expect(writes).toBe(10);
});

describe('evict and scale', () => {
  const calls: unknown[][] = [];
  const { signal } = new AbortController();
  const answering = (answer: object): Client => {
    calls.length = 0;
    const verb =
      (name: string) =>
      async (...given: unknown[]) => {
        calls.push([name, ...given]);
        return answer;
      };
    const verbs = { get: verb('get'), patch: verb('patch'), create: verb('create') };
    return { subResource: (kind: Kind, name: string) => (calls.push([kind.kind, name]), verbs) } as unknown as Client;
  };

  it.each([
    ['by its key', key, {}, {}, {}],
    ['that was read', { metadata: { ...key, uid: 'u' } }, {}, { preconditions: { uid: 'u' } }, {}],
    ['of an object without uid', { metadata: key }, { dryRun: false }, {}, {}],
    ['at once', key, { gracePeriodSeconds: 0, signal }, { gracePeriodSeconds: 0 }, { signal }],
    ['as a dry run', key, { dryRun: true }, { dryRun: ['All'] }, {}],
  ])('evicts a pod %s', async (...[, pod, options, deleteOptions, sent]) => {
    await evict(answering({}), pod, options);
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key, deleteOptions };
    expect(calls).toStrictEqual([
      ['Pod', 'eviction'],
      ['create', key, body, sent],
    ]);
  });

  it('reads and sets a scale, of which the server may leave out parts', async () => {
    const full = { spec: { replicas: 3 }, status: { replicas: 2, selector: 'app=web' } };
    expect(await getScale(answering(full), Deployment, key, { signal })).toEqual({
      replicas: 3,
      current: 2,
      selector: 'app=web',
    });
    expect(calls).toEqual([
      ['Deployment', 'scale'],
      ['get', key, { signal }],
    ]);
    const none = { replicas: 0, current: 0, selector: undefined };
    for (const answer of [{}, { spec: {}, status: {} }])
      expect(await scale(answering(answer), Deployment, key, { replicas: 0, fieldOwner: 'me' })).toEqual(none);
    const patch = { type: 'merge', body: { spec: { replicas: 0 } } };
    expect(calls).toEqual([
      ['Deployment', 'scale'],
      ['patch', key, patch, { fieldOwner: 'me' }],
    ]);
  });
});

describe('childrenOf', () => {
  const child = (name: string, ...ownerReferences: object[]): object => ({ metadata: { name, ownerReferences } });
  const own = { uid: 'u', controller: true };
  const objects: Record<string, readonly object[]> = {
    Pod: [
      child('controlled', { uid: 'x', controller: false }, own),
      child('owned', { uid: 'u' }),
      child('other', { uid: 'x', controller: true }),
      { metadata: { name: 'free' } },
    ],
    ConfigMap: [child('config', own)],
  };
  const lists: unknown[][] = [];
  const list = async ({ kind }: Kind, options: object) => {
    lists.push([kind, options]);
    return { metadata: {}, items: objects[kind] ?? [] };
  };
  const client = { list } as unknown as Client;
  const { signal } = new AbortController();

  it.each([
    ['those whose controller it is', {}, ['controlled', 'config']],
    ['the same if told so', { everyOwner: false, signal }, ['controlled', 'config']],
    ['every object that names it', { everyOwner: true }, ['controlled', 'owned', 'config']],
  ])('returns %s', async (_what, options, names) => {
    const found = await childrenOf(client, { metadata: { ...key, uid: 'u' } }, [Pod, ConfigMap], options);
    expect(found.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  it('reads kinds in the namespace of the owner, and cluster-scoped kinds as a whole', async () => {
    const namespaces = ['shop', '', undefined, null];
    for (const namespace of namespaces) {
      lists.length = 0;
      const owner = { metadata: { name: 'x', uid: 'u', namespace } };
      await childrenOf(client, owner as never, [Pod, Node], { signal });
      const scope = namespace === 'shop' ? { namespace } : namespace === '' ? { namespace: '' } : {};
      expect(lists).toStrictEqual([
        ['Pod', { ...scope, signal }],
        ['Node', { signal }],
      ]);
    }
    lists.length = 0;
    await childrenOf(client, { metadata: { name: 'x', uid: 'u' } }, [Pod]);
    expect(lists).toStrictEqual([['Pod', {}]]);
  });
});

describe('ownersOf', () => {
  const reference = (kind: string, name: string, uid = name) => ({
    apiVersion: kind === 'Node' ? 'v1' : 'apps/v1',
    kind,
    name,
    uid,
    controller: true,
  });
  const object = (name: string, ...ownerReferences: object[]): object => ({
    metadata: { namespace: 'shop', name, uid: name, ownerReferences },
  });
  const kinds: Record<string, Kind> = { Deployment, ReplicaSet, Node };
  const run = async (objects: Record<string, object>, start: object, options: object = {}) => {
    const reads: unknown[][] = [];
    const lookups: unknown[] = [];
    const client = {
      get: async ({ kind }: Kind, at: { name: string }, given: object) => {
        reads.push([kind, at, given]);
        const found = objects[at.name];
        if (found === undefined) throw new StatusError({ code: 404, reason: 'NotFound', message: 'gone' });
        if (found instanceof Error) throw found;
        return found;
      },
    } as unknown as Client;
    const resolver = { kindFor: async (named: { kind: string }) => (lookups.push(named), kinds[named.kind]) };
    const owners = await ownersOf(client, start as never, { resolver: resolver as never, ...options });
    return { names: owners.map(({ kind, object: found }) => `${kind.kind} ${found.metadata.name}`), reads, lookups };
  };
  const set = object('set', { uid: 'x', kind: 'X', name: 'x' }, reference('Deployment', 'app'));
  const pod = object('pod', reference('ReplicaSet', 'set'));

  it('returns the controllers, the nearest one first', async () => {
    const { signal } = new AbortController();
    const { names, reads, lookups } = await run({ set, app: object('app') }, pod, { signal });
    expect(names).toEqual(['ReplicaSet set', 'Deployment app']);
    expect(reads).toEqual([
      ['ReplicaSet', { namespace: 'shop', name: 'set' }, { signal }],
      ['Deployment', { namespace: 'shop', name: 'app' }, { signal }],
    ]);
    expect(lookups[0]).toEqual({ group: 'apps', version: 'v1', kind: 'ReplicaSet' });
  });

  it('looks for a cluster-scoped owner by name alone, in the core group', async () => {
    const mirror = object('mirror', reference('Node', 'node'));
    const { names, reads, lookups } = await run({ node: { metadata: { name: 'node', uid: 'node' } } }, mirror);
    expect(names).toEqual(['Node node']);
    expect(reads).toStrictEqual([['Node', { name: 'node' }, {}]]);
    expect(lookups).toEqual([{ group: '', version: 'v1', kind: 'Node' }]);
    const unplaced = { metadata: { name: 'x', ownerReferences: [reference('Deployment', 'app')] } };
    expect((await run({}, unplaced)).reads).toStrictEqual([['Deployment', { name: 'app' }, {}]]);
  });

  it.each([
    ['does not exist', {}],
    ['is another one of that name', { set: object('set'), app: object('app') }],
  ])('ends at a controller that %s', async (_what, objects) => {
    expect((await run(objects, object('pod', reference('ReplicaSet', 'set', 'earlier')))).names).toEqual([]);
  });

  it('ends also if objects own one another', async () => {
    const loop = object('loop', reference('ReplicaSet', 'loop'));
    expect((await run({ loop }, loop)).names).toHaveLength(32);
  });

  it('rejects if a controller cannot be read', async () => {
    const broken = new StatusError({ code: 500, reason: 'InternalError', message: 'broken' });
    await expect(run({ set: broken }, pod)).rejects.toBe(broken);
  });

  it.each([
    ['a name that is empty', { ...reference('ReplicaSet', ''), uid: 'u' }],
    ['no uid', { ...reference('ReplicaSet', 'set'), uid: undefined }],
    ['a kind that is a number', { ...reference('ReplicaSet', 'set'), kind: 5 }],
  ])('refuses a reference with %s', async (_what, odd) => {
    await expect(run({ set }, object('pod', odd))).rejects.toThrow('the controller reference of pod is not valid');
  });

  it('refuses what is no kind from a resolver', async () => {
    await expect(run({}, object('pod', reference('Site', 's')))).rejects.toThrow(
      'ownersOf: what resolver.kindFor returned: the kind is',
    );
  });
});
