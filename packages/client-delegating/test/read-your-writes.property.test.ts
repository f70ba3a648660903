import { isNotFound, StatusError } from '@kctl/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import type { DelegatingClient } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const names = ['a', 'b'];

/** What the cache does in the middle of a read, after so many microtasks. */
interface Meanwhile {
  readonly ticks: number;
  readonly what: 'deliver' | 'relist' | 'repeat' | 'foreign' | 'own';
}

type Step =
  | {
      readonly type:
        | 'create'
        | 'hold'
        | 'release'
        | 'loosen'
        | 'update'
        | 'status'
        | 'scale'
        | 'delete'
        | 'foreignUpdate'
        | 'foreignDelete'
        | 'get';
      readonly name: string;
      readonly fault?: 'before' | 'after' | 'refused' | undefined;
      readonly meanwhile?: Meanwhile | undefined;
    }
  | { readonly type: 'deliver'; readonly count: number }
  | { readonly type: 'list' | 'listOdd'; readonly meanwhile?: Meanwhile | undefined }
  | { readonly type: 'repeat' | 'relist' | 'deleteAll' | 'deleteListed' | 'cache' | 'uncache' };

const name = fc.constantFrom(...names);
const fault = fc.option(fc.constantFrom('before' as const, 'after' as const, 'refused' as const), {
  nil: undefined,
  freq: 5,
});
const meanwhile = fc.option(
  fc.record({
    ticks: fc.nat({ max: 25 }),
    what: fc.constantFrom('deliver' as const, 'relist' as const, 'repeat' as const, 'foreign' as const, 'own' as const),
  }),
  { nil: undefined },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'create' as const,
        'hold' as const,
        'release' as const,
        'loosen' as const,
        'update' as const,
        'status' as const,
        'scale' as const,
        'delete' as const,
      ),
      name,
      fault,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('foreignUpdate' as const, 'foreignDelete' as const), name }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('get' as const), name, meanwhile }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('list' as const, 'listOdd' as const), meanwhile }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('repeat' as const, 'relist' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('deleteAll' as const, 'deleteListed' as const, 'cache' as const, 'uncache' as const),
    }),
  },
);

const how = fc.record({
  peeks: fc.boolean(),
  delay: fc.constantFrom(0, 0, 4, 20),
  isHeld: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

/** Follows what the client may still say of each key: nothing older than what it wrote or said before. */
class Oracle {
  readonly #server: ModelServer;
  readonly #wrote = new Map<string, number>();
  readonly #read = new Map<string, number>();

  constructor(server: ModelServer) {
    this.#server = server;
  }

  /**
   * A cache that begins only now may be older than what the server itself said before of somebody else's writes. Own
   * writes are never forgotten.
   */
  forgetReads(): void {
    this.#read.clear();
  }

  #since(key: string): number {
    return Math.max(this.#wrote.get(key) ?? 0, this.#read.get(key) ?? 0);
  }

  /** What a read that begins now may not go back behind: own writes that end later are not known to it. */
  begin(): ReadonlyMap<string, number> {
    return new Map(names.map((name) => [`ns/${name}`, this.#since(`ns/${name}`)]));
  }

  /** The client was told of a write that is in force since this version. */
  wrote(key: string): void {
    this.#wrote.set(key, Math.max(this.#wrote.get(key) ?? 0, this.#server.version));
  }

  /** Whether some state of the object, not older than what was seen, is what was read; it then is the oldest allowed. */
  read(key: string, object: Thing | undefined, begun: ReadonlyMap<string, number>): void {
    const since = begun.get(key) ?? 0;
    const states = [{ version: 0, object: undefined }, ...(this.#server.history.get(key) ?? [])];
    const allowed = states.filter((_, index) => (states[index + 1]?.version ?? Number.POSITIVE_INFINITY) > since);
    const match = allowed.find((state) => state.object?.metadata.resourceVersion === object?.metadata.resourceVersion);
    expect(
      match,
      `${key}: read ${object?.metadata.resourceVersion ?? 'nothing'}, but since ${since} it was ${allowed.map((state) => state.object?.metadata.resourceVersion ?? 'gone').join(', ')}`,
    ).toBeDefined();
    this.#read.set(key, Math.max(this.#read.get(key) ?? 0, since, match?.version ?? 0));
  }

  /** As {@link read}, for a list with a selector: an object that is not listed did not match, or was not there. */
  readUnlisted(key: string, matches: (object: Thing) => boolean, begun: ReadonlyMap<string, number>): void {
    const since = begun.get(key) ?? 0;
    const states = [{ version: 0, object: undefined }, ...(this.#server.history.get(key) ?? [])];
    const allowed = states.filter((_, index) => (states[index + 1]?.version ?? Number.POSITIVE_INFINITY) > since);
    const match = allowed.find((state) => state.object === undefined || !matches(state.object));
    expect(match, `${key}: not listed, but since ${since} it was there and matched`).toBeDefined();
  }
}

const broken = (): Error => Object.assign(new Error('broken'), { maybeSent: true });
const odd = (object: Thing): boolean => object.metadata.labels?.['odd'] === 'yes';

/** `peeks`: whether the cache answers at once where it can, as ours does. `delay`: of the answers to questions. `isHeld`: an object is being deleted at the start. */
async function run(
  steps: readonly Step[],
  mode: 'overlay' | 'barrier',
  { peeks, delay, isHeld }: { readonly peeks: boolean; readonly delay: number; readonly isHeld: boolean },
): Promise<void> {
  const server = new ModelServer();
  server.delay = delay;
  const cache = new LaggingCache(server);
  if (!peeks) cache.peek = undefined;
  const client = createDelegatingClient({ cache, client: modelClient(server), readYourWrites: mode });
  const oracle = new Oracle(server);
  let size = 0;
  /** Whether a write was sent that only the cache's own progress settles. */
  let mayWait = false;
  const next = (name: string): Thing =>
    thing(name, {
      spec: { size: ++size },
      metadata: { name, namespace: 'ns', ...(size % 2 === 1 ? { labels: { odd: 'yes' } } : {}) },
    });
  /** A barrier waits for the watch, and so does a read after a deleteAllOf: it must move. */
  const moving = async <T>(read: Promise<T>, meanwhile: Meanwhile | undefined): Promise<T> => {
    const happening = meanwhile === undefined ? undefined : happen(meanwhile);
    try {
      return await moved(read);
    } finally {
      await happening;
    }
  };
  const moved = async <T>(read: Promise<T>): Promise<T> => {
    if (mode === 'overlay' && !mayWait) return read;
    let isDone = false;
    void read.catch(() => undefined).finally(() => (isDone = true));
    for (let turn = 0; turn < 20 && !isDone; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (!isDone) cache.deliver();
    return read;
  };
  const happen = async ({ ticks, what }: Meanwhile): Promise<void> => {
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    if (what === 'deliver') cache.deliver(1);
    else if (what === 'relist') cache.relist();
    else if (what === 'repeat') cache.repeat();
    else if (what === 'own') await write(client, { type: server.objects.has('ns/a') ? 'update' : 'create', name: 'a' });
    else {
      server.put(next('a'), !server.objects.has('ns/a'));
      cache.deliver();
    }
  };
  if (isHeld)
    for (const type of ['hold', 'delete'] as const) {
      await play({ type, name: 'a' });
      cache.deliver();
    }
  for (const current of steps) await play(current);
  cache.shapes = ['full'];
  oracle.forgetReads();
  cache.deliver();
  await play({ type: 'list' });
  for (const name of names) await play({ type: 'get', name });
  await play({ type: 'list' });
  expect(client.pendingWrites).toBeLessThanOrEqual(names.length);

  async function play(current: Step): Promise<void> {
    switch (current.type) {
      case 'deliver': {
        cache.deliver(current.count);
        return;
      }
      case 'repeat': {
        cache.repeat();
        return;
      }
      case 'relist': {
        cache.relist();
        return;
      }
      case 'cache':
      case 'uncache': {
        cache.shapes = current.type === 'cache' ? ['full'] : [];
        if (current.type === 'cache') oracle.forgetReads();
        mayWait = true;
        return;
      }
      case 'deleteAll': {
        mayWait = true;
        await client.deleteAllOf(Thing, { namespace: 'ns' });
        for (const name of names) oracle.wrote(`ns/${name}`);
        return;
      }
      case 'deleteListed': {
        server.listsDeleted = true;
        await client.deleteAllOf(Thing, { namespace: 'ns' });
        server.listsDeleted = false;
        for (const name of names) oracle.wrote(`ns/${name}`);
        return;
      }
      case 'list': {
        const begun = oracle.begin();
        const { items } = await moving(client.list(Thing, { namespace: 'ns' }), current.meanwhile);
        expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(items.length);
        for (const name of names)
          oracle.read(`ns/${name}`, items.find(({ metadata }) => metadata.name === name) as Thing | undefined, begun);
        return;
      }
      case 'listOdd': {
        const begun = oracle.begin();
        const { items } = await moving(client.list(Thing, { labelSelector: 'odd=yes' }), current.meanwhile);
        for (const name of names) {
          const item = items.find(({ metadata }) => metadata.name === name) as Thing | undefined;
          if (item === undefined) oracle.readUnlisted(`ns/${name}`, odd, begun);
          else oracle.read(`ns/${name}`, item, begun);
        }
        return;
      }
      case 'get': {
        const begun = oracle.begin();
        const object = await moving(
          client.get(Thing, { namespace: 'ns', name: current.name }),
          current.meanwhile,
        ).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
        oracle.read(`ns/${current.name}`, object as Thing | undefined, begun);
        return;
      }
      case 'foreignUpdate':
        server.put(next(current.name), !server.objects.has(`ns/${current.name}`));
        return;
      case 'foreignDelete':
        if (server.objects.has(`ns/${current.name}`)) server.remove(`ns/${current.name}`);
        return;
      default:
        return write(client, current);
    }
  }

  async function write(target: DelegatingClient, current: Extract<Step, { name: string }>): Promise<void> {
    const { name, type } = current;
    if (current.fault === 'refused')
      server.fault = { when: 'before', error: new StatusError({ code: 409, reason: 'Conflict' }) };
    else if (current.fault !== undefined) server.fault = { when: current.fault, error: broken() };
    const before = server.version;
    try {
      await send(target, type, name);
    } catch {
      server.fault = undefined;
    }
    // A lost answer counts as well: the read after it must show what became of the write.
    if (server.version > before) oracle.wrote(`ns/${name}`);
  }

  /** The metadata of what is there, without its finalizer. */
  function released(name: string): Thing['metadata'] {
    const { finalizers: _removed, ...metadata } = server.objects.get(`ns/${name}`)?.metadata ?? { name };
    return metadata;
  }

  /** With the first of its finalizers alone. */
  function loosened(name: string): Thing['metadata'] {
    const metadata = server.objects.get(`ns/${name}`)?.metadata ?? { name };
    return { ...metadata, finalizers: (metadata.finalizers ?? []).slice(0, 1) };
  }

  async function send(target: DelegatingClient, type: Step['type'], name: string): Promise<unknown> {
    const key = { namespace: 'ns', name };
    const { metadata, spec } = next(name);
    switch (type) {
      case 'create':
        return target.create(Thing, { metadata, ...(spec === undefined ? {} : { spec }) });
      case 'hold':
        return target.create(Thing, { metadata: { ...metadata, finalizers: ['example.com/x', 'example.com/y'] } });
      case 'loosen':
        return target.patch(Thing, key, { type: 'merge', body: { metadata: loosened(name) } });
      case 'release':
        return target.patch(Thing, key, { type: 'merge', body: { metadata: released(name) } });
      case 'update':
        return target.update(Thing, { metadata, ...(spec === undefined ? {} : { spec }) });
      case 'status':
        return target.status(Thing).patch(key, { type: 'merge', body: { status: { ready: size } } });
      case 'scale':
        return target
          .subResource<typeof Thing, { spec: { size: number } }>(Thing, 'scale')
          .update(key, { spec: { size } });
      default:
        return target.delete(Thing, key);
    }
  }
}

describe('read-your-own-writes, for any order of writes, delays, repetitions and relists', () => {
  it('an overlaid read never goes back in time, never misses an own create, never shows an own delete', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), how, (steps, given) =>
        run(steps, 'overlay', given),
      ),
      { numRuns: 2000 },
    );
  });

  it('neither does one that waits for the cache', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), how, (steps, given) =>
        run(steps, 'barrier', given),
      ),
      { numRuns: 400 },
    );
  });
});
