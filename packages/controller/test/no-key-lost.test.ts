import { sleep } from '@kctl/wait';
import fc from 'fast-check';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createRetryPolicy } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';

const key = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ type: fc.constant('event' as const), key, verb: fc.constantFrom('add', 'update', 'delete', 'replay') }),
  fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 80 }) }),
  fc.record({ type: fc.constant('workers' as const), count: fc.integer({ min: 0, max: 3 }) }),
);
const outcome = fc.record({
  kind: fc.constantFrom('done', 'fail', 'backoff', 'requeue', 'throw'),
  tookMs: fc.constantFrom(0, 1, 50, 100),
});

describe('Controller', () => {
  it('reconciles every key after its last event, never twice at once, and comes to rest', {
    timeout: 300_000,
  }, async () => {
    const options = fc.record({
      usePriorityQueue: fc.boolean(),
      eventsDuringBackoff: fc.constantFrom('immediate' as const, 'oncePerWindow' as const),
      debounced: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30, size: 'max' }),
        fc.array(outcome, { maxLength: 20, size: 'max' }),
        options,
        async (steps, outcomes, { debounced, ...rest }) => {
          /** Keys with an event, or an unfinished run, that no reconcile has begun after. */
          const unseen = new Map<string, number>();
          const running = new Set<string>();
          const twice: string[] = [];
          const script = [...outcomes];
          const t = createHarness(
            async ({ name }) => {
              unseen.delete(name);
              if (running.has(name)) twice.push(name);
              running.add(name);
              const { kind, tookMs } = script.shift() ?? { kind: 'done', tookMs: 0 };
              try {
                if (tookMs > 0) await sleep(tookMs, { clock: t.clock });
                if (kind === 'fail') throw new Error('failed');
                if (kind === 'throw') throw new TypeError('mistake');
                if (kind === 'backoff') return { backoff: true };
                return kind === 'requeue' ? { requeueAfterMs: 30 } : undefined;
              } finally {
                running.delete(name);
                if (kind !== 'done') unseen.set(name, t.clock.monotonicNow()); // it is owed another run
              }
            },
            {
              ...rest,
              maxConcurrentReconciles: 2,
              retryPolicy: createRetryPolicy({ delayMs: (attempt) => attempt * 10 }),
              ...(debounced ? { debounce: { quietMs: 20, maxMs: 60 } } : {}),
            },
          );
          const { done } = await t.start();
          let version = 1;
          for (const each of steps) {
            if (each.type === 'advance') await t.clock.advance(each.ms);
            else if (each.type === 'workers') t.controller.maxConcurrentReconciles = each.count;
            else {
              unseen.set(each.key, t.clock.monotonicNow());
              const before = pod(each.key, { resourceVersion: `${version}` });
              if (each.verb !== 'replay') version++;
              const after = pod(each.key, { resourceVersion: `${version}` });
              if (each.verb === 'add') t.pods.add(after);
              else if (each.verb === 'delete') t.pods.delete(after);
              else t.pods.update(before, after);
            }
          }
          t.controller.maxConcurrentReconciles = 2;
          await t.clock.advance(20_000);
          expect([[...unseen.keys()], twice]).toEqual([[], []]);
          expect([running.size, t.clock.pendingTimers]).toEqual([0, 0]);
          t.stop.abort();
          await done;
          await settle();
        },
      ),
      { numRuns: 150 },
    );
  });
});
