import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createController, funcSource, isControllerError, isSourceError } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';

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
