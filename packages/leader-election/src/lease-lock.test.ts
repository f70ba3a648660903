import { StatusError } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { resourceLockConformance } from './conformance/index.js';
import { createLeaseLock, type Lease, type LeaseClient } from './lease-lock.js';
import type { LeaderElectionRecord } from './record.js';

/** A server with one Lease, as strict about versions as the real one. */
function memoryServer(): { client: LeaseClient; stored: () => Lease | undefined } {
  let stored: Lease | undefined;
  let version = 0;
  const commit = (lease: Lease): Lease => {
    stored = { ...structuredClone(lease), metadata: { ...lease.metadata, resourceVersion: String(++version) } };
    return structuredClone(stored);
  };
  const client = {
    get: async (_kind: unknown, _key: unknown, options?: { signal?: AbortSignal }) => {
      options?.signal?.throwIfAborted();
      if (stored === undefined) throw new StatusError({ code: 404, reason: 'NotFound' });
      return structuredClone(stored);
    },
    create: async (_kind: unknown, lease: Lease) => {
      if (stored !== undefined) throw new StatusError({ code: 409, reason: 'AlreadyExists' });
      return commit(lease);
    },
    update: async (_kind: unknown, lease: Lease) => {
      if (lease.metadata.resourceVersion !== stored?.metadata.resourceVersion)
        throw new StatusError({ code: 409, reason: 'Conflict' });
      return commit(lease);
    },
  } as unknown as LeaseClient;
  return { client, stored: () => stored };
}

const record: LeaderElectionRecord = {
  holderIdentity: 'a',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:01.000000Z',
  leaderTransitions: 3,
};

resourceLockConformance('Lease', () => {
  const { client } = memoryServer();
  return { lock: (identity) => createLeaseLock({ client, namespace: 'default', name: 'test', identity }) };
});

it('keeps labels that others put on the Lease and adds its own', async () => {
  const { client, stored } = memoryServer();
  await client.create(
    {} as never,
    { metadata: { namespace: 'default', name: 'test', labels: { other: 'x' } }, spec: {} } as never,
  );
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a', labels: { app: 'y' } });
  const seen = await lock.get();
  await lock.update({ ...seen!.record, holderIdentity: 'a' });
  expect(stored()?.metadata.labels).toEqual({ other: 'x', app: 'y' });
});

it('takes a Lease without a spec, also one that is null, for one without a holder', async () => {
  const { client, stored } = memoryServer();
  await client.create({} as never, { metadata: { namespace: 'default', name: 'test' }, spec: null } as never);
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  const seen = await lock.get();
  expect(seen?.record).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 0 });
  await lock.update({ ...seen!.record, holderIdentity: 'a' });
  expect(stored()?.spec?.holderIdentity).toBe('a');
});

it('sends the metadata of the Lease back without its managedFields, which the server keeps', async () => {
  const { client, stored } = memoryServer();
  const metadata = {
    namespace: 'default',
    name: 'test',
    annotations: { note: 'n' },
    finalizers: ['example.com/f'],
    managedFields: [{ manager: 'other', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
  };
  await client.create({} as never, { metadata, spec: {} } as never);
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  const seen = await lock.get();
  await lock.update({ ...seen!.record, holderIdentity: 'a' });
  expect(stored()?.metadata).toMatchObject({ annotations: { note: 'n' }, finalizers: ['example.com/f'] });
  expect(stored()?.metadata).not.toHaveProperty('managedFields');
});

it('leaves out a time that nobody has set: the server takes no empty one', async () => {
  const { client, stored } = memoryServer();
  // As the server's election controller makes it.
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 5 };
  await client.create({} as never, { metadata: { namespace: 'default', name: 'test' }, spec } as never);
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  const seen = await lock.get();
  await lock.update(seen!.record);
  expect(stored()?.spec).toEqual({ ...spec, leaseTransitions: 0 });
  await lock.update({ ...seen!.record, renewTime: '2026-01-01T00:00:01.000000Z' });
  expect(stored()?.spec).not.toHaveProperty('acquireTime');
});

it('labels the Lease that it makes', async () => {
  const labels = { app: 'y' };
  for (const given of [{}, { labels }]) {
    const { client, stored } = memoryServer();
    const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a', ...given });
    await lock.create(record);
    expect(stored()?.metadata.labels).toEqual('labels' in given ? labels : undefined);
    await lock.update(record);
    expect(stored()?.metadata.labels).toEqual('labels' in given ? labels : undefined);
    expect(stored()).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
    expect(stored()?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: record.acquireTime,
      renewTime: record.renewTime,
      leaseTransitions: 3,
    });
  }
});

it('reads and writes what coordinated election sets', async () => {
  const { client, stored } = memoryServer();
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  const coordinated = { ...record, strategy: 'OldestEmulationVersion', preferredHolder: 'b' };
  await lock.create(coordinated);
  expect(stored()?.spec).toMatchObject({ strategy: 'OldestEmulationVersion', preferredHolder: 'b' });
  expect((await lock.get())?.record).toEqual(coordinated);
  await lock.update(record);
  expect((await lock.get())?.record).toEqual(record);
});

it('reads the server, and no cache', async () => {
  const seen: unknown[] = [];
  const get = (...given: unknown[]) => {
    seen.push(given[2]);
    return Promise.resolve({ metadata: {}, spec: {} });
  };
  const client = { ...memoryServer().client, get } as unknown as LeaseClient;
  const { signal } = new AbortController();
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  await lock.get({ signal });
  await lock.get();
  expect(seen).toEqual([{ live: true, signal }, { live: true }]);
});

it('rejects with what the client rejects with, except for a Lease that does not exist', async () => {
  const { client, stored } = memoryServer();
  let failure: Error | undefined;
  const get: LeaseClient['get'] = (...given) =>
    failure === undefined ? client.get(...given) : Promise.reject(failure);
  const lock = createLeaseLock({ client: { ...client, get }, namespace: 'default', name: 'test', identity: 'a' });
  await lock.create(record);
  failure = new StatusError({ code: 403, reason: 'Forbidden' });
  await expect(lock.get()).rejects.toBe(failure);
  await lock.update({ ...record, leaderTransitions: 4 }); // the version that it knows is still the last
  expect(stored()?.spec?.leaseTransitions).toBe(4);
  failure = new StatusError({ code: 404, reason: 'NotFound' });
  expect(await lock.get()).toBeUndefined();
  await expect(lock.update(record)).rejects.toThrow(
    'lease default/test: update before get or create: the version to replace is not known',
  );
});

it.each(['get', 'create', 'update'] as const)(
  'learns nothing from an answer to a %s that was given up',
  async (verb) => {
    const { client } = memoryServer();
    const other = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'b' });
    if (verb !== 'create') await other.create(record);
    const stop = new AbortController();
    let mayAbort = false;
    const late =
      (request: (...given: never[]) => Promise<unknown>) =>
      async (...given: unknown[]) => {
        const answer = await request(...(given.slice(0, 2) as never[]));
        if (mayAbort) stop.abort(new Error('given up'));
        return answer;
      };
    const slow = {
      get: late(client.get),
      create: late(client.create),
      update: late(client.update),
    } as unknown as LeaseClient;
    const lock = createLeaseLock({ client: slow, namespace: 'default', name: 'test', identity: 'a' });
    if (verb === 'update') await lock.get();
    mayAbort = true;
    const request = { signal: stop.signal };
    const answer = verb === 'get' ? lock.get(request) : lock[verb](record, request);
    await expect(answer).rejects.toThrow('given up');
    mayAbort = false;
    await expect(lock.update(record)).rejects.toThrow(
      verb === 'update' ? /Conflict|409/ : 'update before get or create',
    );
  },
);

it.each([undefined, null, 5, 'lease', {}, { metadata: null }])('refuses %o in place of a Lease', async (answer) => {
  const client = { ...memoryServer().client, get: () => Promise.resolve(answer) } as unknown as LeaseClient;
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  await expect(lock.get()).rejects.toThrow(/^lease default\/test: the client returned .* without metadata/);
});

it.each([
  ['name', 'a'.repeat(253), 'a'.repeat(254)],
  ['namespace', 'a'.repeat(63), 'a'.repeat(64)],
])('takes the longest %s that a server takes, and none that is longer', (field, longest, longer) => {
  const { client } = memoryServer();
  const given = { client, namespace: 'default', name: 'test', identity: 'a' };
  expect(createLeaseLock({ ...given, [field]: longest }).description).toContain(longest);
  expect(() => createLeaseLock({ ...given, [field]: longer })).toThrow(`createLeaseLock: ${field} `);
});

it.each(['namespace', 'name', 'identity'])('refuses a %s that is empty or not a string', (field) => {
  const given = { client: memoryServer().client, namespace: 'default', name: 'test', identity: 'a' };
  for (const value of ['', undefined, null, 5])
    expect(() => createLeaseLock({ ...given, [field]: value })).toThrow(`createLeaseLock: ${field} must not be empty`);
});

it.each([undefined, null, 5, {}])('refuses a client that is %o', (client) => {
  expect(() => createLeaseLock({ client: client as never, namespace: 'default', name: 'test', identity: 'a' })).toThrow(
    'createLeaseLock: client',
  );
});
