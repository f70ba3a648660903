import { expectCost, expectFlatHeap, expectReleased, structure } from '@kctl/lifetime';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import type { Controller, ControllerOptions, ReconcileRequest } from '../src/index.js';
import { createController, createRetryPolicy, enqueueRequestForObject, funcSource, kindSource } from '../src/index.js';
import { FakeInformers, Node } from './fakes.js';

interface Running {
  readonly controller: Controller;
  /** Queues this many new keys and resolves when each was reconciled. */
  readonly work: (count: number, round?: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

/** A controller that runs; `perKey` is how many runs a key takes. */
async function start(options: Partial<ControllerOptions<ReconcileRequest>> = {}, perKey = 1): Promise<Running> {
  let left = 0;
  let done: () => void = () => undefined;
  const { reconciler = async () => undefined } = options;
  const controller = createController({
    name: 'x',
    hotLoop: false,
    ...options,
    reconciler: async (request, context) => {
      if (--left === 0) done();
      return typeof reconciler === 'function' ? await reconciler(request, context) : undefined;
    },
  });
  const stop = new AbortController();
  const ended = controller.run(stop.signal);
  while (controller.phase !== 'active') await Promise.resolve();
  return {
    controller,
    work: (count, round = 0) =>
      new Promise((resolve) => {
        left = count * perKey;
        done = resolve;
        for (let index = 0; index < count; index++)
          controller.enqueue({ namespace: `r${round}`, name: `key-${index}` });
      }),
    end: async () => {
      stop.abort();
      await ended;
      await controller.waitUntilCold();
    },
  };
}

structure(
  {
    package: '@kctl/controller',
    structure: 'Controller',
    operation: 'reconcile',
    cost: 'O(1) beside the reconciler, and O(log n) of the queue for a request that waits for its time',
    retains:
      'per key: its slot in the queue while it waits or runs, and a count while it fails; of a request that succeeded nothing',
  },
  () => {
    it('takes n requests in O(n)', async () => {
      await expectCost({
        order: 'O(n)',
        size: 1_000,
        prepare: () => start(),
        run: async ({ work, end }, size) => {
          await work(size);
          await end();
        },
      });
    });

    it('does not grow with the requests that went through, or failed before they succeeded', async () => {
      const failure = new Error('the first attempt fails');
      const policies = await start(
        {
          eventsDuringBackoff: 'oncePerWindow',
          safetyInterval: { everyMs: 1_000_000 },
          retryPolicy: createRetryPolicy({ delayMs: () => 0 }),
          reconciler: async (_request, { attempt }) => {
            if (attempt === 1) throw failure;
          },
        },
        2,
      );
      await expectFlatHeap({ churn: (round) => policies.work(8_000, round), allowedBytes: 800_000 });
      await policies.end();
    });

    it('keeps of a run limit the keys of two windows', async () => {
      const clock = new FakeClock();
      const limited = await start({ clock, runLimit: { runs: 5, perMs: 1000 } });
      await expectFlatHeap({
        churn: async (round) => {
          await limited.work(5_000, round);
          clock.advanceSync(2_000);
          await limited.work(1, -round);
          clock.advanceSync(2_000);
          await limited.work(1, -round);
        },
      });
      await limited.end();
    });
  },
);

structure(
  {
    package: '@kctl/controller',
    structure: 'Controller',
    operation: 'watch, remove; warmup, run, end',
    cost: 'O(1) for each source',
    retains: 'its watches; of a removed one, and of a run that has ended cold, nothing',
  },
  () => {
    it('releases a source that was removed', async () => {
      await expectReleased(async () => {
        const { controller } = await start();
        const informers = new FakeInformers();
        informers.of(Node).sync();
        const kind = kindSource({ informers, kind: Node, handler: enqueueRequestForObject() });
        const plain = funcSource<ReconcileRequest>('plain', () => undefined);
        for (const source of [kind, plain]) {
          const watch = controller.watch(source);
          await watch.waitForSync();
          await watch.remove();
        }
        expect(controller.sources()).toEqual([]);
        return { keep: controller, released: { kind, plain, handlers: informers.of(Node) } };
      });
    });

    it('does not grow with runs, warm or cold, nor does the signal of a life', async () => {
      const controller = createController({ name: 'x', reconciler: async () => undefined, enableWarmup: true });
      controller.watch(funcSource('plain', () => undefined));
      const life = new AbortController();
      await expectFlatHeap({
        churn: async () => {
          for (let round = 0; round < 300; round++) {
            const stop = new AbortController();
            const ended = controller.run(stop.signal, round % 2 === 0 ? { life: life.signal } : {});
            while (controller.phase !== 'active') await Promise.resolve();
            stop.abort();
            await ended;
          }
        },
      });
      life.abort();
      await controller.waitUntilCold();
    });
  },
);
