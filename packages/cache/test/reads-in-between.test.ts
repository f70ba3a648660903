// Reads that are under way when a namespace or a kind is dropped, at whichever moment: a store that leaves empties, and
// nothing in it must not be taken for nothing on the server.
import { isNotFound } from '@kctl/apimachinery';
import type { KubeList, KubeObject } from '@kctl/apimachinery';
import type { ListCall } from '@kctl/informer';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createCache, isKindNotCached } from '../src/index.js';
import type { Cache, NamespaceScopes } from '../src/index.js';
import { Thing } from './fake-server.js';
import { LiveServer } from './live-server.js';

const moments = 40;
const drops: Readonly<Record<string, (cache: Cache) => Promise<void>>> = {
  'the namespace is dropped': (cache) => cache.setNamespaces({ b: {} }),
  'the namespace is dropped and held again': async (cache) => {
    await Promise.all([cache.setNamespaces({ b: {} }), cache.setNamespaces({ a: {} })]);
  },
  'all namespaces are held': (cache) => cache.setNamespaces({ '': {} }),
  'the kind is removed': (cache) => cache.removeInformer(Thing),
  'the kind is removed and declared': async (cache) => {
    const removed = cache.removeInformer(Thing);
    cache.informerFor(Thing);
    await removed;
  },
};
const refusals = ['UnknownNamespaceError', 'KindNotCachedError'];

describe.each(Object.entries(drops))('when %s', (what, drop) => {
  it.each([true, false])('a read finds what is there, or is refused (synced before: %s)', async (isSynced) => {
    for (let moment = 0; moment < moments; moment++) {
      const clock = new FakeClock();
      const server = new LiveServer();
      for (const namespace of ['a', 'b']) server.write(namespace, 'x');
      const { listerWatcherFor } = server;
      const cache = createCache({
        client: {} as never,
        clock,
        random: () => 0,
        listerWatcherFor,
        byObject: [{ kind: Thing }],
        defaultNamespaces: { a: {} },
      });
      const stop = new AbortController();
      const run = cache.run(stop.signal);
      if (isSynced) await cache.waitForSync();
      const reads = [
        cache.get(Thing, { namespace: 'a', name: 'x' }).then(({ metadata }) => [metadata.name]),
        cache.list(Thing, { namespace: 'a' }).then(({ items }) => items.map(({ metadata }) => metadata.name)),
      ].map((read) => read.catch((error: unknown) => (isNotFound(error) ? 'not found' : nameOf(error))));
      for (let tick = 0; tick < moment; tick++) await Promise.resolve();
      const dropped = drop(cache);
      await settle();
      await dropped;
      for (const answer of await Promise.all(reads)) {
        if (typeof answer === 'string') expect(refusals).toContain(answer);
        else expect([moment, answer]).toEqual([moment, ['x']]);
        // What is in its place answers.
        if (what !== 'the namespace is dropped' && what !== 'the kind is removed') expect(answer).toEqual(['x']);
      }
      stop.abort();
      await run;
    }
  });
});

describe('a list of all namespaces, while', () => {
  const scopes: readonly [string, readonly NamespaceScopes[], string][] = [
    ['all take the place of one', [{ '': {} }], 'a/x,b/x'],
    ['one is selected in another way', [{ a: { labelSelector: '!none' } }], 'a/x'],
    ['one takes the place of all that took its place', [{ '': {} }, { a: {} }], 'a/x'],
    ['one is named beside all others', [{ '': {} }, { '': {}, a: {} }], 'a/x,b/x'],
  ];

  it.each(scopes)('%s, never lacks what is in it before and after', async (_what, steps, expected) => {
    const server = new LiveServer();
    for (const namespace of ['a', 'b']) server.write(namespace, 'x');
    const gates: (() => void)[] = [];
    const cache = createCache({
      client: {} as never,
      clock: new FakeClock(),
      random: () => 0,
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {} },
      listerWatcherFor: (kind, scope) => {
        const source = server.listerWatcherFor(kind, scope);
        if (gates.length === 0 || !('list' in source)) return (gates.push(() => undefined), source);
        const gate = Promise.withResolvers<undefined>();
        gates.push(() => gate.resolve(undefined));
        const isIn = ({ metadata }: KubeObject): boolean =>
          scope.fieldSelector !== `metadata.namespace!=${metadata.namespace}`;
        const list = async (call: ListCall): Promise<KubeList<never>> => {
          await gate.promise;
          const page = await source.list(call);
          return { ...page, items: page.items.filter(isIn) as never[] };
        };
        return { ...source, list };
      },
    });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    const changes = steps.map((step) => cache.setNamespaces(step));
    const aborted = new AbortController();
    const patient = cache.list(Thing);
    const impatient = cache.list(Thing, { signal: aborted.signal });
    impatient.catch(() => undefined);
    await settle();
    aborted.abort(new Error('no longer'));
    await expect(impatient).rejects.toThrow('no longer');
    for (const open of gates) open();
    const { items } = await patient;
    expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join()).toBe(expected);
    await Promise.all(changes);
    stop.abort();
    await run;
  });
});

function nameOf(error: unknown): string {
  if (isKindNotCached(error)) return 'KindNotCachedError';
  return error instanceof Error ? error.name : String(error);
}
