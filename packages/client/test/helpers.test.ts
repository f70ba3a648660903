import { isConflict, StatusError } from '@kctl/apimachinery';
import type { Kind, KubeList } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { isDeadlineExceeded } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  addFinalizer,
  createOrPatch,
  createOrUpdate,
  defaultBackoff,
  exists,
  defaultRetry,
  hasCondition,
  ignoreAlreadyExists,
  ignoreNotFound,
  inNamespace,
  intercept,
  isDeleted,
  isEmptyPatch,
  isObjectDeleting,
  isReady,
  jsonPatch,
  jsonPatchFrom,
  listAll,
  mergeFrom,
  mergePatch,
  readiness,
  record,
  removeFinalizer,
  retryOnConflict,
  waitFor,
} from '../src/index.js';
import type { Client, Interceptor, ListOptions, Reader, ReadObject } from '../src/index.js';
import { listWithin } from '../src/internal/index.js';
import type { ReadScope } from '../src/internal/index.js';
import { createBlindClient, createMemoryClient } from './memory-client.js';

const key = { namespace: 'default', name: 'a' };
const object: ConfigMap = { metadata: key, data: { a: '1' } };
const conflict = (): StatusError => new StatusError({ code: 409, reason: 'Conflict', message: 'changed' });

describe('ignoreNotFound and ignoreAlreadyExists', () => {
  it('make undefined of the one failure and pass the others', async () => {
    const client = createMemoryClient();
    expect(await ignoreNotFound(client.get(ConfigMap, key))).toBeUndefined();
    await client.create(ConfigMap, object);
    expect(await ignoreNotFound(client.get(ConfigMap, key))).toMatchObject({ data: { a: '1' } });
    expect(await ignoreAlreadyExists(client.create(ConfigMap, object))).toBeUndefined();
    await expect(ignoreNotFound(Promise.reject(conflict()))).rejects.toSatisfy(isConflict);
  });
});

describe('patches', () => {
  const read: ConfigMap = { metadata: { ...key, resourceVersion: '7' }, data: { a: '1' } };

  it('lock on the version that was read', () => {
    const modified = { ...read, metadata: { ...read.metadata, labels: { x: 'y' } } };
    expect(mergeFrom(read, modified)).toEqual({ type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
    expect(mergeFrom(read, modified, { optimisticLock: true })).toEqual({
      type: 'merge',
      body: { metadata: { labels: { x: 'y' }, resourceVersion: '7' } },
    });
    expect(() => mergeFrom(object, object, { optimisticLock: true })).toThrow('no resourceVersion');
  });

  it('know when they change nothing', () => {
    expect(isEmptyPatch(mergeFrom(read, read))).toBe(true);
    expect(isEmptyPatch(jsonPatchFrom(read, read))).toBe(true);
    expect(isEmptyPatch(jsonPatch({ op: 'test', path: '/a', value: 1 }))).toBe(true);
    expect(isEmptyPatch(jsonPatch({ op: 'remove', path: '/a' }))).toBe(false);
    expect(isEmptyPatch(mergePatch({ a: 1 }))).toBe(false);
    expect(isEmptyPatch({ type: 'apply', body: {} })).toBe(false);
  });
});

describe('createOrUpdate', () => {
  it('passes options on, and refuses a mutation of the name', async () => {
    const client = record(createMemoryClient());
    await createOrUpdate(client, ConfigMap, key, { mutate: () => undefined, fieldOwner: 'me' });
    expect(client.writes[0]?.options).toEqual({ fieldOwner: 'me' });
    const rename = (draft: ConfigMap): void => {
      draft.metadata.name = 'b';
    };
    await expect(createOrUpdate(client, ConfigMap, key, { mutate: rename })).rejects.toThrow(
      'must not change the name',
    );
    expect(client.writes).toHaveLength(1);
  });

  it('names a mutation that is none before it reads, and an object in place of the draft', async () => {
    const client = record(createMemoryClient());
    for (const options of [undefined, {}, () => undefined, { mutate: 5 }] as never[]) {
      await expect(createOrUpdate(client, ConfigMap, key, options)).rejects.toThrow(
        'createOrUpdate ConfigMap a: mutate is',
      );
      await expect(createOrPatch(client, ConfigMap, key, options)).rejects.toThrow(
        'createOrPatch ConfigMap a: mutate is',
      );
    }
    const copy = ((draft: ConfigMap) => ({ ...draft, data: { a: '1' } })) as never;
    await expect(createOrUpdate(client, ConfigMap, key, { mutate: copy })).rejects.toThrow(
      'mutate returned another object: change the draft',
    );
    expect(client.writes).toHaveLength(0);
    const short = ((draft: ConfigMap) => (draft.data = { a: '1' })) as never;
    expect((await createOrUpdate(client, ConfigMap, key, { mutate: short })).result).toBe('created');
  });

  it('gives a draft that may be changed, not what was read', async () => {
    const frozen = Object.freeze({
      ...object,
      metadata: Object.freeze({ ...key, resourceVersion: '1' }),
      data: Object.freeze({ a: '1' }),
    });
    const client = intercept(createMemoryClient(), () => ({
      get: async () => frozen as never,
      update: async (_kind, sent) => sent as never,
    }));
    const set = (draft: ConfigMap): void => {
      draft.data = { ...draft.data, b: '2' };
    };
    const { result, object: updated } = await createOrUpdate(client, ConfigMap, key, { mutate: set });
    expect([result, updated.data]).toEqual(['updated', { a: '1', b: '2' }]);
  });
});

describe('retryOnConflict', () => {
  it('repeats after conflicts with the delays of client-go', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const done = retryOnConflict(
      (attempt) => {
        times.push(clock.monotonicNow());
        if (attempt < 4) throw conflict();
        return 'written';
      },
      { backoff: defaultBackoff, clock, random: () => 0 },
    );
    await clock.advance(310);
    expect(await done).toBe('written');
    expect(times).toEqual([0, 10, 60, 310]);
  });

  it('gives up with the conflict after five attempts, and at once on any other failure', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const work = (): never => {
      attempts++;
      throw conflict();
    };
    const outcome = expect(retryOnConflict(work, { clock })).rejects.toSatisfy(isConflict);
    await clock.advance(1000);
    await outcome;
    expect(attempts).toBe(5);
    await expect(retryOnConflict(() => Promise.reject(new Error('broken')), { clock })).rejects.toThrow('broken');
    await expect(retryOnConflict(5 as never)).rejects.toThrow('retryOnConflict: the work is');
    await expect(retryOnConflict(work, { backOff: {} } as never)).rejects.toThrow('did you mean "backoff"?');
    for (const backoff of [{ initialMs: 10 }, { initialMs: 10, maxAttempts: 0 }, { maxAttempts: 1.5 }] as never[])
      await expect(retryOnConflict(work, { backoff, clock })).rejects.toThrow('backoff.maxAttempts');
    await expect(retryOnConflict(work, { backoff: 5 as never, clock })).rejects.toThrow('retryOnConflict: the options');
    const stopped = AbortSignal.abort(new Error('no longer wanted'));
    await expect(retryOnConflict(work, { clock, signal: stopped })).rejects.toThrow('no longer wanted');
    const endless = { ...defaultRetry, maxAttempts: Infinity };
    expect(await retryOnConflict((attempt) => attempt, { backoff: endless, clock })).toBe(1);
  });
});

describe('listWithin', () => {
  /** A client of which only the options of its lists are of interest. */
  const asked = async (options: ListOptions & { readonly scopes: readonly ReadScope[] }): Promise<ListOptions[]> => {
    const calls: ListOptions[] = [];
    const list = async <K extends Kind>(_kind: K, own: ListOptions = {}): Promise<KubeList<ReadObject<K>>> => {
      calls.push(own);
      return { metadata: {}, items: [] };
    };
    expect(await listWithin({ list }, ConfigMap, options)).toHaveLength(calls.length);
    return calls;
  };

  it('asks once for each scope, with the selectors of both', async () => {
    const scopes = [
      { namespace: 'a', labelSelector: { app: 'web' } },
      { fieldSelector: 'metadata.namespace!=a', labelSelector: '' },
    ];
    expect(await asked({ scopes, labelSelector: 'tier=front', fieldSelector: { 'metadata.name': 'x' } })).toEqual([
      { namespace: 'a', labelSelector: 'app=web,tier=front', fieldSelector: 'metadata.name=x' },
      { labelSelector: 'tier=front', fieldSelector: 'metadata.namespace!=a,metadata.name=x' },
    ]);
  });

  it('asks only for the scope that a namespace falls into, cut to it; none, where none covers it', async () => {
    const scopes = [{ namespace: 'a' }, { labelSelector: 'app=web' }];
    expect(await asked({ scopes, namespace: 'a' })).toEqual([{ namespace: 'a' }]);
    expect(await asked({ scopes, namespace: 'b' })).toEqual([{ namespace: 'b', labelSelector: 'app=web' }]);
    expect(await asked({ scopes: [{ namespace: 'a' }], namespace: 'b' })).toEqual([]);
    const list = async () => ({ metadata: {}, items: [] }) as never;
    const both = [{ labelSelector: 'a=b' }, { labelSelector: 'c=d' }];
    expect(await listWithin({ list }, Namespace, { scopes: both, namespace: 'a' })).toHaveLength(2);
    const many = Array.from({ length: 17 }, (_, index) => ({ namespace: `n${index}` }));
    expect(await asked({ scopes: many })).toEqual(many);
  });
});

describe('listAll', () => {
  it('misses nothing of a cached list, which is cut at the limit and has no next page', async () => {
    const all = ['a', 'b', 'c'].map((name) => ({ metadata: { name, namespace: 'default' } }));
    const cached: Reader = {
      get: () => Promise.reject(new Error('not asked for')),
      list: async <K extends Kind>(_kind: K, { limit = 0 }: ListOptions = {}) =>
        ({
          metadata: limit > 0 ? { remainingItemCount: all.length - limit } : {},
          items: limit > 0 ? all.slice(0, limit) : all,
        }) as unknown as KubeList<ReadObject<K>>,
    };
    const found: (string | undefined)[] = [];
    for await (const { metadata } of listAll(cached, ConfigMap, { pageSize: 1 })) found.push(metadata.name);
    expect(found).toEqual(['a', 'b', 'c']);
  });

  it('takes pages for what they are, with or without metadata, although more items remain', async () => {
    const pages = [
      { metadata: { continue: 'next', remainingItemCount: 1 }, items: [{ metadata: { name: 'a' } }] },
      { items: [{ metadata: { name: 'b' } }] },
    ];
    const reader = { list: async () => pages.shift() } as never;
    const found: (string | undefined)[] = [];
    for await (const { metadata } of listAll(reader, ConfigMap)) found.push(metadata.name);
    expect(found).toEqual(['a', 'b']);
  });

  const expired = (token: string): StatusError =>
    new StatusError({ code: 410, reason: 'Expired', message: 'too old', metadata: { continue: token } });

  async function withExpiry(token: string): Promise<Client> {
    const client = createMemoryClient();
    for (const name of ['a', 'b', 'c', 'd'])
      await client.create(ConfigMap, { metadata: { namespace: 'default', name } });
    let pages = 0;
    return intercept(client, (next) => ({
      list: (kind, options) => {
        if (++pages === 2) throw expired(token === 'same' ? (options?.continue ?? '') : token);
        return next.list(kind, { ...options, continue: (options?.continue ?? '').replace('later', '100') });
      },
    }));
  }

  const names = async (client: Client): Promise<string[]> => {
    const found = [];
    for await (const { metadata } of listAll(client, ConfigMap, {
      namespace: 'default',
      pageSize: 2,
      resourceVersion: '0',
    }))
      found.push(metadata.name ?? '');
    return found;
  };

  it('goes on where the server offers a way, without repeating an item', async () => {
    const client = record(await withExpiry('later|ConfigMap/default/b'));
    expect(await names(client)).toEqual(['a', 'b', 'c', 'd']);
    expect(client.calls.map(({ options }) => options)).toEqual([
      { namespace: 'default', limit: 2, resourceVersion: '0' },
      { namespace: 'default', limit: 2, continue: expect.stringMatching(/^\d+\|ConfigMap\/default\/b$/) as string },
      { namespace: 'default', limit: 2, continue: 'later|ConfigMap/default/b' },
    ]);
  });

  it('fails where there is none', async () => {
    for (const token of ['', 'same']) await expect(names(await withExpiry(token))).rejects.toThrow('too old');
  });

  it('fetches no page that nobody reads', async () => {
    const client = record(createMemoryClient());
    for (const name of ['a', 'b', 'c']) await client.create(ConfigMap, { metadata: { namespace: 'default', name } });
    client.clear();
    for await (const _item of listAll(client, ConfigMap, { pageSize: 1 })) break;
    expect(client.calls).toHaveLength(1);
  });
});

describe('guarded finalizers', () => {
  const finalizer = 'example.com/f';

  it('are not added to an object that is being deleted', async () => {
    const client = createMemoryClient();
    await client.create(ConfigMap, { ...object, metadata: { ...key, finalizers: ['example.com/other'] } });
    await client.delete(ConfigMap, key);
    const present = await client.get(ConfigMap, key);
    await expect(addFinalizer(client, ConfigMap, present, finalizer)).rejects.toSatisfy(isObjectDeleting);
  });

  it('leave another object of the same name alone', async () => {
    const client = record(createMemoryClient());
    const first = await client.create(ConfigMap, { ...object, metadata: { ...key, finalizers: [finalizer] } });
    await client.patch(ConfigMap, key, mergePatch({ metadata: { finalizers: null } }));
    await client.delete(ConfigMap, key);
    await client.create(ConfigMap, { ...object, metadata: { ...key, finalizers: [finalizer] } });
    expect(await removeFinalizer(client, ConfigMap, first, finalizer)).toBeUndefined();
    expect((await client.get(ConfigMap, key)).metadata.finalizers).toEqual([finalizer]);
    await expect(
      addFinalizer(client, ConfigMap, { ...first, metadata: { ...first.metadata, finalizers: [] } }, finalizer),
    ).rejects.toThrow('was replaced');
  });

  it('send nothing where there is nothing to do', async () => {
    const client = record(createMemoryClient());
    const created = await client.create(ConfigMap, object);
    client.clear();
    expect(await removeFinalizer(client, ConfigMap, created, finalizer)).toBe(created);
    expect(client.calls).toEqual([]);
  });

  it.each([
    [422, 'Invalid', 10],
    [409, 'Conflict', 10],
    [400, 'BadRequest', 10],
    [403, 'Forbidden', 1],
  ] as const)('give up after a %d, %s, at the attempt %d', async (code, reason, attempts) => {
    const memory = createMemoryClient();
    const created = await memory.create(ConfigMap, object);
    let patches = 0;
    const client = intercept(memory, () => ({
      patch: () => {
        patches++;
        throw new StatusError({ code, reason, message: 'test failed' });
      },
    }));
    await expect(addFinalizer(client, ConfigMap, created, finalizer)).rejects.toThrow('test failed');
    expect(patches).toBe(attempts);
  });
});

describe('waitFor', () => {
  const broken = async function* (): AsyncGenerator<never> {
    throw new Error('connection reset');
  };

  it('reads again when the watch breaks, is refused or ends, pausing in between', async () => {
    const clock = new FakeClock();
    const memory = createMemoryClient();
    let watches = 0;
    const hooks: Interceptor = {
      watch: async () => {
        watches++;
        if (watches === 1) throw new StatusError({ code: 403, reason: 'Forbidden', message: 'no watch' });
        return { [Symbol.asyncIterator]: broken, [Symbol.asyncDispose]: async () => undefined };
      },
    };
    const client = intercept(memory, () => hooks);
    const done = waitFor(client, ConfigMap, key, { until: (found) => found !== undefined, clock });
    await clock.advance(1500);
    await memory.create(ConfigMap, object);
    await clock.advance(10_000);
    expect(await done).toMatchObject({ data: { a: '1' } });
    expect(watches).toBeGreaterThanOrEqual(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lists and watches in the namespace of the object, and goes on after a bookmark', async () => {
    const memory = createMemoryClient();
    const scopes: unknown[] = [];
    const events = async function* (): AsyncGenerator<object> {
      yield { type: 'BOOKMARK', object: { ...object, data: { a: 'of a bookmark' } } };
      yield { type: 'MODIFIED', object: { ...object, data: { a: 'changed' } } };
    };
    const hooks: Interceptor = {
      list: async (kind, options) => {
        scopes.push(options?.namespace);
        return await memory.list(kind, options);
      },
      watch: async (_kind, options) => {
        scopes.push(options?.namespace);
        return { [Symbol.asyncIterator]: events, [Symbol.asyncDispose]: async () => undefined } as never;
      },
    };
    const client = intercept(memory, () => hooks);
    const seen: unknown[] = [];
    const until = (found: { readonly data?: unknown } | undefined): boolean =>
      seen.push(found?.data) > 0 && found !== undefined;
    expect(await waitFor(client, ConfigMap, key, { until })).toMatchObject({ data: { a: 'changed' } });
    expect(seen).not.toContainEqual({ a: 'of a bookmark' });
    expect(scopes).toEqual([key.namespace, key.namespace]);
  });

  it.each<[string, object]>([
    [
      'throws',
      {
        [Symbol.asyncDispose]: () => {
          throw new Error('cannot be left');
        },
      },
    ],
    ['rejects', { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot be left')) }],
    ['is not there', {}],
  ])('finds the object in a stream whose disposal %s', async (_how, disposal) => {
    const memory = createMemoryClient();
    const events = async function* (): AsyncGenerator<object> {
      yield { type: 'ADDED', object };
    };
    const stream = { [Symbol.asyncIterator]: events, ...disposal };
    const client = intercept(memory, () => ({ watch: async () => stream as never }));
    expect(await waitFor(client, ConfigMap, key, { until: exists() })).toEqual(object);
  });

  it('polls with a client that cannot watch', async () => {
    const clock = new FakeClock();
    const client = createBlindClient();
    const done = waitFor(client, ConfigMap, key, { until: (found) => found !== undefined, intervalMs: 100, clock });
    await clock.advance(250);
    await client.create(ConfigMap, object);
    await clock.advance(100);
    expect((await done)?.metadata.name).toBe('a');
    expect(clock.monotonicNow()).toBe(350);
  });

  it('ends at the timeout and on abort, with the watch closed', async () => {
    const clock = new FakeClock();
    let open = 0;
    const memory = createMemoryClient();
    const client = intercept(memory, (next) => ({
      watch: async (kind, options) => {
        const stream = await next.watch(kind, options);
        open++;
        return {
          [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
          [Symbol.asyncDispose]: async () => {
            open--;
            await stream[Symbol.asyncDispose]();
          },
        };
      },
    }));
    const late = waitFor(client, ConfigMap, key, { until: () => false, timeoutMs: 5000, clock });
    const outcome = expect(late).rejects.toSatisfy(isDeadlineExceeded);
    await clock.advance(4000);
    expect(open).toBe(1);
    await clock.advance(1000);
    await outcome;
    await clock.advance(0);
    expect([open, clock.pendingTimers]).toEqual([0, 0]);
    const controller = new AbortController();
    const aborted = waitFor(client, ConfigMap, key, { until: () => false, clock, signal: controller.signal });
    await clock.advance(10);
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await clock.advance(0);
    expect(open).toBe(0);
  });

  it('passes on what the condition throws', async () => {
    const until = (): never => {
      throw new Error('wrong question');
    };
    await expect(waitFor(createMemoryClient(), ConfigMap, key, { until })).rejects.toThrow('wrong question');
  });

  it.each([
    [{}, 'waitFor ConfigMap: until is not set: expected a function, such as exists()'],
    [{ until: exists(), deleted: true }, 'waitFor ConfigMap: until and deleted are set: set one'],
    [{ deleted: false }, 'waitFor ConfigMap: deleted is not true'],
    [{ created: false }, 'waitFor ConfigMap: created is not true'],
    [{ condition: '' }, 'waitFor ConfigMap: condition "" is not valid'],
    [{ jsonPath: '=Running' }, 'waitFor ConfigMap: jsonPath "=Running" is not valid: it has no path'],
    [{ jsonPath: '{.a[}=1' }, 'waitFor ConfigMap: jsonPath "{.a[}=1" is not valid: unterminated array'],
    [{ until: exists(), timeoutms: 5 }, 'waitFor: unknown option "timeoutms"'],
    [{ until: exists(), timeoutMs: NaN }, 'waitFor ConfigMap: timeoutMs NaN is not valid'],
    [{ until: exists(), intervalMs: -1 }, 'waitFor ConfigMap: intervalMs -1 is not valid'],
  ])('refuses %o', async (options, problem) => {
    await expect(waitFor(createMemoryClient(), ConfigMap, key, options as never)).rejects.toThrow(problem);
  });

  it('waits longer from one watch that ends at once to the next, up to 30 s or its interval', async () => {
    for (const [intervalMs, last, atLeast, atMost] of [
      [1_000, undefined, 8, 15],
      [60_000, undefined, 2, 3],
      [1_000, { type: 'BOOKMARK' }, 90, 130],
    ] as const) {
      const clock = new FakeClock();
      let watches = 0;
      const events = async function* () {
        if (last !== undefined) yield last;
        return { type: 'MODIFIED', object };
      };
      const watch = async () => (
        watches++, { [Symbol.asyncIterator]: events, [Symbol.asyncDispose]: async () => undefined } as never
      );
      const client = intercept(createMemoryClient(), () => ({ watch }));
      const late = waitFor(client, ConfigMap, key, { until: exists(), timeoutMs: 110_000, intervalMs, clock });
      const outcome = expect(late).rejects.toThrow('ConfigMap a was not as wanted within 110000 ms');
      for (let step = 0; step < 110; step++) await clock.advance(1_000);
      await outcome;
      expect(watches).toBeGreaterThanOrEqual(atLeast);
      expect(watches).toBeLessThanOrEqual(atMost);
    }
  });

  it('lists an object at its place alone, and reads again with a client whose watch is not a function', async () => {
    const client = record(createMemoryClient());
    await client.create(ConfigMap, object);
    client.clear();
    await waitFor(client, ConfigMap, key, { until: exists() });
    await waitFor(client, Namespace, { name: 'default' }, { until: exists() });
    expect(client.calls.map(({ verb, options = {} }) => [verb, 'namespace' in options])).toEqual([
      ['list', true],
      ['list', false],
    ]);
    const blind = { ...createBlindClient(), watch: 5 } as never;
    expect(await waitFor(blind, Namespace, { name: 'default' }, { until: exists() })).toBeDefined();
  });

  it('refuses to wait for an object without a key', async () => {
    const call = waitFor(createMemoryClient(), ConfigMap, undefined as never, { until: exists() });
    await expect(call).rejects.toThrow('waitFor ConfigMap: the key is undefined: expected { namespace, name }');
  });

  it('looks for an object of a namespaced kind in no namespace but that of the client', async () => {
    const memory = createMemoryClient();
    await memory.create(ConfigMap, object);
    const named = { name: 'a' } as never;
    const client = record(memory);
    await expect(waitFor(client, ConfigMap, named, { until: exists() })).rejects.toThrow('namespace is not set');
    expect(client.calls).toMatchObject([{ verb: 'get', options: { live: true } }]);
    const found = await waitFor(inNamespace(memory, 'default'), ConfigMap, named, { until: exists() });
    expect(found?.metadata.namespace).toBe('default');
    const elsewhere = waitFor(inNamespace(memory, 'other'), ConfigMap, named, { until: isDeleted() });
    expect(await elsewhere).toBeUndefined();
  });
});

describe('conditions', () => {
  const at = (generation: number, status: object, spec: object = {}): object => ({
    metadata: { name: 'x', generation, uid: 'u' },
    spec,
    status,
  });

  it('count only what was computed from the present generation', () => {
    const condition = { type: 'Ready', status: 'True' };
    expect(hasCondition('Ready')(at(2, { conditions: [{ ...condition, observedGeneration: 2 }] }))).toBe(true);
    expect(hasCondition('Ready')(at(3, { conditions: [{ ...condition, observedGeneration: 2 }] }))).toBe(false);
    expect(hasCondition('Ready')(at(3, { observedGeneration: 2, conditions: [condition] }))).toBe(false);
    expect(hasCondition('Ready')(at(3, { conditions: [condition] }))).toBe(true);
    expect(hasCondition('Ready', 'False')(at(1, { conditions: [{ ...condition, status: 'False' }] }))).toBe(true);
    expect(hasCondition('Ready')(undefined)).toBe(false);
  });

  it('tell the end of one object from the beginning of the next', () => {
    expect([isDeleted()(undefined), isDeleted()(at(1, {}))]).toEqual([true, false]);
    expect([isDeleted('u')(at(1, {})), isDeleted('other')(at(1, {}))]).toEqual([false, true]);
  });

  it.each([
    ['a ConfigMap', at(1, {}), 'ready'],
    [
      'a stale status',
      at(2, { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, { replicas: 1 }),
      'progressing',
    ],
    ['a Deployment before its controller saw it', at(1, {}, { replicas: 2 }), 'progressing'],
    [
      'a Deployment in the middle',
      at(1, { observedGeneration: 1, replicas: 3, updatedReplicas: 2, availableReplicas: 3 }, { replicas: 3 }),
      'progressing',
    ],
    [
      'a Deployment with old pods',
      at(1, { observedGeneration: 1, replicas: 4, updatedReplicas: 3, availableReplicas: 3 }, { replicas: 3 }),
      'progressing',
    ],
    [
      'a Deployment that is done',
      at(1, { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }, { replicas: 3 }),
      'ready',
    ],
    ['a Deployment of none', at(1, { observedGeneration: 1 }, { replicas: 0 }), 'ready'],
    [
      'a Deployment out of time',
      at(
        1,
        {
          observedGeneration: 1,
          conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
        },
        { replicas: 1 },
      ),
      'failed',
    ],
    ['a DaemonSet', at(1, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 }), 'progressing'],
    [
      'a DaemonSet that is done',
      at(1, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }),
      'ready',
    ],
    ['a pending Pod', at(1, { phase: 'Pending' }), 'progressing'],
    [
      'a Pod that runs and is not ready',
      at(1, { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }),
      'progressing',
    ],
    ['a failed Pod', at(1, { phase: 'Failed', reason: 'Evicted' }), 'failed'],
    ['a complete Job', at(1, { conditions: [{ type: 'Complete', status: 'True' }] }), 'ready'],
    [
      'a failed Job',
      at(1, { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] }),
      'failed',
    ],
    ['a bound claim', at(1, { phase: 'Bound' }), 'ready'],
    [
      'a custom resource at work',
      at(1, {
        conditions: [
          { type: 'Reconciling', status: 'True' },
          { type: 'Ready', status: 'True' },
        ],
      }),
      'progressing',
    ],
    ['a definition', at(1, { conditions: [{ type: 'Established', status: 'True' }] }), 'ready'],
    [
      'a custom resource that counts no replicas',
      { apiVersion: 'example.com/v1', ...at(1, { conditions: [{ type: 'Ready', status: 'True' }] }, { replicas: 2 }) },
      'ready',
    ],
    [
      'a custom resource that counts no replicas and is not ready',
      { apiVersion: 'example.com/v1', ...at(1, { conditions: [{ type: 'Ready', status: 'False' }] }, { replicas: 2 }) },
      'progressing',
    ],
    [
      'a custom resource that counts them',
      {
        apiVersion: 'example.com/v1',
        ...at(1, { readyReplicas: 1, conditions: [{ type: 'Ready', status: 'True' }] }, { replicas: 2 }),
      },
      'progressing',
    ],
    [
      'a Deployment without a pod',
      { apiVersion: 'apps/v1', ...at(1, { conditions: [{ type: 'Available', status: 'True' }] }, { replicas: 2 }) },
      'progressing',
    ],
  ])('%s is as far as it is', (_name, subject, state) => {
    expect(readiness(subject).state).toBe(state);
    expect(isReady()(subject)).toBe(state === 'ready');
  });

  it('call an object that is being deleted unfinished', () => {
    expect(readiness({ metadata: { deletionTimestamp: 'now' } })).toMatchObject({
      state: 'progressing',
      reason: 'Terminating',
    });
  });
});

describe('listAll with pages ahead', () => {
  /** A client with five objects, and how it is asked for pages. */
  async function counted(fail = Infinity) {
    const memory = createMemoryClient();
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await memory.create(ConfigMap, { metadata: { namespace: 'default', name } });
    const asked = { pages: 0, atOnce: 0, most: 0, signals: [] as (AbortSignal | undefined)[] };
    const client = intercept(memory, (next) => ({
      list: async (kind, options) => {
        asked.signals.push(options?.signal);
        asked.most = Math.max(asked.most, ++asked.atOnce);
        if (++asked.pages === fail) throw conflict();
        const page = await next.list(kind, options);
        asked.atOnce--;
        return page;
      },
    }));
    return { client, asked };
  }
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  };

  it('fetches them one after the other, no more than it may, and in order', async () => {
    const { client, asked } = await counted();
    const found = listAll(client, ConfigMap, { pageSize: 1, pagesAhead: 2 });
    const names = [(await found.next()).value?.metadata.name];
    await settled();
    expect(asked).toMatchObject({ pages: 3, most: 1 });
    for await (const { metadata } of found) names.push(metadata.name);
    expect([names, asked.pages]).toEqual([['a', 'b', 'c', 'd', 'e'], 5]);
  });

  it('hands out what came before a failure, and ends what is on its way when the loop is left', async () => {
    const failing = await counted(3);
    const names: (string | undefined)[] = [];
    const all = async (): Promise<void> => {
      for await (const { metadata } of listAll(failing.client, ConfigMap, { pageSize: 1, pagesAhead: 5 }))
        names.push(metadata.name);
    };
    await expect(all()).rejects.toSatisfy(isConflict);
    expect(names).toEqual(['a', 'b']);
    const { client, asked } = await counted();
    for await (const _first of listAll(client, ConfigMap, { pageSize: 1, pagesAhead: 1 })) break;
    await settled();
    expect(asked.signals.every((signal) => signal?.aborted === true)).toBe(true);
    expect(asked.pages).toBeLessThan(4);
    await expect(listAll(client, ConfigMap, { pagesAhead: -1 }).next()).rejects.toThrow('pagesAhead -1 is not valid');
  });
});

describe('listAll with a page size that is none', () => {
  it('is refused', async () => {
    const pages = listAll(createMemoryClient(), ConfigMap, { pageSize: -1 });
    await expect(pages.next()).rejects.toThrow(
      'listAll: pageSize -1 is not valid: expected an integer ≥ 0; 0 asks for',
    );
  });
});
