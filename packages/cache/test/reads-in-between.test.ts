// Reads that are under way when a namespace or a kind is dropped, at whichever moment: a store that leaves empties, and
// nothing in it must not be taken for nothing on the server.
import { isNotFound } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createCache, isKindNotCached } from '../src/index.js';
import type { Cache } from '../src/index.js';
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

function nameOf(error: unknown): string {
  if (isKindNotCached(error)) return 'KindNotCachedError';
  return error instanceof Error ? error.name : String(error);
}
