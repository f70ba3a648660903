import { createHook } from 'node:async_hooks';
import type { KubeObject } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { FrameStream, ListFrames } from '@kctl/client';
import { sleep } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createSharedInformer } from '../src/index.js';

/** What Node makes resources for while `work` runs, by their types. */
async function resourcesOf(work: () => Promise<void>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const hook = createHook({ init: (_id, type) => void (counts[type] = (counts[type] ?? 0) + 1) });
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return counts;
}

/** A watch whose batches the test sends. */
function createWire() {
  let waiting: PromiseWithResolvers<IteratorResult<readonly Uint8Array[], undefined>> | undefined;
  const next = (): Promise<IteratorResult<readonly Uint8Array[], undefined>> => {
    waiting = Promise.withResolvers();
    return waiting.promise;
  };
  const stream: FrameStream = {
    [Symbol.asyncIterator]: () => ({ next }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const list: ListFrames = {
    metadata: Promise.resolve({ resourceVersion: '1' }),
    [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const send = (event: object): void => waiting?.resolve({ done: false, value: [Buffer.from(JSON.stringify(event))] });
  return {
    listerWatcher: { supportsWatchList: false, listFrames: async () => list, watchFrames: async () => stream },
    isReading: () => waiting !== undefined,
    send,
  };
}

describe('an event of a quiet watch', () => {
  it('reaches its handler in the turn that brings it: no immediate, no timer, and a promise for each of its steps', async () => {
    const wire = createWire();
    // Compressing is work of its own, and longer than a slice where zlib is loaded for it.
    const storage = 'plain';
    const clock = new FakeClock();
    const { listerWatcher } = wire;
    const informer = createSharedInformer<KubeObject>({ kind: ConfigMap, listerWatcher, storage, clock });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    const seen: string[] = [];
    informer.addEventHandler({ onEvent: ({ header }) => void seen.push(header.resourceVersion) });
    await informer.waitForSync();
    while (!wire.isReading()) await sleep(1);
    const version = (n: number): object => ({
      type: n === 2 ? 'ADDED' : 'MODIFIED',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { namespace: 'a', name: 'b', resourceVersion: `${n}` } },
    });
    const hops = async (): Promise<void> => {
      for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    };
    const { PROMISE: ofTheTest = 0 } = await resourcesOf(hops);
    const perEvent: Record<string, number>[] = [];
    for (let n = 2; n < 8; n++) {
      // Longer than a slice: the one of the last event is over.
      clock.advanceSync(10);
      await sleep(1);
      const resources = await resourcesOf(async () => {
        wire.send(version(n));
        await hops();
      });
      perEvent.push(resources);
      expect(seen.at(-1)).toBe(`${n}`);
    }
    stop.abort();
    await running;
    for (const { PROMISE: promises = 0, ...others } of perEvent) {
      expect(others).toEqual({});
      expect(promises - ofTheTest).toBeLessThanOrEqual(8);
    }
  });
});
