// Clocks: wrong from the beginning, and wrong after they were right for a while.
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { createExpiringCache, createTtlStore } from '@kctl/cache-index';
import * as client from '@kctl/client';
import * as operations from '@kctl/client/operations';
import { createHttpClient, createTransport } from '@kctl/client-http';
import { createEventBroadcaster } from '@kctl/events';
import * as informer from '@kctl/informer';
import { createInspection } from '@kctl/inspection';
import * as election from '@kctl/leader-election';
import * as wait from '@kctl/wait';
import type { FakeClock } from '@kctl/wait/testing';
import * as workqueue from '@kctl/workqueue';
import { object } from '../parts.js';
import { failing, goodClient, key, nothing, reconcile, runnable, settle } from './kit.js';
import type { Scenario, Stage } from './play.js';

type Play = (stage: Stage, clock: wait.Clock) => Promise<unknown>;
const aborted = { signal: AbortSignal.abort(new Error('the test has ended')) };

const plays: Readonly<Record<string, Play>> = {
  'what waits': async ({ attempt, signal, end }, clock) => {
    await attempt(() => wait.createBackoff({ initialMs: 1, clock }).next());
    await attempt(() => wait.createItemBackoff({ initialMs: 1, maxMs: 2, clock }).next('a'));
    await attempt(() => wait.createTokenBucket({ perSecond: 1, clock }).take());
    const waits = [
      wait.sleep(1, { clock, signal }),
      wait.poll(nothing, { interval: 1, clock, signal }),
      wait.retry(failing, { clock, signal, isRetriable: () => true }),
      wait.until(nothing, 1, { clock, signal }),
      wait.withDeadline(() => Promise.resolve(1), { timeoutMs: 1, clock, signal }),
    ];
    for (const each of waits) each.catch(nothing);
    await settle();
    end();
    for (const each of waits) await attempt(() => each);
    await attempt(() => {
      using link = wait.timeoutSignal(clock, 1);
      return link.signal.aborted;
    });
  },
  'a queue': async ({ attempt }, clock) => {
    await attempt(() => {
      const queue = workqueue.createRateLimitingQueue({ clock });
      queue.addAfter('a', 5);
      queue.addRateLimited('b');
      queue.shutDown();
    });
    await attempt(() => workqueue.bucketRateLimiter({ perSecond: 1, burst: 1, clock }).when('a'));
  },
  'a store': async ({ attempt }, clock) => {
    await attempt(() => createExpiringCache<string, string>({ clock }).set('a', 'b', 1));
    await attempt(() => createTtlStore<string>({ ttlMs: 1, key: () => 'a', clock }).list());
  },
  'helpers of clients': async ({ attempt }, clock) => {
    const own = goodClient as never;
    await attempt(() => client.waitFor(own, ConfigMap, key, { until: client.exists(), clock, ...aborted }));
    await attempt(() => client.retryOnConflict(async () => await Promise.resolve(), { clock }));
    await attempt(() => operations.drain(own, 'a', { clock, ...aborted, force: true }));
    await attempt(() => client.describeObject(object, { clock }));
  },
  'a transport': async ({ attempt }, clock) => {
    await attempt(async () => {
      const dispatcher = {
        dispatch: () => true,
        close: async () => await Promise.resolve(),
        destroy: async () => await Promise.resolve(),
      };
      const connection = { server: 'https://127.0.0.1:1', newDispatcher: () => dispatcher };
      await using own = createHttpClient({ transport: createTransport(connection, { clock, environment: {} }) });
      await own.get(ConfigMap, key, aborted);
    });
  },
  'a controller': async (stage, clock) => await reconcile(stage, { clock, reconciler: failing }),
  'an informer': async (stage, clock) => {
    const listerWatcher = { list: failing, watch: failing, supportsWatchList: false };
    const { logger, attempt } = stage;
    await attempt(async () => {
      const own = informer.createSharedInformer({ kind: ConfigMap, listerWatcher, clock, logger });
      await runnable(own, stage, (signal) => own.run(signal));
    });
  },
  'a cache': async (stage, clock) => {
    await stage.attempt(async () => {
      const own = createCache({ client: goodClient as never, clock, logger: stage.logger });
      await runnable(own, stage, (signal) => own.run(signal));
    });
  },
  'an elector': async (stage, clock) => {
    const { logger, attempt } = stage;
    await attempt(async () => {
      const lock = election.createLeaseLock({ client: goodClient as never, ...key, identity: 'me' });
      const callbacks = { onStartedLeading: nothing };
      const own = election.createLeaderElector({ lock, clock, logger, callbacks, random: () => 0 });
      await runnable(own, stage, (signal) => own.run(signal));
    });
  },
  'a broadcaster': async (stage, clock) => {
    const { logger, attempt } = stage;
    await attempt(async () => {
      const own = createEventBroadcaster({ client: goodClient as never, clock, logger });
      own.recorder('me').event(object, { type: 'Normal', reason: 'A', note: 'a' });
      await runnable(own, stage, (signal) => own.run(signal));
    });
  },
  'what writes dates': async ({ attempt }, clock) => {
    await attempt(() => operations.restartRollout(goodClient as never, Deployment, key, { clock }));
  },
  'an inspection': async ({ attempt }, clock) => {
    await attempt(() => createInspection({ clock }));
  },
};

/** The clock of the stage. */
let present: FakeClock | undefined;
const ofStage = (): FakeClock => present ?? expected();
const expected = (): never => {
  throw new Error('expected by the scenario');
};
const part: wait.Clock = {
  now: () => ofStage().now(),
  monotonicNow: () => ofStage().monotonicNow(),
  setTimer: (callback, delayMs) => ofStage().setTimer(callback, delayMs),
};

/** Calls of a method that are answered as they should be, the check at the beginning among them. */
const rightCalls: Readonly<Record<string, number>> = { now: 1, monotonicNow: 3, setTimer: 1 };

function later(clock: wait.Clock): wait.Clock {
  const calls = new Map<string, number>();
  const isRight = (name: string): boolean => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    return (calls.get(name) ?? 0) <= (rightCalls[name] ?? 0);
  };
  return {
    now: () => (isRight('now') ? part : clock).now(),
    monotonicNow: () => (isRight('monotonicNow') ? part : clock).monotonicNow(),
    setTimer: (callback, delayMs) => (isRight('setTimer') ? part : clock).setTimer(callback, delayMs),
  };
}

export const clocks: readonly Scenario[] = Object.entries(plays).flatMap(([name, play]): Scenario[] => [
  {
    name: `the clock of ${name}, wrong from the beginning`,
    part,
    except: ['setTimer'],
    named: /clock\.(?:now|monotonicNow)\(\)/,
    fine: /^a number(?: below 0)?$/,
    play: async (stage, clock) => {
      present = stage.clock;
      await play(stage, clock);
    },
  },
  {
    name: `the timers of ${name}`,
    part,
    except: ['now', 'monotonicNow'],
    play: async (stage, clock) => {
      present = stage.clock;
      await play(stage, clock);
    },
  },
  {
    name: `the clock of ${name}, wrong later`,
    part,
    // Its type was checked.
    without: /bigint|symbol/,
    play: async (stage, clock) => {
      present = stage.clock;
      await play(stage, later(clock));
    },
  },
]);
