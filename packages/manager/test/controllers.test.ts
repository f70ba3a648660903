// A manager and real controllers: the contract of designs/006-reconcile-loop.md, part A, from both sides.
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import type { Kind } from '@kctl/apimachinery';
import { Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { ReconcileRequest, Source, SourceContext } from '@kctl/controller';
import {
  channelSource,
  createController,
  createEventChannel,
  cronSource,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  kindSource,
  pollingSource,
} from '@kctl/controller';
import { startExample } from '@kctl/vitest-config/example';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ManagerOptions } from '../src/index.js';
import { createManager } from '../src/index.js';
import { FakeCache, fakeCluster, FakeElector } from './fakes.js';

const toSelf = enqueueRequestsFromMapFunc<string, ReconcileRequest>((name) => [{ name }]);

/** A manager on a fake clock; with an elector it waits for the test to let it win. */
function setUp({ elects = true, ...options }: Partial<ManagerOptions> & { readonly elects?: boolean } = {}) {
  const clock = new FakeClock();
  let elector: FakeElector | undefined;
  const manager = createManager({
    cluster: fakeCluster(),
    clock,
    ...(elects
      ? { leaderElection: { onLost: 'rejoin' as const, newElector: (request) => (elector = new FakeElector(request)) } }
      : {}),
    ...options,
  });
  const stop = new AbortController();
  let outcome: unknown = 'running';
  const start = async (): Promise<void> => {
    void manager.run(stop.signal).then(
      () => (outcome = 'ended'),
      (error: unknown) => (outcome = error),
    );
    await settle();
  };
  const runs: string[] = [];
  /** A controller of the names that it polls. */
  const polled = (enableWarmup = true, reconcile = async (): Promise<void> => undefined) => {
    const log = { polls: 0, names: ['a', 'b'] };
    const controller = createController({
      name: 'polled',
      enableWarmup,
      random: () => 0.5,
      reconciler: async ({ name }, { priority }) => {
        runs.push(`${name} ${priority}`);
        await reconcile();
      },
    });
    controller.watch(
      pollingSource<string, ReconcileRequest>({
        name: 'names',
        everyMs: 1000,
        identify: String,
        poll: async () => {
          log.polls++;
          return log.names;
        },
        handler: toSelf,
      }),
    );
    controller.watch(cronSource({ name: 'daily', schedule: '@daily', requests: () => [] }));
    return { controller, log };
  };
  return {
    clock,
    manager,
    stop,
    start,
    runs,
    polled,
    elector: () => elector ?? expect.unreachable(),
    outcome: () => outcome,
  };
}

describe('a warm standby', () => {
  it('ends its sources when the manager stops, and leaves no timer', async () => {
    const t = setUp();
    const { controller, log } = t.polled();
    t.manager.add(controller);
    await t.start();
    await t.clock.advance(5000);
    const before = log.polls;
    expect([before > 2, controller.phase]).toEqual([true, 'warm']);
    t.stop.abort();
    await t.clock.advance(60_000);
    expect([t.outcome(), log.polls, controller.phase, t.clock.pendingTimers]).toEqual(['ended', before, 'cold', 0]);
  });

  it('ends its sources when it is removed, before the removal is done', async () => {
    const t = setUp();
    const { controller, log } = t.polled();
    const handle = t.manager.add(controller);
    await t.start();
    await handle.remove();
    const before = log.polls;
    expect(controller.phase).toBe('cold');
    await t.clock.advance(60_000);
    expect([log.polls, t.outcome(), t.clock.pendingTimers]).toEqual([before, 'running', 0]);
    t.stop.abort();
    await settle();
  });
});

describe('a lease that is lost and won again', () => {
  it.each([true, false])(
    'leaves the controller warm, and everything is reconciled after the win (warm-up: %s)',
    async (warmup) => {
      const t = setUp();
      const { controller, log } = t.polled(warmup);
      t.manager.add(controller);
      await t.start();
      t.elector().win();
      await settle();
      expect(t.runs.splice(0)).toEqual(['a -100', 'b -100']);
      t.elector().lose();
      await settle();
      expect([controller.phase, t.outcome()]).toEqual(['warm', 'running']);
      log.names = ['a', 'b', 'c'];
      await t.clock.advance(3000);
      expect(t.runs).toEqual([]);
      t.elector().win();
      await settle();
      expect(t.runs.splice(0)).toEqual(['c 0', 'a -100', 'b -100']);
      t.stop.abort();
      await t.clock.advance(0);
      expect([t.outcome(), controller.phase, t.clock.pendingTimers]).toEqual(['ended', 'cold', 0]);
    },
  );
});

describe('a controller of a running manager', () => {
  it('can be removed and added again without an await', async () => {
    const t = setUp({ elects: false });
    const hold = Promise.withResolvers<undefined>();
    const { controller } = t.polled(true, () => hold.promise);
    t.manager.add(controller);
    await t.start();
    expect(t.runs.length).toBe(1);
    const removed = t.manager.remove(controller);
    const again = t.manager.add(controller);
    await settle();
    expect(controller.phase).toBe('draining');
    hold.resolve(undefined);
    await settle();
    expect([t.outcome(), controller.phase]).toEqual(['running', 'active']);
    await again.remove();
    await removed;
    expect([t.outcome(), controller.phase]).toEqual(['running', 'cold']);
    t.stop.abort();
    await settle();
    expect([t.outcome(), t.clock.pendingTimers]).toEqual(['ended', 0]);
  });

  it('outlives the removal of a watch that has not synced', async () => {
    const t = setUp({ elects: false });
    const { controller } = t.polled();
    const never: Source<ReconcileRequest> = {
      name: 'never',
      start: async (_context: SourceContext<ReconcileRequest>) => ({
        waitForSync: () => new Promise(() => undefined),
        stop: () => undefined,
      }),
    };
    const watch = controller.watch(never);
    t.manager.add(controller);
    await t.start();
    expect(controller.phase).toBe('cold');
    await watch.remove();
    await settle();
    expect([t.outcome(), controller.phase]).toEqual(['running', 'active']);
    t.stop.abort();
    await settle();
    expect(t.outcome()).toBe('ended');
  });

  it('lets go of the informer of a watch that is removed, and has that of one that is added on a standby', async () => {
    const loans: string[] = [];
    const cache = Object.assign(new FakeCache(), {
      acquire: ({ kind }: Kind) => {
        loans.push(`lent ${kind}`);
        const registration = { hasSynced: true, waitForSync: async () => undefined, remove: () => undefined };
        return {
          informer: { addEventHandler: () => registration },
          [Symbol.asyncDispose]: async () => void loans.push(`returned ${kind}`),
        };
      },
    });
    const t = setUp({ cluster: fakeCluster(cache) });
    const controller = createController({ name: 'x', reconciler: async () => undefined });
    const sourceOf = (kind: Kind): Source<ReconcileRequest> =>
      kindSource({ informers: t.manager.cache, kind, handler: enqueueRequestForObject() });
    const watch = controller.watch(sourceOf(Pod));
    t.manager.add(controller);
    await t.start();
    expect(loans.splice(0)).toEqual(['lent Pod']);
    controller.watch(sourceOf(Secret));
    expect(loans.splice(0)).toEqual(['lent Secret']);
    t.elector().win();
    await settle();
    expect([controller.phase, loans.splice(0)]).toEqual(['active', ['lent Pod', 'lent Secret']]);
    await watch.remove();
    await settle();
    expect(loans.splice(0)).toEqual(['returned Pod', 'returned Pod']);
    t.stop.abort();
    await settle();
    expect([t.outcome(), loans]).toEqual(['ended', ['returned Secret']]);
  });

  it('takes over what its options leave open from the manager', () => {
    const t = setUp({ controllers: { maxConcurrentReconciles: 7, cacheSyncTimeoutMs: 9 } });
    const controller = createController({
      name: 'x',
      reconciler: async () => undefined,
      cacheSyncTimeoutMs: 5,
      maxConcurrentReconciles: undefined as never,
    });
    t.manager.add(controller);
    expect(controller.settings).toMatchObject({ maxConcurrentReconciles: 7, cacheSyncTimeoutMs: 5 });
    expect(controller.maxConcurrentReconciles).toBe(7);
  });

  it('ends the manager when a source fails that it needs, and leaves nothing', async () => {
    const t = setUp({ elects: false });
    const { controller } = t.polled();
    const events = createEventChannel<string>();
    async function* broken(): AsyncGenerator<string> {
      yield* events;
      throw new Error('stream broke');
    }
    controller.watch(channelSource({ name: 'outside', events: broken(), handler: toSelf }));
    t.manager.add(controller);
    await t.start();
    events.close();
    await t.clock.advance(0);
    expect(t.outcome()).toMatchObject({ cause: new Error('stream broke') });
    expect([controller.phase, t.clock.pendingTimers]).toEqual(['cold', 0]);
  });
});

describe('the signal that run is given', () => {
  it.each([true, false])('has no listener of the manager after a run that failed (elects: %s)', async (elects) => {
    const t = setUp({ elects });
    t.manager.add({
      name: 'broken',
      group: 'others',
      run: () => Promise.reject(new Error('cannot start')),
    });
    await t.start();
    await t.clock.advance(60_000);
    expect(t.outcome()).toMatchObject({ cause: new Error('cannot start') });
    expect(getEventListeners(t.stop.signal, 'abort')).toEqual([]);
  });
});

describe('the process of a manager that has given up on a reconcile', () => {
  it('ends although the reconcile hangs', async () => {
    const program = startExample(join(import.meta.dirname, 'hung-program.ts'));
    expect([await program.exited, program.output]).toEqual([
      0,
      'failed waiting for all runnables to end within grace period of 50 ms: still running: hung (hangs)\n',
    ]);
  });
});
