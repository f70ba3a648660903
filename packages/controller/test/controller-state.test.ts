import { getEventListeners } from 'node:events';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createPriorityQueue } from '@kctl/workqueue';
import { createController, funcSource, isControllerError, isSourceError } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';

const reconciler = async (): Promise<undefined> => undefined;

describe('the state of a controller', () => {
  it('is true in each phase: what waits, what runs, how many may', async () => {
    const gates: (() => void)[] = [];
    const t = createHarness(() => new Promise<void>((resolve) => gates.push(resolve)), { maxConcurrentReconciles: 2 });
    const state = (): unknown[] => [t.controller.phase, t.controller.queueLength, t.controller.inFlight];
    const limit = (): unknown[] => [
      t.controller.maxConcurrentReconciles,
      t.count('controller_runtime_max_concurrent_reconciles'),
    ];
    expect([state(), limit()]).toEqual([
      ['cold', 0, []],
      [2, undefined],
    ]);
    t.controller.setPaused(false); // before it runs
    t.controller.maxConcurrentReconciles = 1;
    expect(limit()).toEqual([1, 1]);
    const { done } = await t.start();
    for (const name of ['a', 'b', 'c']) t.pods.add(pod(name));
    await settle();
    expect([state(), limit()]).toEqual([
      ['active', 2, ['default/a']],
      [1, 1],
    ]);
    t.stop.abort();
    await settle();
    expect(t.controller.phase).toBe('draining');
    gates.splice(0).forEach((open) => open());
    await done;
    await t.controller.waitUntilCold();
    expect(state()).toEqual(['cold', 0, []]);
  });

  it('has the settings that a manager looks at', () => {
    const make = (options: object): unknown[] => {
      const { needLeaderElection, leaderElectionScope, warmup, runnableType, name } = createController({
        name: 'x',
        reconciler,
        ...options,
      }) as ReturnType<typeof createController> & { warmup?: unknown };
      return [needLeaderElection, leaderElectionScope, typeof warmup, runnableType, name];
    };
    expect(make({})).toEqual([true, '', 'undefined', 'controller', 'x']);
    const given = { needLeaderElection: false, leaderElectionScope: 'own', enableWarmup: true };
    expect(make(given)).toEqual([false, 'own', 'function', 'controller', 'x']);
  });

  it('is logged as controller-runtime does', async () => {
    const t = createHarness(undefined, { maxConcurrentReconciles: 3 });
    const { done } = await t.start();
    t.stop.abort();
    await done;
    expect(t.logger.lines.map(({ message, fields }) => [message, fields['source'] ?? fields['worker count']])).toEqual([
      ['Starting Controller', undefined],
      ['Starting EventSource', 'kind source: Pod'],
      ['Starting workers', 3],
      ['Shutdown signal received, waiting for all workers to finish', undefined],
      ['All workers finished', undefined],
    ]);
    expect(t.logger.lines.every(({ fields }) => fields['controller'] === 'test')).toBe(true);
  });

  it('is draining from a stop on that comes with the start of the workers', async () => {
    const logger = createRecordingLogger();
    const t = createHarness(undefined, { logger });
    const push = logger.lines.push.bind(logger.lines);
    logger.lines.push = (line) => {
      if (line.message === 'Starting workers') t.stop.abort();
      return push(line);
    };
    t.pods.sync();
    await t.run();
    expect(logger.lines.map(({ message }) => message).slice(-2)).toEqual([
      'Shutdown signal received, waiting for all workers to finish',
      'All workers finished',
    ]);
  });

  it('has 0 in every series from the start on', async () => {
    const t = createHarness();
    await t.start();
    for (const result of ['success', 'error', 'requeue', 'requeue_after']) expect(t.total(result)).toBe(0);
    for (const name of ['reconcile_errors', 'terminal_reconcile_errors', 'reconcile_panics', 'reconcile_timeouts'])
      expect([name, t.count(`controller_runtime_${name}_total`)]).toEqual([name, 0]);
    expect([t.count('controller_runtime_active_workers'), t.count('kctl_controller_hot_loops_total')]).toEqual([0, 0]);
    t.stop.abort();
  });
});

describe('the sources of a controller', () => {
  it('tell of each change once, and are watched once', async () => {
    let changes = 0;
    const controller = createController({ name: 'x', reconciler });
    controller.adopt({ onSourcesChanged: () => void changes++ });
    controller.adopt({}); // keeps what is not given
    const source = funcSource('f', () => undefined);
    const handle = controller.watch(source);
    expect([changes, controller.sources().map(({ name, phase, isRequired }) => [name, phase, isRequired])]).toEqual([
      1,
      [['func source: f', 'cold', true]],
    ]);
    for (const again of [() => controller.watch(source), () => controller.reconcileAllOn(source)]) {
      expect(again).toThrow('controller "x" watches func source: f already');
      expect(again).toThrow(expect.toSatisfy(isControllerError));
    }
    expect([changes, handle.hasSynced]).toEqual([1, false]);
    const waiting = handle.waitForSync();
    await handle.remove();
    await expect(waiting).rejects.toThrow('func source: f was removed from controller "x"');
    await handle.remove();
    expect([changes, controller.sources()]).toEqual([2, []]);
    await expect(handle.waitForSync({ signal: AbortSignal.abort(new Error('no time')) })).rejects.toThrow();
  });

  it.each([undefined, null, {}, { name: 'x' }])('are sources: %o is not', (source) => {
    const controller = createController({ name: 'x', reconciler });
    const problem = 'controller "x": watch: the source is not valid';
    expect(() => controller.watch(source as never)).toThrow(problem);
    expect(() => controller.reconcileAllOn(source as never)).toThrow(problem);
  });

  it('may need rights beside theirs', () => {
    const accessNeeds = [{ group: '', resource: 'secrets', verbs: ['get'] }] as never[];
    expect(createController({ name: 'x', reconciler, accessNeeds }).accessNeeds()).toEqual(accessNeeds);
    expect(createController({ name: 'x', reconciler }).accessNeeds()).toEqual([]);
  });

  it('have the error that they failed with', async () => {
    const t = createHarness();
    t.controller.watch(
      funcSource('broken', () => {
        throw new Error('no route');
      }),
      { startPolicy: 'optional' },
    );
    await t.start();
    const [pods, broken] = t.controller.sources();
    expect([pods?.phase, pods !== undefined && 'error' in pods, broken?.phase, broken?.isRequired]).toEqual([
      'synced',
      false,
      'failed',
      false,
    ]);
    expect(isSourceError(broken?.error)).toBe(true);
    t.stop.abort();
  });
});

describe('a part of a user that fails', () => {
  it('leaves the back-off of a controller without a bucket for all keys, if it is the rate limiter', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const t = createHarness(() => Promise.reject(new Error('down')), {
      rateLimiter: { when: broken, forget: broken, numRequeues: broken },
      maxConcurrentReconciles: 200,
    });
    await t.start();
    for (let each = 0; each < 150; each++) t.pods.add(pod(`p${each}`));
    await settle();
    expect(t.runs).toHaveLength(150);
    await t.clock.advance(5);
    expect(t.runs).toHaveLength(300);
    t.stop.abort();
  });

  it('ends the run before it begins, if it is the queue factory', async () => {
    const newQueue = (): never => {
      throw new Error('no queue');
    };
    const t = createHarness(undefined, { newQueue });
    await expect(t.run()).rejects.toThrow('no queue');
    expect([t.controller.phase, getEventListeners(t.stop.signal, 'abort')]).toEqual(['cold', []]);
  });

  it('ends the controller if it is the queue, and the observer sees the run', async () => {
    const results: unknown[] = [];
    const broken = new Error('the queue is broken');
    const t = createHarness(async () => ({ requeueAfterMs: 5 }), {
      newQueue: (options) => {
        const queue = createPriorityQueue(options);
        const addWith = queue.addWith.bind(queue);
        queue.addWith = (given, ...items) => {
          if (given.reason === 'requeue') throw broken;
          addWith(given, ...items);
        };
        return queue;
      },
      observer: {
        queued: () => undefined,
        started: () => ({ requests: 0 }),
        settled: (_tally, run) => void results.push(run),
      },
    });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await expect(done).rejects.toBe(broken);
    expect(results).toEqual([{ result: 'requeue_after', error: undefined, nextMs: 5, isLooping: false }]);
  });

  it.each([undefined, null])(
    'is not an error hook that answers %s: the decision of the policy stands',
    async (answer) => {
      const t = createHarness(() => Promise.reject(new Error('down')), { onError: async () => answer as undefined });
      await t.start();
      t.pods.add(pod('a'));
      await t.clock.advance(5);
      expect(t.runs).toHaveLength(2);
      const errors = t.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
      expect(new Set(errors)).toEqual(new Set(['Reconciler error']));
      t.stop.abort();
    },
  );

  it('ends cleanly, although it is a source whose start throws', async () => {
    const start = (): never => {
      throw new Error('no route');
    };
    const t = createHarness();
    t.controller.watch({ name: 'mine', start }, { startPolicy: 'optional' });
    const { done } = await t.start();
    t.stop.abort();
    await done;
    expect(t.logger.lines.map(({ message }) => message)).not.toContain('a source did not stop cleanly');
  });
});
