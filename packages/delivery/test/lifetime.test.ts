import { expectCost, expectCount, expectFlatHeap, expectReleased, structure } from '@kctl/lifetime';
import { FakeClock } from '@kctl/wait/testing';
import { it } from 'vitest';
import { Delivery } from '../src/index.js';
import type { ModelEvent, Version } from './model.js';
import { traits } from './model.js';

const version = (key: string, at: number): Version => ({ key, uid: 1, version: at });
const added = (key: string): ModelEvent => ({ type: 'add', now: version(key, 1), from: undefined, isResync: false });
const removed = (key: string): ModelEvent => ({ ...added(key), type: 'delete' });
const updated = (key: string, at: number): ModelEvent => ({
  type: 'update',
  from: version(key, at - 1),
  now: version(key, at),
  isResync: false,
});

/** A delivery whose handler is busy until it is let go. */
function busy(call: (event: ModelEvent) => unknown = () => undefined) {
  const gate = Promise.withResolvers<undefined>();
  const delivery = new Delivery<ModelEvent>({
    name: 'busy',
    clock: new FakeClock(),
    traits,
    call: (event) => (event.now.key === 'gate' ? gate.promise : call(event)),
    onFailure: () => undefined,
    timeoutMs: Infinity,
  });
  delivery.offer(added('gate'));
  return { delivery, release: () => gate.resolve(undefined) };
}

structure(
  {
    package: '@kctl/delivery',
    structure: 'Delivery',
    operation: 'offer, merge, deliver',
    cost: 'O(1)',
    retains:
      'of each object that waits one event (two for a delete and a create; `keep + 1` where more are kept); nothing of what was delivered',
  },
  () => {
    it('delivers n that wait in O(n)', async () => {
      await expectCost({
        order: 'O(n)',
        size: 5_000,
        prepare: (size) => ({ ...busy(() => Promise.resolve()), size }),
        run: async ({ delivery, release, size }) => {
          for (let at = 0; at < size; at++) delivery.offer(added(`key-${at}`));
          release();
          await delivery.drained();
        },
      });
    });

    it('merges n changes of one object in O(n), and calls once', async () => {
      await expectCount({
        order: 'O(1)',
        size: 1_000,
        count: async (size) => {
          let calls = 0;
          const { delivery, release } = busy(() => void calls++);
          for (let at = 2; at < size; at++) delivery.offer(updated('a', at));
          release();
          await delivery.drained();
          return calls;
        },
      });
    });

    it('retains nothing of objects that come and go while the handler is busy', async () => {
      const { delivery } = busy();
      await expectFlatHeap({
        churn: (round) => {
          for (let at = 0; at < 50_000; at++) {
            delivery.offer(added(`${round}-${at}`));
            delivery.offer(removed(`${round}-${at}`));
          }
        },
      });
    });

    it('releases events that were delivered, failed or dropped', async () => {
      await expectReleased(async () => {
        const { delivery, release } = busy((event) => {
          if (event.now.key === 'fails') throw new Error('x');
        });
        const [delivered, fails] = [added('delivered'), added('fails')];
        for (const event of [delivered, fails]) delivery.offer(event);
        release();
        await delivery.drained();
        const ended = busy();
        const dropped = added('dropped');
        ended.delivery.offer(dropped);
        ended.delivery.end();
        return { keep: [delivery, ended.delivery], released: { delivered, fails, dropped } };
      });
    });
  },
);
