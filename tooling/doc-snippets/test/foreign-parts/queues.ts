// Parts of queues and rate limiters.
import * as workqueue from '@kctl/workqueue';
import { type Scenario } from './play.js';
import { nothing } from './kit.js';

export const queues: readonly Scenario[] = [
  {
    name: 'a rate limiter of a queue',
    part: { when: () => 1, forget: nothing, numRequeues: () => 0, adoptKey: nothing },
    play: async ({ attempt, clock }, rateLimiter) => {
      const queue = workqueue.createRateLimitingQueue({ rateLimiter, clock });
      for (const call of [() => queue.addRateLimited('a'), () => queue.numRequeues('a'), () => queue.forget('a')])
        await attempt(call);
      await clock.advance(10);
      queue.shutDown();
    },
  },
  {
    name: 'a rate limiter among others',
    part: { when: () => 1, forget: nothing, numRequeues: () => 0, adoptKey: nothing },
    play: async ({ attempt }, limiter: workqueue.RateLimiter<string>) => {
      for (const each of [
        workqueue.maxOfRateLimiter(limiter),
        workqueue.errorAwareRateLimiter({ otherwise: limiter, rules: [{ matches: () => true, limiter }] }),
      ])
        for (const call of [() => each.when('a', { error: 1 }), () => each.numRequeues('a'), () => each.forget('a')])
          await attempt(call);
    },
  },
  {
    name: 'a rule of a rate limiter',
    part: { matches: () => true },
    play: async ({ attempt }, { matches }: { readonly matches: () => boolean }) => {
      const limiter = workqueue.bucketRateLimiter({ perSecond: 1, burst: 1 });
      const aware = workqueue.errorAwareRateLimiter({ otherwise: limiter, rules: [{ matches, limiter }] });
      await attempt(() => aware.when('a', { error: 1 }));
    },
  },
  {
    name: 'a backing queue',
    part: (() => {
      const items: string[] = [];
      return {
        get length() {
          return items.length;
        },
        push: (item: string) => void items.push(item),
        pop: () => items.shift(),
        touch: nothing,
        delete: (item: string) => void items.splice(items.indexOf(item), 1),
        [Symbol.iterator]: () => items[Symbol.iterator](),
      };
    })(),
    play: async ({ attempt, clock }, queue) => {
      const own = workqueue.createWorkQueue({ queue, clock });
      await attempt(() => own.add('a'));
      await attempt(() => own.add('a'));
      await attempt(() => own.entries());
      await attempt(() => own.delete('a'));
      await attempt(() => own.add('b'));
      own.shutDown();
      await attempt(() => own.get());
    },
  },
  {
    name: 'functions of a queue',
    part: { key: (item: string) => item, onDrop: nothing },
    play: async ({ attempt, clock }, { key, onDrop }: { key: () => string; onDrop: () => void }) => {
      const own = workqueue.createWorkQueue({
        key,
        clock,
        bound: { maxPending: 1, overflow: 'dropOldest', onDrop },
      });
      for (const item of ['a', 'b']) await attempt(() => own.add(item));
      own.shutDown();
      await attempt(() => own.get());
    },
  },
];
