// A delegating client over a real cache, of a server in memory whose feeds lag as the generator wants. The model: what the
// server holds restricted to the scope of the cache, never older than own writes, nor than what was read before.
import { isAlreadyExists, isConflict, isNotFound, metadataOnly, stripped } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { createCache } from '@kctl/cache';
import type { Cache } from '@kctl/cache';
import { ownerIndex } from '@kctl/cache-index';
import type { ListOptions } from '@kctl/client';
import { createDelegatingClient } from '@kctl/client-delegating';
import type { DelegatingClient } from '@kctl/client-delegating';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScopeServer, selects, Thing } from './scope-model.js';
import type { State } from './scope-model.js';

const runs = Number(process.env['KCTL_RUNS'] ?? '400');
const seed = process.env['KCTL_SEED'] === undefined ? {} : { seed: Number(process.env['KCTL_SEED']) };

const Lean = stripped(Thing);
const Meta = metadataOnly(Thing);
type Store = 'primary' | 'metadata';

interface Setup {
  /** Of the three that there are; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly isStripped: boolean;
  readonly mode: 'overlay' | 'barrier';
  readonly answersCollections: boolean;
}

const setups: fc.Arbitrary<Setup> = fc.record({
  namespaces: fc.constantFrom(undefined, ['a'], ['a', 'b']),
  labelSelector: fc.constantFrom(undefined, 'app=web'),
  fieldSelector: fc.constantFrom(undefined, undefined, 'spec.node=n1'),
  isStripped: fc.boolean(),
  mode: fc.constantFrom('overlay' as const, 'overlay' as const, 'barrier' as const),
  answersCollections: fc.constantFrom(true, true, false),
});

const place = { namespace: fc.constantFrom('a', 'a', 'a', 'b', 'c'), name: fc.constantFrom('g-0', 'g-1') };
const content = {
  node: fc.constantFrom('n1', 'n1', 'n2'),
  color: fc.constantFrom('red', 'blue'),
  tags: fc.constantFrom([], ['s'], ['s', 't']),
  owner: fc.constantFrom('o1', 'o2'),
  app: fc.constantFrom('web', 'web', 'db'),
};
const fault = fc.option(fc.constantFrom('before' as const, 'after' as const), { nil: undefined, freq: 6 });
const store = fc.constantFrom('primary' as const, 'primary' as const, 'metadata' as const);
const indexes = [
  undefined,
  { tag: 's' },
  { tag: 't' },
  { 'spec.color': 'red' },
  { owner: 'o1' },
  { owner: 'o1', tag: 's' },
] as const;

const steps = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('create' as const), ...place, ...content, fault }) },
  // From what the client reads: it conflicts where that is not what the server has.
  { weight: 3, arbitrary: fc.record({ type: fc.constant('update' as const), ...place, ...content, fault }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('patch' as const), ...place, ...content, fault }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), ...place, fault }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('generate' as const), ...place, ...content, fault }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('deleteAll' as const), ...place, app: fc.constantFrom(undefined, 'web') }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('foreignPut' as const), ...place, ...content }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('foreignDelete' as const), ...place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('deliver' as const),
      feed: fc.nat(3),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('get' as const), ...place, store }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('list' as const),
      store,
      within: fc.constantFrom(undefined, undefined, 'a', 'b'),
      labels: fc.constantFrom(undefined, undefined, 'app=web', 'app!=web'),
      index: fc.constantFrom(...indexes),
    }),
  },
);
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;
type Content = Pick<
  Extract<Step, { type: 'create' }>,
  'namespace' | 'name' | 'node' | 'color' | 'tags' | 'owner' | 'app'
>;

const keys = ['a', 'b', 'c'].flatMap((namespace) => ['g-0', 'g-1'].map((name) => ({ namespace, name })));
const thingOf = ({ namespace, name, node, color, tags, owner, app }: Content): Thing => ({
  metadata: {
    namespace,
    name,
    labels: { app },
    ownerReferences: [{ apiVersion: 'v1', kind: 'O', name: 'o', uid: owner }],
  },
  spec: { node, color, tags: [...tags], secret: 'hidden' },
});

/** How an index is meant, in words of its own. */
const indexed: Readonly<Record<string, (object: Thing, value: string) => boolean>> = {
  tag: ({ spec }, value) => spec?.tags?.includes(value) === true,
  'spec.color': ({ spec }, value) => spec?.color === value,
  owner: ({ metadata }, value) => metadata.ownerReferences?.some(({ uid }) => uid === value) === true,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const broken = (): Error => Object.assign(new Error('connection reset'), { maybeSent: true });

class World implements AsyncDisposable {
  readonly server = new ScopeServer();
  readonly setup: Setup;
  readonly cache: Cache;
  readonly client: DelegatingClient;
  readonly primary: Kind<Thing, 'Namespaced'>;
  readonly #stop = new AbortController();
  #run: Promise<void> | undefined;
  /** Since when each key must be shown: own writes for all stores, what was read for the one that said it. */
  readonly #since = new Map<string, number>();
  /** Whether only the progress of the cache settles what was written. */
  #mayWait = false;

  constructor(setup: Setup) {
    const { server } = this;
    const { namespaces, labelSelector, fieldSelector, isStripped } = setup;
    this.setup = setup;
    server.answersCollections = setup.answersCollections;
    this.primary = isStripped ? Lean : Thing;
    const limits = {
      ...(namespaces === undefined ? {} : { namespaces: Object.fromEntries(namespaces.map((name) => [name, {}])) }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    const transform = ({ spec, ...rest }: Thing): Thing => {
      const { secret: _secret, ...kept } = spec ?? {};
      return { ...rest, spec: kept };
    };
    this.cache = createCache({
      client: {} as never,
      listerWatcherFor: (kind, scope) => server.listerWatcherFor(kind, scope),
      byObject: [isStripped ? { kind: Lean, ...limits, transform: transform } : { kind: Thing, ...limits }],
    });
    this.cache.addIndex(this.primary, 'tag', (object) => (object as DeepReadonly<Thing>).spec?.tags ?? []);
    this.cache.addIndex(this.primary, 'spec.color', { path: 'spec.color' });
    this.cache.addIndex(this.primary, 'owner', ownerIndex);
    this.cache.addIndex(Meta, 'owner', ownerIndex);
    const readYourWrites = setup.mode;
    this.client = createDelegatingClient({
      cache: this.cache,
      client: server.client(),
      readYourWrites,
      barrierTimeoutMs: 0,
    });
  }

  async start(): Promise<this> {
    this.#run = this.cache.run(this.#stop.signal);
    await this.cache.waitForSync();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }

  async play(step: Step): Promise<void> {
    const { server } = this;
    switch (step.type) {
      case 'foreignPut':
        server.put(thingOf(step));
        return;
      case 'foreignDelete':
        if (server.objects.has(`${step.namespace}/${step.name}`)) server.remove(`${step.namespace}/${step.name}`);
        return;
      case 'deliver': {
        const feed = server.feeds[step.feed % server.feeds.length];
        feed?.deliver(step.count);
        await this.#followed();
        return;
      }
      case 'get':
        await this.get(step.store, step);
        return;
      case 'list':
        await this.list(step);
        return;
      default:
        await this.#write(step);
    }
  }

  /** All that there is reaches the cache. */
  async finish(): Promise<void> {
    for (const feed of this.server.feeds) feed.catchUp();
    await this.#followed();
    for (const at of ['primary', 'metadata'] as const) await this.list({ store: at });
    for (const key of keys) await this.get('primary', key);
    const requests = this.server.requests.length;
    const { items } = await this.client.list(this.primary);
    const expected = [...this.server.objects.values()].filter((object) => this.#isHeld(object));
    expect(versionsOf(items)).toEqual(versionsOf(expected));
    expect(this.server.requests.length, 'requests of a cache that has caught up').toBe(requests);
    expect(this.client.pendingWrites).toBe(0);
  }

  async #followed(): Promise<void> {
    for (const { kind, scope, told } of this.server.feeds) {
      const version = (): number => Number(this.cache.resourceVersionOf(kind, scope.namespace));
      for (let turns = 0; version() < told && turns < 500; turns++) await turn();
    }
    // What was queued for a feed is told when it is asked for.
    for (let turns = 0; turns < 3; turns++) await turn();
    for (const { kind, scope, told } of this.server.feeds)
      for (let turns = 0; Number(this.cache.resourceVersionOf(kind, scope.namespace)) < told && turns < 500; turns++)
        await turn();
  }

  #isHeld(object: Thing): boolean {
    const { namespaces, labelSelector = '', fieldSelector = '' } = this.setup;
    const { namespace = '' } = object.metadata;
    return (namespaces?.includes(namespace) ?? true) && selects(object, { labelSelector, fieldSelector });
  }

  #isCovered(namespace: string | undefined): boolean {
    return namespace === undefined || (this.setup.namespaces?.includes(namespace) ?? true);
  }

  /** What a store may still show of a key: its state at or after the last one that it must not go back behind. */
  #allowed(at: Store, key: string): { readonly states: readonly State[]; readonly since: number } {
    const since = Math.max(this.#since.get(key) ?? 0, this.#since.get(`${at} ${key}`) ?? 0);
    const states = [{ version: 0, object: undefined }, ...(this.server.history.get(key) ?? [])];
    return {
      since,
      states: states.filter((_, index) => (states[index + 1]?.version ?? Number.POSITIVE_INFINITY) > since),
    };
  }

  /** Checks what was shown of a key; `isShown` is what the model would show of a state. */
  #check(
    at: Store,
    key: string,
    found: DeepReadonly<KubeObject> | undefined,
    isShown: (object: Thing) => boolean,
  ): void {
    const { states, since } = this.#allowed(at, key);
    const seen = (state: State): string =>
      state.object !== undefined && isShown(state.object) ? (state.object.metadata.resourceVersion ?? '') : 'nothing';
    const match = states.find((state) => seen(state) === (found?.metadata.resourceVersion ?? 'nothing'));
    expect(
      match,
      `${at} ${key}: ${found?.metadata.resourceVersion ?? 'nothing'} was read, since ${since} it was ${states.map(seen).join(', ')}`,
    ).toBeDefined();
    if (match !== undefined) this.#since.set(`${at} ${key}`, Math.max(since, match.version));
    if (found !== undefined && at === 'primary' && this.setup.isStripped)
      expect(found).not.toHaveProperty('spec.secret');
    if (found !== undefined && at === 'metadata') expect(found).not.toHaveProperty('spec');
  }

  #kindOf(at: Store): Kind<Thing, 'Namespaced'> {
    return at === 'primary' ? this.primary : Meta;
  }

  /** A read does not wait for a cache that nothing holds up, and asks for no more than the cache holds. */
  async #prompt<T>(read: Promise<T>): Promise<T> {
    const before = this.server.requests.length;
    let isOver = false;
    void read.catch(() => undefined).finally(() => (isOver = true));
    // With `barrierTimeoutMs: 0` no wait is longer than a timer; without one, 30 turns are plenty.
    for (let turns = 0; !isOver && turns < 30; turns++) await turn();
    if (!isOver && this.setup.mode === 'overlay' && !this.#mayWait) expect.fail('a read waits without a fault');
    const result = await read.catch((error: unknown) => {
      if (isNotFound(error)) return undefined as T;
      throw error;
    });
    const { namespaces, labelSelector, fieldSelector } = this.setup;
    for (const { verb, options } of this.server.requests.slice(before)) {
      expect(verb, 'a read asks by lists alone').toBe('list');
      if (options.limit === 1) continue;
      if (namespaces !== undefined) expect(namespaces).toContain(options.namespace);
      if (labelSelector !== undefined) expect(JSON.stringify(options.labelSelector)).toContain(labelSelector);
      if (fieldSelector !== undefined) expect(JSON.stringify(options.fieldSelector)).toContain(fieldSelector);
    }
    return result;
  }

  async get(
    at: Store,
    { namespace, name }: { readonly namespace: string; readonly name: string },
  ): Promise<Thing | undefined> {
    if (!this.#isCovered(namespace)) return undefined;
    const found = await this.#prompt(this.client.get(this.#kindOf(at), { namespace, name }));
    this.#check(at, `${namespace}/${name}`, found, (object) => this.#isHeld(object));
    return found as Thing | undefined;
  }

  async list(query: {
    readonly store: Store;
    readonly within?: string | undefined;
    readonly labels?: string | undefined;
    readonly index?: (typeof indexes)[number];
  }): Promise<void> {
    const { store: at, within, labels, index } = query;
    if (!this.#isCovered(within)) return;
    const terms = Object.entries(index ?? {}).filter(([path]) => at === 'primary' || path === 'owner');
    const options: ListOptions = {
      ...(within === undefined ? {} : { namespace: within }),
      ...(labels === undefined ? {} : { labelSelector: labels }),
      ...(terms.length === 0 ? {} : { fieldSelector: Object.fromEntries(terms) }),
    };
    const list = await this.#prompt(this.client.list(this.#kindOf(at), options));
    const isShown = (object: Thing): boolean =>
      this.#isHeld(object) &&
      selects(object, { namespace: within ?? '', labelSelector: labels ?? '' }) &&
      terms.every(([path, value]) => indexed[path]?.(object, value as string) === true);
    const found = new Map(list.items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item]));
    expect([...found.keys()]).toEqual([...found.keys()].sort());
    expect(found.size).toBe(list.items.length);
    for (const { namespace, name } of keys)
      if (within === undefined || namespace === within)
        this.#check(at, `${namespace}/${name}`, found.get(`${namespace}/${name}`), isShown);
  }

  /** From now on, what was written before this moment is shown. */
  #wrote(key: string): void {
    this.#since.set(key, this.server.version);
  }

  async #write(
    step: Extract<Step, { type: 'create' | 'update' | 'patch' | 'delete' | 'generate' | 'deleteAll' }>,
  ): Promise<void> {
    const { server, client } = this;
    const { namespace, name } = step;
    const key = `${namespace}/${name}`;
    if (step.type === 'deleteAll') {
      const options = { namespace, ...(step.app === undefined ? {} : { labelSelector: { app: step.app } }) };
      const doomed = [...server.objects.values()].filter((object) => selects(object, options));
      if (!server.answersCollections) this.#mayWait = true;
      await client.deleteAllOf(Thing, options);
      for (const { metadata } of doomed) this.#wrote(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
      // Of all: what was gone before is known to be gone as well.
      if (step.app === undefined)
        for (const other of keys) if (other.namespace === namespace) this.#wrote(`${namespace}/${other.name}`);
      return;
    }
    const isAsked = step.type === 'delete' || step.type === 'create';
    const isShown = isAsked && (await this.get('primary', step)) !== undefined;
    const draft = step.type === 'update' ? await this.get('primary', step) : undefined;
    if (step.fault !== undefined) server.fault = { when: step.fault, error: broken() };
    const before = server.version;
    try {
      if (step.type === 'create') await client.create(Thing, thingOf(step));
      else if (step.type === 'patch')
        await client.patch(Thing, step, { type: 'merge', body: { spec: { color: step.color, node: step.node } } });
      else if (step.type === 'delete') await client.delete(Thing, step);
      else if (step.type === 'update') await this.#update(step, draft);
      else await this.#generate(step);
    } catch (error) {
      // The refusal says what the server has: what is read later must not be older.
      const isNews = (isAlreadyExists(error) && !isShown) || (isNotFound(error) && isShown);
      if ((isConflict(error) || isNews) && step.type !== 'generate') this.#wrote(key);
    } finally {
      server.fault = undefined;
    }
    for (const { version, key: written } of server.changes) if (version > before) this.#wrote(written);
  }

  async #update(step: Content, draft: Thing | undefined): Promise<void> {
    if (draft === undefined) return;
    const { resourceVersion = '' } = draft.metadata;
    const thing = thingOf(step);
    thing.metadata.resourceVersion = resourceVersion;
    if (this.setup.isStripped) {
      // What a stripping cache returned is patched, so there is nothing that conflicts.
      await this.client.patch(Thing, step, { type: 'merge', body: { spec: { color: step.color } } });
      return;
    }
    await this.client.update(Thing, thing);
  }

  async #generate(step: Content & { readonly fault?: 'before' | 'after' | undefined }): Promise<void> {
    if (step.fault !== undefined) this.#mayWait = true;
    const { name: _name, ...metadata } = thingOf(step).metadata;
    const { spec } = thingOf(step);
    await this.client.create(Thing, {
      metadata: { ...metadata, generateName: 'g-' },
      ...(spec === undefined ? {} : { spec }),
    });
  }
}

function versionsOf(items: readonly DeepReadonly<KubeObject>[]): string[] {
  return items.map(({ metadata }) => metadata.resourceVersion ?? '').sort();
}

describe('reads of a client over a real cache', () => {
  it('are what the server holds within the scope, never older than own writes, nor than reads before', async () => {
    await fc.assert(
      fc.asyncProperty(setups, fc.array(steps, { maxLength: 30, size: 'max' }), async (setup, history) => {
        await using world = await new World(setup).start();
        for (const step of history) await world.play(step);
        await world.finish();
      }),
      { numRuns: runs, ...seed },
    );
  });
});
