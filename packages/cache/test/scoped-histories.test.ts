import type { HandlerRegistration, InformerEvent } from '@kctl/informer';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { formatKey } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cache, CacheOptions } from '../src/index.js';
import { createCache } from '../src/index.js';
import { Thing } from './fake-server.js';
import { LiveServer } from './live-server.js';

const namespaces = ['a', 'b', 'c'];
const natures = ['fast', 'slow', 'throws', 'rejects', 'joins', 'leaves', 'rescopes'] as const;
type Nature = (typeof natures)[number];
const scopes = fc.oneof({ weight: 5, arbitrary: fc.subarray(namespaces) }, { weight: 2, arbitrary: fc.constant(['']) });
const object = { namespace: fc.constantFrom(...namespaces), name: fc.constantFrom('x', 'y') };
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('write' as const), ...object }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('remove' as const), ...object }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('expire' as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('rescope' as const), to: scopes }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('join' as const), nature: fc.constantFrom(...natures) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), which: fc.nat({ max: 8 }) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 300, 5000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A handler of all namespaces that believes nothing. */
class Recorder {
  readonly known = new Map<string, { readonly uid: string; readonly version: string }>();
  readonly wrong: string[] = [];
  readonly registration: HandlerRegistration;
  isRemoved = false;
  readonly #world: World;
  readonly #nature: Nature;
  #isBusy = false;
  #calls = 0;

  constructor(world: World, nature: Nature) {
    this.#world = world;
    this.#nature = nature;
    this.registration = world.cache
      .informerFor(Thing)
      .addEventHandler({ onEvent: (event) => this.#take(event) }, { resyncMs: 3000, timeoutMs: Infinity });
  }

  remove(): void {
    this.isRemoved = true;
    void this.registration.remove();
  }

  async #wait(act: Promise<unknown>): Promise<void> {
    this.#isBusy = true;
    await act;
    this.#isBusy = false;
  }

  #take(event: InformerEvent<KubeObject>): Promise<void> | undefined {
    this.#check(event);
    const calls = ++this.#calls;
    const { clock, join, rescope } = this.#world;
    const pause = (): Promise<void> =>
      this.#wait(new Promise<void>((resolve) => clock.setTimer(resolve, (calls % 4) * 200)));
    switch (this.#nature) {
      case 'fast':
        return undefined;
      case 'slow':
        return pause();
      case 'throws':
        throw new Error('the handler throws');
      case 'rejects':
        return pause().then(() => Promise.reject(new Error('the handler rejects')));
      case 'joins':
        if (calls % 3 === 1) join('fast');
        return undefined;
      case 'leaves':
        if (calls === 4) this.remove();
        return undefined;
      case 'rescopes':
        return calls < 30 && calls % 6 === 2
          ? this.#wait(rescope(namespaces.filter((_, at) => (calls >> at) % 2 === 0)))
          : undefined;
    }
  }

  #check({ type, key, header, oldHeader, isResync }: InformerEvent<KubeObject>): void {
    const known = this.known.get(key);
    const note = (problem: string): void =>
      void this.wrong.push(`${this.#nature}: ${type} ${key}@${header.resourceVersion}: ${problem}`);
    if (this.isRemoved) note('after the removal');
    if (this.#isBusy) note('while a callback runs');
    if (type === 'add' ? known !== undefined : known === undefined) note(`known is ${known?.version}`);
    if (type === 'update' && oldHeader?.resourceVersion !== known?.version) note(`from ${oldHeader?.resourceVersion}`);
    if (type === 'update' && isResync && oldHeader?.resourceVersion !== header.resourceVersion) note('not a resync');
    if (type !== 'add' && known !== undefined && known.uid !== header.uid) note('of another object');
    if (type === 'delete') this.known.delete(key);
    else this.known.set(key, { uid: header.uid, version: header.resourceVersion });
  }
}

interface World {
  readonly clock: FakeClock;
  readonly cache: Cache;
  readonly join: (nature: Nature) => void;
  readonly rescope: (to: readonly string[]) => Promise<void>;
}

async function play(steps: readonly Step[]): Promise<string[]> {
  const clock = new FakeClock();
  const server = new LiveServer();
  const cache = createCache({
    client: {} as CacheOptions['client'],
    listerWatcherFor: server.listerWatcherFor,
    byObject: [{ kind: Thing }],
    defaultNamespaces: { a: {}, b: {} },
    clock,
    random: () => 0,
    // Handlers fail on purpose.
    logger: noopLogger,
  });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  const { indexer: kept } = cache.informerFor(Thing);
  const recorders: Recorder[] = [];
  let present: readonly string[] = ['a', 'b'];
  const changes = new Set<Promise<void>>();
  const world: World = {
    clock,
    cache,
    join: (nature) => {
      if (recorders.length < 8) recorders.push(new Recorder(world, nature));
    },
    rescope: (to) => {
      present = to;
      const changed = cache.setNamespaces(Object.fromEntries(to.map((namespace) => [namespace, {}])));
      changes.add(changed);
      void changed.finally(() => changes.delete(changed));
      return changed;
    },
  };
  for (const one of steps) {
    if (one.type === 'write') server.write(one.namespace, one.name);
    else if (one.type === 'remove') server.remove(one.namespace, one.name);
    else if (one.type === 'expire') server.expire();
    else if (one.type === 'rescope') void world.rescope(one.to);
    else if (one.type === 'join') world.join(one.nature);
    else if (one.type === 'leave') recorders[one.which]?.remove();
    else await clock.advance(one.ms);
  }
  for (let minute = 0; minute < 20; minute++) await clock.advance(10_000);
  const wrong: string[] = changes.size === 0 ? [] : [`${changes.size} changes of the namespaces hang`];
  const expected = [...server.objects.values()]
    .filter(({ metadata }) => present.includes('') || present.includes(metadata.namespace ?? ''))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);
  const held = kept.listStored().map((stored) => `${formatKey(stored)}@${stored.resourceVersion}`);
  if (held.sort().join() !== expected.sort().join()) wrong.push(`holds ${held.join()}, not ${expected.join()}`);
  for (const recorder of recorders) {
    wrong.push(...recorder.wrong);
    if (recorder.isRemoved) continue;
    const known = [...recorder.known].map(([key, { version }]) => `${key}@${version}`);
    if (known.sort().join() !== expected.sort().join()) wrong.push(`knows ${known.join()}, not ${expected.join()}`);
    if (!recorder.registration.hasSynced) wrong.push('has not synced');
  }
  stop.abort();
  let hasEnded = false;
  void run.then(() => (hasEnded = true));
  await clock.advance(10_000);
  await settle();
  if (!hasEnded) wrong.push('the run did not end');
  if (clock.pendingTimers > 0) wrong.push(`${clock.pendingTimers} timers are left`);
  return wrong;
}

describe('handlers of namespaces that come and go', () => {
  it('have a legal and complete history, whatever they do and whenever they join', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 50, size: 'max' }), async (steps) => {
        expect(await play(steps)).toEqual([]);
      }),
      { numRuns: Number(process.env['KCTL_HISTORIES'] ?? 120), seed: Number(process.env['KCTL_SEED'] ?? 12) },
    );
  }, 600_000);
});
