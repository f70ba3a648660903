// JSON can carry null where the types have undefined: what reads objects takes the one for the other.
import { defineKind } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import {
  addFinalizer,
  apply,
  applyIfChanged,
  createOrUpdate,
  describeObject,
  extractApplied,
  inNamespace,
  intercept,
  isReady,
  listAll,
  mergeFrom,
  record,
  removeFinalizer,
} from '../src/index.js';
import { requireKey } from '../src/internal/index.js';
import type { ReadObject } from '../src/index.js';
import { childrenOf, NodeMetrics, PodMetrics, topNodes, topPods } from '../src/operations/index.js';
import { createMemoryClient } from './memory-client.js';

type Read = ReadObject<typeof ConfigMap>;
const Site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster' });
const nulls = {
  generateName: null,
  generation: null,
  creationTimestamp: null,
  deletionTimestamp: null,
  labels: null,
  annotations: null,
  ownerReferences: null,
  finalizers: null,
  managedFields: null,
};
const identity = { namespace: 'default', name: 'a', uid: 'u', resourceVersion: '7' };
const read = (metadata: object): Read => JSON.parse(JSON.stringify({ metadata })) as Read;

/** What a function returns or says, and what it wrote. */
async function outcome(call: (client: ReturnType<typeof record>, object: Read) => unknown, object: Read) {
  const client = record(intercept(createMemoryClient(), () => ({ patch: async () => object as never })));
  const result = await (async () => await call(client, object))().catch((error: unknown) => String(error));
  return { result, writes: client.writes.map(({ verb, key, patch }) => ({ verb, key, patch })) };
}

describe('null in metadata', () => {
  it.each<[string, (client: ReturnType<typeof record>, object: Read) => unknown]>([
    ['addFinalizer', async (client, object) => void (await addFinalizer(client, ConfigMap, object, 'example.com/f'))],
    ['removeFinalizer', async (client, object) => void (await removeFinalizer(client, ConfigMap, object, 'f'))],
    ['isReady', (_client, object) => isReady()(object)],
    ['describeObject', (_client, object) => describeObject(object)],
    ['extractApplied', (_client, object) => extractApplied(ConfigMap, object, 'me')],
    [
      'applyIfChanged',
      async (client, actual) => {
        const configuration = { metadata: { namespace: 'default', name: 'a' } };
        return (await applyIfChanged(client, ConfigMap, configuration, { fieldOwner: 'me', actual })).reason;
      },
    ],
    [
      'apply',
      async (client, object) => {
        const { managedFields } = object.metadata;
        await apply(client, ConfigMap, { metadata: { namespace: 'default', name: 'a', managedFields } } as never);
      },
    ],
    ['childrenOf', (client, object) => childrenOf(client, object, [ConfigMap])],
  ])('is as nothing for %s', async (_what, call) => {
    const given = await outcome(call, read({ ...identity, ...nulls }));
    const wanted = await outcome(call, read(identity));
    expect(given.result).toEqual(wanted.result);
    expect(given.writes.length).toBe(wanted.writes.length);
  });

  it('names no namespace', async () => {
    const placeless = { metadata: { namespace: null, name: 'a' } } as never;
    expect(requireKey('get', Site, placeless)).toEqual({ name: 'a' });
    for (const named of [placeless, { namespace: null, name: 'a' } as never])
      expect(() => requireKey('get', ConfigMap, named)).toThrow('get ConfigMap "a": namespace is not set');
    const client = record(createMemoryClient());
    await inNamespace(client, 'default').create(ConfigMap, placeless);
    expect(client.calls[0]?.key).toEqual({ namespace: 'default', name: 'a' });
    const settings = { mutate: (): undefined => undefined };
    const named = { namespace: '', name: 'a' };
    expect((await createOrUpdate(inNamespace(client, 'default'), ConfigMap, named, settings)).result).toBe('unchanged');
  });

  it('or an empty text is no name, which a cache would not find and call gone', () => {
    expect(() => requireKey('get', Site, { name: '' })).toThrow('get Site: name "" is not valid');
    expect(() => requireKey('get', ConfigMap, { namespace: 'default', name: '' })).toThrow('name "" is not valid');
  });

  it('is no version to lock on', () => {
    const unread = { metadata: { name: 'a', resourceVersion: null } } as never;
    expect(() => mergeFrom(unread, unread, { optimisticLock: true })).toThrow('no resourceVersion');
  });
});

describe('null in a list', () => {
  it('is no token of another page', async () => {
    let asked = 0;
    const reader = {
      get: () => Promise.reject(new Error('not asked for')),
      list: async () => {
        if (++asked > 1) throw new Error('asked again');
        return { metadata: { continue: null }, items: [read(identity)] } as never;
      },
    };
    const names = [];
    for await (const { metadata } of listAll(reader, ConfigMap)) names.push(metadata.name);
    expect(names).toEqual(['a']);
  });

  it('of metrics is nothing that was measured', async () => {
    const client = createMemoryClient();
    await client.create(PodMetrics, { metadata: { namespace: 'shop', name: 'p' }, containers: null });
    await client.create(PodMetrics, {
      metadata: { namespace: 'shop', name: 'q' },
      containers: [{ name: 'c', usage: null }],
    });
    await client.create(NodeMetrics, { metadata: { name: 'n' }, usage: null });
    expect(await topPods(client)).toMatchObject([
      { cpu: '0', containers: [] },
      { cpu: '0', containers: [{ name: 'c' }] },
    ]);
    expect(await topNodes(client)).toMatchObject([{ name: 'n', cpu: '0' }]);
  });
});
