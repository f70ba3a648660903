import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { systemClock } from '@kctl/wait';
import { describe, expect, it } from 'vitest';
import { createSharedInformer } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (number: number): KubeObject => ({
  metadata: { namespace: 'a', name: `x${number}`, uid: `u${number}`, resourceVersion: '1' },
});

describe('a resync', () => {
  it('tells of no object that the handler will only hear of, as a relist is still being told', async () => {
    const lists = [[thing(0)], Array.from({ length: 1000 }, (_, number) => thing(number))];
    const expired = Promise.withResolvers<undefined>();
    const resyncs: (() => void)[] = [];
    let now = 0;
    const informer = createSharedInformer({
      kind: Thing,
      // Time passes, and resyncs come, when the test says so.
      clock: {
        ...systemClock,
        monotonicNow: () => now,
        setTimer: (callback, delayMs, options) => {
          if (delayMs !== 7777) return systemClock.setTimer(callback, delayMs, options);
          resyncs.push(callback);
          return { cancel: () => undefined };
        },
      },
      random: () => 0,
      listerWatcher: {
        supportsWatchList: false,
        list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items: lists.shift() ?? [] }),
        watch: ({ signal }) =>
          Promise.resolve({
            async *[Symbol.asyncIterator]() {
              await Promise.race([
                expired.promise,
                new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
              ]);
              if (lists.length > 0) yield { type: 'ERROR', object: { code: 410, reason: 'Expired' } } as never;
              await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
            },
            [Symbol.asyncDispose]: () => Promise.resolve(),
          }),
      },
    });
    const known = new Set<unknown>();
    const early: unknown[] = [];
    let resynced = 0;
    const all = Promise.withResolvers<undefined>();
    const handler = informer.addEventHandler(
      {
        onAdd: ({ metadata }) => {
          known.add(metadata.name);
          if (known.size === 100) {
            now += 6; // a slice is over, and everything that was offered is told
            setImmediate(() => resyncs.shift()?.());
          }
          if (known.size === 1000) all.resolve(undefined);
        },
        onUpdate: (_old, { metadata }) => {
          resynced++;
          if (!known.has(metadata.name)) early.push(metadata.name);
        },
      },
      { resyncMs: 7777 },
    );
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await handler.waitForSync();
    expired.resolve(undefined);
    await all.promise;
    expect(early).toEqual([]);
    resyncs.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    while (handler.pending > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(resynced).toBe(1000);
    stop.abort();
    await run;
  });
});
