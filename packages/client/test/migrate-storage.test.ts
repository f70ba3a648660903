import { StatusError } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { isStorageMigration, migrateStorage } from '../src/operations/index.js';
import type {
  MigrateStorageOptions,
  StorageMigrationClient,
  StorageMigrationProgress,
} from '../src/operations/index.js';

const name = 'sites.example.com';
const failure = (code: number, reason: 'Conflict' | 'NotFound' | 'Forbidden'): StatusError =>
  new StatusError({ code, reason, message: `refused with ${reason}` });
const old = { name: 'v1', served: true, storage: false };
const now = { name: 'v2', served: true, storage: true };
const definition = (
  more: { generation?: number; uid?: string; storedVersions?: unknown; versions?: unknown; scope?: string } = {},
) => ({
  metadata: { name, uid: more.uid ?? 'u', generation: more.generation ?? 1, resourceVersion: '7' },
  spec: {
    group: 'example.com',
    names: { kind: 'Site', plural: 'sites' },
    scope: more.scope ?? 'Namespaced',
    versions: more.versions ?? [old, now],
  },
  status: { storedVersions: 'storedVersions' in more ? more.storedVersions : ['v1', 'v2'], conditions: [] },
});
const site = (id: string, version = '1', namespace: string | undefined = 'shop') => ({
  metadata: { ...(namespace === '' ? {} : { namespace }), name: id, uid: id, resourceVersion: version },
});

/** A server with a definition and objects: `definitions` are read one after the other, the last again and again. */
function server({
  definitions = [definition()],
  sites = [site('a'), site('b')],
  later = (id) => sites.filter(({ metadata }) => metadata.name === id),
  write = () => undefined,
  update = () => undefined,
}: {
  readonly definitions?: readonly object[];
  readonly sites?: readonly ReturnType<typeof site>[];
  readonly later?: (id: string) => readonly object[];
  readonly write?: (id: string) => void | Promise<void>;
  readonly update?: (count: number) => void;
} = {}) {
  const calls: unknown[][] = [];
  const signals: object[] = [];
  const readSignals: unknown[] = [];
  let updates = 0;
  const left = [...definitions];
  const client = {
    get: async (kind: Kind, key: object, { signal: _signal, ...options }: { signal?: AbortSignal }) => {
      readSignals.push(_signal);
      calls.push(['get', kind.kind, key, options]);
      return left.length > 1 ? left.shift() : left[0];
    },
    list: async (kind: Kind, { signal: _signal, ...options }: { signal?: AbortSignal; fieldSelector?: string }) => {
      readSignals.push(_signal);
      calls.push(['list', kind.version, kind.shape, kind.scope, options]);
      const { fieldSelector } = options;
      return {
        metadata: {},
        items: fieldSelector === undefined ? sites : later(fieldSelector.replace('metadata.name=', '')),
      };
    },
    patch: async (kind: Kind, key: { name: string }, patch: unknown, options: object) => {
      calls.push(['patch', kind.version, key, patch]);
      signals.push(options);
      await write(key.name);
      return {};
    },
    status: (kind: Kind) => ({
      update: async (object: { metadata: object; status: object }, { signal: _signal }: { signal?: AbortSignal }) => {
        readSignals.push(_signal);
        calls.push(['update', kind.kind, object.status]);
        update(++updates);
        return object;
      },
    }),
  };
  const of = (verb: string): unknown[][] => calls.filter(([called]) => called === verb);
  return { client: client as unknown as StorageMigrationClient, calls, signals, readSignals, of };
}
const run = (client: StorageMigrationClient, options: MigrateStorageOptions = {}) =>
  migrateStorage(client, name, { settleMs: 0, ...options });
const writes = (of: (verb: string) => unknown[][]) => of('patch').map(([, , key]) => (key as { name: string }).name);

describe('migrateStorage', () => {
  it('writes each object with nothing but its identity, then prunes the versions', async () => {
    const { client, calls } = server();
    const progress: StorageMigrationProgress[] = [];
    const result = await run(client, { onProgress: (step) => progress.push(step), concurrency: 1, pageSize: 9 });
    expect(result).toEqual({ storageVersion: 'v2', migrated: 2, pruned: ['v1'] });
    expect(progress).toEqual([
      { pass: 1, migrated: 1, failed: 0 },
      { pass: 1, migrated: 2, failed: 0 },
    ]);
    const body = (id: string) => ({ type: 'merge', body: { metadata: { uid: id, resourceVersion: '1' } } });
    expect(calls).toEqual([
      ['get', 'CustomResourceDefinition', { name }, { live: true }],
      ['list', 'v2', 'metadata', 'Namespaced', { live: true, limit: 9 }],
      ['patch', 'v2', { namespace: 'shop', name: 'a' }, body('a')],
      ['patch', 'v2', { namespace: 'shop', name: 'b' }, body('b')],
      ['get', 'CustomResourceDefinition', { name }, { live: true }],
      ['update', 'CustomResourceDefinition', { storedVersions: ['v2'], conditions: [] }],
    ]);
  });

  it('finds the definition of a kind, and writes cluster-scoped objects by name alone', async () => {
    const { client, of } = server({ definitions: [definition({ scope: 'Cluster' })], sites: [site('a', '1', '')] });
    await migrateStorage(
      client,
      { ...CustomResourceDefinition, group: 'example.com', plural: 'sites' },
      {
        settleMs: 0,
      },
    );
    expect(of('get')[0]?.[2]).toEqual({ name });
    expect(of('list')[0]?.[3]).toBe('Cluster');
    expect(of('patch')[0]?.[2]).toStrictEqual({ name: 'a' });
  });

  it.each([
    ['no other version', ['v2'], 'v2'],
    ['no version at all', undefined, 'v2'],
  ])('writes nothing if the definition names %s', async (_what, storedVersions, storageVersion) => {
    const { client, calls } = server({ definitions: [definition({ storedVersions })] });
    expect(await run(client)).toEqual({ storageVersion, migrated: 0, pruned: [] });
    expect(calls).toHaveLength(1);
  });

  it('waits for all API servers to see the storage version', async () => {
    const clock = new FakeClock();
    const { client, of } = server();
    const migration = migrateStorage(client, name, { clock });
    await clock.advance(4_999);
    expect(of('patch')).toEqual([]);
    await clock.advance(1);
    expect(await migration).toMatchObject({ migrated: 2 });
  });

  it('uses a version that is served if the storage version is not, and fails without any', async () => {
    const hidden = { ...now, served: false };
    const { client, of } = server({ definitions: [definition({ versions: [hidden, old] })] });
    await run(client);
    expect(of('list')[0]?.[1]).toBe('v1');
    const none = server({ definitions: [definition({ versions: [hidden, { ...old, served: false }] })] });
    await expect(run(none.client)).rejects.toThrow(/: set served: true on one version$/);
    const unstored = server({ definitions: [definition({ versions: [old], storedVersions: [] })] });
    expect(await run(unstored.client)).toEqual({ storageVersion: '', migrated: 0, pruned: [] });
  });

  it.each([
    ['generation', definition({ generation: 2 })],
    ['uid', definition({ uid: 'other' })],
  ])(
    'starts over when the %s of the definition changed meanwhile, and prunes nothing before',
    async (_what, changed) => {
      const { client, of } = server({ definitions: [definition(), changed] });
      const passes: number[] = [];
      await run(client, { onProgress: ({ pass }) => passes.push(pass) });
      expect(passes).toEqual([1, 1, 2, 2]);
      expect(of('update')).toHaveLength(1);
    },
  );

  it('gives up after three passes in which the definition changed', async () => {
    const definitions = [1, 2, 3, 4, 5].map((generation) => definition({ generation }));
    const { client, of } = server({ definitions });
    const migration = run(client);
    await expect(migration).rejects.toThrow('the definition changed during each of 3 passes');
    await expect(migration).rejects.toSatisfy(isStorageMigration);
    expect([of('patch').length, of('update').length]).toEqual([6, 0]);
  });

  it('prunes again after a conflict, with the definition as it is by then', async () => {
    const { client, of } = server({
      update: (count) => {
        if (count < 3) throw failure(409, 'Conflict');
      },
    });
    expect(await run(client)).toMatchObject({ pruned: ['v1'] });
    expect([of('update').length, of('get').length, of('patch').length]).toEqual([3, 4, 2]);
  });

  it('rejects when the status cannot be written', async () => {
    const { client, of } = server({
      update: () => {
        throw failure(403, 'Forbidden');
      },
    });
    await expect(run(client)).rejects.toThrow('refused with Forbidden');
    expect(of('update')).toHaveLength(1);
  });

  const refusing =
    (error: unknown) =>
    (id: string): void => {
      if (id === 'a') throw error;
    };
  it.each([
    ['is gone by now', failure(404, 'NotFound'), []],
    ['was written by another client', failure(409, 'Conflict'), [site('a', '2')]],
    ['is another one by now', failure(409, 'Conflict'), [{ metadata: { ...site('a').metadata, uid: 'x' } }]],
    ['is gone, beside another one', failure(404, 'NotFound'), [site('b')]],
  ])('counts an object that %s', async (_what, error, later) => {
    const { client, of } = server({ write: refusing(error), later: () => later });
    expect(await run(client)).toMatchObject({ migrated: 2, pruned: ['v1'] });
    expect(of('list').at(-1)?.at(-1)).toEqual({ live: true, fieldSelector: 'metadata.name=a', namespace: 'shop' });
  });

  it.each([
    ['forbidden', failure(403, 'Forbidden'), []],
    ['refused by a webhook with 409', failure(409, 'Conflict'), [site('a')]],
    ['not found by a server that does not serve the version yet', failure(404, 'NotFound'), [site('a')]],
    ['in doubt', failure(409, 'Conflict'), undefined],
  ])('names an object whose write is %s, and prunes nothing', async (_what, error, later) => {
    const { client, of } = server({
      write: refusing(error),
      later: () => {
        if (later === undefined) throw new Error('no list');
        return later;
      },
    });
    const progress: StorageMigrationProgress[] = [];
    const migration = run(client, { concurrency: 1, onProgress: (step) => progress.push(step) });
    await expect(migration).rejects.toMatchObject({
      failures: [{ namespace: 'shop', name: 'a', error }],
      failed: 1,
    });
    await expect(migration).rejects.toThrow('objects could not be written');
    expect(progress.at(-1)).toEqual({ pass: 1, migrated: 1, failed: 1 });
    expect([of('update').length, writes(of)]).toEqual([0, ['a', 'b']]);
  });

  it('names a hundred failures at most, and counts the rest', async () => {
    const sites = Array.from({ length: 103 }, (_, index) => site(`s${index}`));
    const { client } = server({
      sites,
      write: () => {
        throw failure(403, 'Forbidden');
      },
    });
    const error: unknown = await run(client).catch((reason: unknown) => reason);
    if (!isStorageMigration(error)) throw new Error('no failure', { cause: error });
    expect([error.failures.length, error.failed]).toEqual([100, 103]);
    expect(error.message).toContain('objects could not be written: shop/s0: refused with Forbidden; shop/s1: ');
    expect(error.message).toContain('shop/s4: refused with Forbidden; and 98 more: correct them');
    const clusterWide = server({
      definitions: [definition({ scope: 'Cluster' })],
      sites: [site('a', '1', '')],
      write: () => {
        throw failure(403, 'Forbidden');
      },
    });
    await expect(run(clusterWide.client)).rejects.toThrow('objects could not be written: a: refused with Forbidden: ');
  });

  it.each([
    [undefined, 4],
    [2, 2],
  ])('writes no more objects at a time than it may, with concurrency %s', async (concurrency, expected) => {
    let [running, most] = [0, 0];
    const { client } = server({
      sites: Array.from({ length: 9 }, (_, index) => site(`s${index}`)),
      write: async () => {
        most = Math.max(most, ++running);
        await settle();
        running--;
      },
    });
    await run(client, concurrency === undefined ? {} : { concurrency });
    expect(most).toBe(expected);
  });

  it('ends with its signal, and names no object as failed', async () => {
    const controller = new AbortController();
    const { client, of } = server({
      sites: [site('a'), site('b'), site('c')],
      write: () => {
        controller.abort(new Error('no longer wanted'));
        throw failure(409, 'Conflict');
      },
    });
    await expect(run(client, { concurrency: 1, signal: controller.signal })).rejects.toThrow('no longer wanted');
    expect([writes(of), of('update').length]).toEqual([['a'], 0]);
  });

  it('reads and writes with its signal, and without one if there is none', async () => {
    const { signal } = new AbortController();
    for (const options of [{ signal }, {}]) {
      const { client, signals, readSignals } = server();
      await run(client, options);
      expect(signals).toStrictEqual([options, options]);
      expect(readSignals.map((each) => each === undefined)).toEqual(readSignals.map(() => !('signal' in options)));
    }
  });

  it('ends when its hook throws', async () => {
    const { client, of } = server();
    const onProgress = (): never => {
      throw new Error('broken hook');
    };
    await expect(run(client, { concurrency: 1, onProgress })).rejects.toThrow('broken hook');
    expect(writes(of)).toEqual(['a']);
  });
});
