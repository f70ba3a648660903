import { isNotFound, StatusError } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import {
  ignoreAlreadyExists,
  inNamespace,
  intercept,
  isNamespaceMismatch,
  mergePatch,
  record,
  withDryRun,
  withFieldOwner,
  withFieldValidation,
} from '../src/index.js';
import type { Client } from '../src/index.js';
import { createBlindClient, createMemoryClient } from './memory-client.js';

const key = { namespace: 'default', name: 'a' };
const object: ConfigMap = { metadata: key, data: { a: '1' } };

/** Calls each verb that writes and returns the options that arrived. */
async function writtenOptions(wrap: (client: Client) => Client, own: object = {}): Promise<Record<string, unknown>> {
  const recorder = record(intercept(createMemoryClient(), swallowing));
  const client = wrap(recorder);
  await client.create(ConfigMap, object, own);
  await client.update(ConfigMap, object, own);
  await client.patch(ConfigMap, key, mergePatch({}), own);
  await client.status(ConfigMap).update(object, own);
  await client.status(ConfigMap).patch(key, mergePatch({}), own);
  const sub = client.subResource(ConfigMap, 'thing');
  await sub.create(key, object, own);
  await sub.update(key, object, own);
  await sub.patch(key, mergePatch({}), own);
  await client.delete(ConfigMap, key, own);
  await client.deleteAllOf(ConfigMap, own);
  return Object.fromEntries(
    recorder.writes.map(({ verb, subResource, options }) => [`${verb} ${subResource ?? ''}`.trim(), options]),
  );
}

/** Answers every write with the object. */
const swallowing: Parameters<typeof intercept>[1] = () => {
  const answer = async (): Promise<never> => object as never;
  return {
    create: answer,
    update: answer,
    patch: answer,
    delete: answer,
    deleteAllOf: async () => undefined,
    subResource: () => ({ create: answer, update: answer, patch: answer }),
  };
};

const verbs = [
  'create',
  'update',
  'patch',
  'update status',
  'patch status',
  'create thing',
  'update thing',
  'patch thing',
];
const all = (options: unknown): Record<string, unknown> => Object.fromEntries(verbs.map((verb) => [verb, options]));

describe('withDryRun', () => {
  it('makes every write a dry run, whatever the call says', async () => {
    const dry = { dryRun: true };
    const expected = { ...all(dry), delete: dry, deleteAllOf: dry };
    expect(await writtenOptions(withDryRun)).toEqual(expected);
    expect(await writtenOptions(withDryRun, { dryRun: false })).toEqual(expected);
  });

  it('reads, and keeps watching where the client can, and not where it cannot', async () => {
    const client = withDryRun(createMemoryClient());
    expect((await client.list(Namespace)).items).toHaveLength(1);
    await using stream = await client.watch(Namespace, { sendInitialEvents: true });
    expect(Symbol.asyncIterator in stream).toBe(true);
    expect(withDryRun(createBlindClient())).not.toHaveProperty('watch');
  });

  it('keeps watching with a client behind a proxy that makes it when it is first used', () => {
    const lazily = (make: () => Client): Client =>
      new Proxy({}, { get: (_, verb) => Reflect.get(make(), verb) }) as never;
    expect(withDryRun(lazily(createMemoryClient))).toHaveProperty('watch');
    expect(withDryRun(lazily(createBlindClient))).not.toHaveProperty('watch');
  });
});

describe('withFieldOwner and withFieldValidation', () => {
  it('fill in what a call does not say, and leave deletes alone', async () => {
    const wrap = (client: Client): Client => withFieldValidation(withFieldOwner(client, 'me'), 'Strict');
    expect(await writtenOptions(wrap)).toEqual({
      ...all({ fieldOwner: 'me', fieldValidation: 'Strict' }),
      delete: {},
      deleteAllOf: {},
    });
    const own = { fieldOwner: 'other', fieldValidation: 'Warn' };
    expect(await writtenOptions(wrap, own)).toMatchObject(all(own));
  });

  it('fill in what a call leaves undefined', async () => {
    const wrap = (client: Client): Client => withFieldValidation(withFieldOwner(client, 'me'), 'Strict');
    const own = { fieldOwner: undefined, fieldValidation: undefined };
    expect(await writtenOptions(wrap, own)).toMatchObject(all({ fieldOwner: 'me', fieldValidation: 'Strict' }));
  });

  it('refuse an empty owner', () => {
    expect(() => withFieldOwner(createMemoryClient(), '')).toThrow('the field owner is empty');
  });
});

describe('inNamespace', () => {
  it('fills in the namespace, in a copy', async () => {
    const recorder = record(createMemoryClient());
    const client = inNamespace(recorder, 'default');
    const short: ConfigMap = Object.freeze({ metadata: Object.freeze({ name: 'a' }) });
    await client.create(ConfigMap, short);
    await client.get(ConfigMap, { name: 'a' });
    await client.patch(ConfigMap, { name: 'a' }, mergePatch({ data: { b: '2' } }));
    expect(await client.update(ConfigMap, { ...short, data: {} })).toMatchObject({ data: {} });
    expect(await client.subResource(ConfigMap, 'x').update({ name: 'a' }, object)).toMatchObject({ metadata: key });
    await expect(client.subResource(ConfigMap, 'x').create({ name: 'a' }, short)).rejects.toThrow('x takes no create');
    await client.list(ConfigMap);
    await client.delete(ConfigMap, { name: 'a' });
    await client.deleteAllOf(ConfigMap);
    expect(
      recorder.calls.map(({ verb, key: { namespace } = { name: '' }, options }) => [
        verb,
        namespace ?? (options as { namespace?: string }).namespace,
      ]),
    ).toEqual([
      ['create', 'default'],
      ['get', 'default'],
      ['patch', 'default'],
      ['update', 'default'],
      ['update', 'default'],
      ['create', 'default'],
      ['list', 'default'],
      ['delete', 'default'],
      ['deleteAllOf', 'default'],
    ]);
  });

  it('leaves cluster-scoped kinds alone', async () => {
    const client = inNamespace(createMemoryClient(), 'elsewhere');
    expect(await client.get(Namespace, { name: 'default' })).toMatchObject({ metadata: { name: 'default' } });
    expect((await client.list(Namespace)).items).toHaveLength(1);
  });

  it('rejects another namespace, before anything is sent', async () => {
    const recorder = record(createMemoryClient());
    const client = inNamespace(recorder, 'mine');
    const calls = [
      client.get(ConfigMap, key),
      client.create(ConfigMap, object),
      client.list(ConfigMap, { namespace: 'default' }),
      client.delete(ConfigMap, key),
      client.status(ConfigMap).update(object),
      client.subResource(ConfigMap, 'x').get(key),
      client.watch(ConfigMap, { namespace: 'default' }),
    ];
    for (const call of calls) {
      await expect(call).rejects.toSatisfy(isNamespaceMismatch);
      await expect(call).rejects.toThrow('namespace default of the ConfigMap does not match the namespace mine');
    }
    expect(recorder.calls).toEqual([]);
    expect(() => inNamespace(recorder, '')).toThrow('the namespace is empty');
  });
});

describe('intercept', () => {
  it('replaces single verbs, which can go on with the client', async () => {
    const seen: string[] = [];
    const client = intercept(createMemoryClient(), (next) => ({
      get: (kind, wanted, options) => {
        seen.push(`get ${wanted.name}`);
        return next.get(kind, wanted, options);
      },
      create: () => Promise.reject(new Error('read-only')),
    }));
    await expect(client.create(ConfigMap, object)).rejects.toThrow('read-only');
    await expect(client.get(ConfigMap, key)).rejects.toSatisfy(isNotFound);
    expect((await client.list(ConfigMap)).items).toEqual([]);
    expect(seen).toEqual(['get a']);
  });

  it('rejects where a hook throws, for every verb', async () => {
    let failures = 0;
    const fail = (): never => {
      failures++;
      throw new StatusError({ code: 409, reason: 'AlreadyExists', message: 'there' });
    };
    const hooks = { get: fail, list: fail, watch: fail, create: fail, update: fail, patch: fail, delete: fail };
    const client = intercept(createMemoryClient(), () => ({ ...hooks, deleteAllOf: fail }));
    const calls = [
      () => client.get(ConfigMap, key),
      () => client.list(ConfigMap),
      () => client.watch(ConfigMap),
      () => client.create(ConfigMap, object),
      () => client.update(ConfigMap, object),
      () => client.patch(ConfigMap, key, mergePatch({})),
      () => client.delete(ConfigMap, key),
      () => client.deleteAllOf(ConfigMap),
    ];
    for (const call of calls) expect(await ignoreAlreadyExists<unknown>(call())).toBeUndefined();
    expect(failures).toBe(calls.length);
  });

  it('does not watch with a client that cannot, as inNamespace', () => {
    for (const client of [intercept(createBlindClient(), () => ({})), inNamespace(createBlindClient(), 'a')])
      expect(client).not.toHaveProperty('watch');
  });

  it('sees the status as a subresource of that name', async () => {
    const seen: string[] = [];
    const client = intercept(createMemoryClient(), () => ({
      subResource: (_kind, name) => ({
        update: async (at, body) => {
          seen.push(`update ${name} of ${at.name}`);
          return body as never;
        },
      }),
    }));
    await client.status(ConfigMap).update(object);
    await client.subResource(ConfigMap, 'other').update(key, object);
    expect(seen).toEqual(['update status of a', 'update other of a']);
    await expect(client.status(ConfigMap).patch(key, mergePatch({}))).rejects.toSatisfy(isNotFound);
  });

  it('works on clients that are classes', async () => {
    const memory = createMemoryClient();
    class ClassClient {
      readonly #inner = memory;
      subResource(kind: typeof ConfigMap, name: string) {
        const inner = this.#inner.subResource(kind, name);
        return new (class {
          get(at: typeof key) {
            return inner.get(at);
          }
        })();
      }
    }
    const client = intercept(new ClassClient() as unknown as Client, () => ({}));
    await expect(client.subResource(ConfigMap, 'x').get(key)).rejects.toSatisfy(isNotFound);
    const callable = inNamespace(Object.assign(() => undefined, memory) as unknown as Client, 'default');
    expect((await callable.list(ConfigMap)).items).toEqual([]);
  });
});

describe('record', () => {
  it('remembers calls in their order, with copies of what was sent', async () => {
    const client = record(createMemoryClient());
    const mine: ConfigMap = { metadata: { ...key }, data: { a: '1' } };
    await client.create(ConfigMap, mine, { fieldOwner: 'me' });
    mine.data = {};
    await client.get(ConfigMap, key);
    await expect(client.get(ConfigMap, { ...key, name: 'missing' })).rejects.toSatisfy(isNotFound);
    await client.status(ConfigMap).patch(key, mergePatch({ status: {} }));
    await client.subResource(ConfigMap, 'status').get(key);
    expect(client.calls).toEqual([
      {
        verb: 'create',
        kind: ConfigMap,
        key,
        object: { metadata: key, data: { a: '1' } },
        options: { fieldOwner: 'me' },
      },
      { verb: 'get', kind: ConfigMap, key },
      { verb: 'get', kind: ConfigMap, key: { ...key, name: 'missing' } },
      { verb: 'patch', kind: ConfigMap, subResource: 'status', key, patch: { type: 'merge', body: { status: {} } } },
      { verb: 'get', kind: ConfigMap, subResource: 'status', key },
    ]);
    expect(client.writes.map(({ verb }) => verb)).toEqual(['create', 'patch']);
    client.clear();
    expect(client.calls).toEqual([]);
  });

  it('records watches of a client that can watch', async () => {
    const client = record(createMemoryClient());
    await using _stream = await client.watch(ConfigMap, { namespace: 'default' });
    expect(client.calls).toEqual([{ verb: 'watch', kind: ConfigMap, options: { namespace: 'default' } }]);
    expect(record(createBlindClient())).not.toHaveProperty('watch');
  });

  it('leaves it to the client to refuse an object or a key that is none', async () => {
    const refuse = (): never => {
      throw new Error('refused');
    };
    const client = record(intercept(createMemoryClient(), () => ({ create: refuse, get: refuse })));
    await expect(client.create(ConfigMap, undefined as never)).rejects.toThrow('refused');
    await expect(client.create(Namespace, { metadata: { name: 'x' } })).rejects.toThrow('refused');
    expect(client.calls).toMatchObject([{ verb: 'create', kind: ConfigMap }, { key: { name: 'x' } }]);
    expect(client.calls.map(({ key: named }) => Object.keys(named ?? {}))).toEqual([[], ['name']]);
  });

  it('passes on an object whose name the server is to make', async () => {
    const client = record(createMemoryClient());
    const created = await client
      .create(ConfigMap, { metadata: { namespace: 'default', name: '', generateName: 'a-' } })
      .catch(String);
    expect(client.calls).toMatchObject([{ verb: 'create', key: undefined }]);
    expect(created).not.toContain('keyOf');
  });
});
