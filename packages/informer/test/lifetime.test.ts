import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { expectCount, expectFlatHeap, expectReleased, retainedBytes, structure } from '@kctl/lifetime';
import { systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import { ByteDecoder } from '../src/decoders/byte-decoder.js';
import { createDeltaFifo, createSharedInformer } from '../src/index.js';
import type { SharedInformer } from '../src/index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

/** A synced informer of `size` objects, by a clock that moves by 1 ms whenever it is looked at. */
async function filled(size: number): Promise<{ informer: SharedInformer<KubeObject>; stop: () => Promise<void> }> {
  let now = 0;
  const items = Array.from({ length: size }, (_, at) => ({
    metadata: { namespace: `n${at % 7}`, name: `x${at}`, uid: `u${at}`, resourceVersion: '1' },
  }));
  const informer = createSharedInformer<KubeObject>({
    kind: Thing,
    clock: { ...systemClock, monotonicNow: () => now++ },
    listerWatcher: {
      supportsWatchList: false,
      list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items }),
      watch: () => new Promise(() => undefined),
    },
  });
  const stopping = new AbortController();
  const run = informer.run(stopping.signal);
  await informer.waitForSync();
  const stop = (): Promise<void> => {
    stopping.abort();
    return run;
  };
  return { informer, stop };
}

/** The most callbacks in one turn of the event loop while `act` goes on. */
async function mostInOneTurn(act: (called: () => void) => Promise<unknown>): Promise<number> {
  let most = 0;
  let inTurn = 0;
  let isOver = false;
  const turn = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await act(() => void inTurn++);
  isOver = true;
  return Math.max(most, inTurn);
}

structure(
  {
    package: '@kctl/informer',
    structure: 'SharedInformer',
    operation: 'addEventHandler after the sync, leaveScope: the work of one turn of the event loop',
    cost: 'O(1): 5 ms, then the next turn; the call itself O(1)',
    retains:
      'while a late handler catches up, the names that it has received and what changed before that; nothing afterwards; of a scope that was left its content, until the slowest handler has received it',
  },
  () => {
    it('brings a late handler up to date in slices', async () => {
      await expectCount({
        order: 'O(1)',
        size: 200,
        count: async (size) => {
          const { informer, stop } = await filled(size);
          const most = await mostInOneTurn((called) => informer.addEventHandler({ onEvent: called }).waitForSync());
          await stop();
          return most;
        },
      });
    });

    it('brings many late handlers up to date in slices that they share, also those that take their time', async () => {
      await expectCount({
        order: 'O(1)',
        size: 2,
        count: async (handlers) => {
          const { informer, stop } = await filled(100);
          const most = await mostInOneTurn((called) =>
            Promise.all(
              Array.from({ length: handlers }, (_, at) => {
                const onEvent = at % 2 === 0 ? called : async () => called();
                return informer.addEventHandler({ onEvent }).waitForSync();
              }),
            ),
          );
          await stop();
          return most;
        },
      });
    });

    it('keeps nothing of the end of a scope for a handler that is busy', async () => {
      const { informer } = await filled(2000);
      const gate = Promise.withResolvers<undefined>();
      let isBusy = false;
      let calls = 0;
      const registration = informer.addEventHandler({
        onEvent: () => {
          calls++;
          return isBusy ? gate.promise : undefined;
        },
      });
      await registration.waitForSync();
      isBusy = true;
      const { bytes } = await retainedBytes(async () => {
        void informer.leaveScope();
        while (calls === 2000) await new Promise((resolve) => setImmediate(resolve));
      });
      expect(registration.pending).toBe(1999);
      expect(bytes).toBeLessThan(100_000);
      isBusy = false;
      gate.resolve(undefined);
      await registration.ended;
      expect(calls).toBe(4000);
    });

    it('tells of the end of a scope in slices', async () => {
      await expectCount({
        order: 'O(1)',
        size: 200,
        count: async (size) => {
          const { informer } = await filled(size);
          let note = (): void => undefined;
          await informer.addEventHandler({ onEvent: () => note() }).waitForSync();
          return mostInOneTurn((called) => {
            note = called;
            return informer.leaveScope();
          });
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/informer',
    structure: 'Bytes of unread objects',
    operation: 'decode, retire',
    cost: 'O(n) in the bytes of metadata',
    retains: 'the bytes of versions that are stored, and half as many again before they are compacted',
  },
  () => {
    it('does not grow with versions that came and went, read, unread or damaged', async () => {
      let skipped = 0;
      const decoder = new ByteDecoder<KubeObject>({
        kind: Thing,
        freeze: true,
        keepManagedFields: false,
        transform: undefined,
        fieldPaths: () => undefined,
        onSkip: () => void skipped++,
      });
      await expectFlatHeap({
        churn: (round) => {
          for (let index = 0; index < 5000; index++) {
            const version = round * 5000 + index;
            const damage = index % 7 === 0 ? 'oops' : '';
            const text = `{"metadata":{"name":"x${version}","resourceVersion":"${version}"},"spec":{${damage}"pad":"${'p'.repeat(500)}"}}`;
            const { stored } = decoder.item(Buffer.from(text), () => undefined);
            if (stored === undefined) throw new Error('not decoded');
            if (index % 3 === 0)
              try {
                void stored.object;
              } catch {
                // Reported below.
              }
            decoder.retire(stored);
          }
        },
        allowedBytes: 9_000_000,
      });
      expect(decoder.slabs.liveBytes).toBe(0);
      expect(skipped).toBeGreaterThan(0);
    });
  },
);

structure(
  {
    package: '@kctl/informer',
    structure: 'DeltaFifo',
    operation: 'add, update, delete, pop; replace, resync',
    cost: 'O(1); O(n) in what is listed, queued and known',
    retains: 'the deltas that wait, all of them: they are not merged; of an object that was popped nothing',
  },
  () => {
    it('keeps nothing of what was popped, however the pops ended', async () => {
      const queue = createDeltaFifo<{ name: string }>({ key: ({ name }) => name });
      await expectReleased(async () => {
        const released: Record<string, object> = {};
        for (let at = 0; at < 20; at++) {
          const object = { name: `x${at}` };
          released[object.name] = object;
          queue.add(object);
          const isBroken = at % 3 === 0;
          const popped = queue.pop(() => (isBroken ? Promise.reject(new Error('broken')) : undefined));
          await popped.catch(() => undefined);
        }
        await queue.pop(() => undefined, { signal: AbortSignal.abort() }).catch(() => undefined);
        return { keep: queue, released };
      });
      expect(queue.length).toBe(0);
    });

    it('pops in the same number of steps, however many wait', async () => {
      await expectCount({
        order: 'O(1)',
        size: 100,
        count: async (size) => {
          const keys: string[] = [];
          const queue = createDeltaFifo<{ name: string }>({ key: ({ name }) => (keys.push(name), name) });
          for (let at = 0; at < size; at++) queue.add({ name: `x${at}` });
          const before = keys.length;
          await queue.pop(() => undefined);
          queue.update({ name: 'x1' });
          return keys.length - before;
        },
      });
    });
  },
);
