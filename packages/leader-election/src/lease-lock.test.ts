import { StatusError } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { resourceLockConformance } from './conformance/index.js';
import { createLeaseLock, type Lease, type LeaseClient } from './lease-lock.js';

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
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 5, renewTime: '2026-01-01T00:00:00.000000Z' };
  await client.create({} as never, { metadata: { namespace: 'default', name: 'test' }, spec } as never);
  const lock = createLeaseLock({ client, namespace: 'default', name: 'test', identity: 'a' });
  const seen = await lock.get();
  await lock.update({ ...seen!.record, renewTime: '2026-01-01T00:00:01.000000Z' });
  expect(stored()?.spec).not.toHaveProperty('acquireTime');
});

it('refuses an empty identity', () => {
  expect(() =>
    createLeaseLock({ client: memoryServer().client, namespace: 'default', name: 'test', identity: '' }),
  ).toThrow('identity must not be empty');
});
