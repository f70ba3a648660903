import type { Planner } from './plan.js';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger, LogFields, Metrics, RequestCounter, Tracer } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { numberProblem } from '@kctl/options';
import type { RateLimiter } from '@kctl/workqueue';
import type { ReconcileObserver } from './observer.js';
import type { PolicyOptions } from './policy/policies.js';
import type { QueueFactory } from './queue/reconcile-queue.js';
import type { ReconcileErrorHook, Reconciler } from './reconciler/reconciler.js';
import type { RetryPolicy } from './retry/retry-policy.js';

/** Settings that a manager may give to all its controllers. Mirrors `config.Controller`. */
export interface ControllerSettings {
  /** Maximum number of concurrent reconciles, an integer ≥ 0; 0 pauses. @default 1 */
  readonly maxConcurrentReconciles?: number;
  /** Bound on starting and syncing each source, in ms. @default 120000 */
  readonly cacheSyncTimeoutMs?: number;
  /** Turns a throw into a failed reconcile; otherwise `run` rejects with it. @default true */
  readonly recoverPanic?: boolean;
  /** Whether a manager runs the controller only while it leads. @default true */
  readonly needLeaderElection?: boolean;
  /** Higher priorities first, and one slot per key. Otherwise client-go's queue. @default true */
  readonly usePriorityQueue?: boolean;
  /** Whether sources start before the process leads, so that it can begin at once when it does. @default false */
  readonly enableWarmup?: boolean;
  /** Aborts the signal of a reconcile after this many ms; 0: never. @default 0 */
  readonly reconciliationTimeoutMs?: number;
  /** Allows several controllers of one name in one manager; their metrics then add up. @default false */
  readonly skipNameValidation?: boolean;
  /** Name of an own lease instead of the manager's, so that replicas can share the controllers. @default '' */
  readonly leaderElectionScope?: string;
}

/** Options of `createController`. */
export interface ControllerOptions<R> extends ControllerSettings, PolicyOptions {
  /** Label of metrics, field of logs; unique in a manager. */
  readonly name: string;
  readonly reconciler: Reconciler<R>;
  /** Rights that the reconciler needs beside those of its sources, see `accessTo` of @kctl/rbac. @default none */
  readonly accessNeeds?: readonly AccessNeed[];
  /** Plan what its reconciles would change, for `kctl plan`. @default none */
  readonly planners?: readonly Planner[];
  /**
   * Decides the consequence of a failure. @default `createRetryPolicy()`, back-off without limit; terminal errors and
   * Retry-After honoured
   */
  readonly retryPolicy?: RetryPolicy;
  /** Runs after each failure; may write status and change what follows. @default the reconciler's own, else none */
  readonly onError?: ReconcileErrorHook<R>;
  /** Back-off. @default per item 5 ms doubling up to 1000 s; without priority queue also 10 per s with bursts of 100 */
  readonly rateLimiter?: RateLimiter<R>;
  /** Makes the queue. @default a priority queue, see `usePriorityQueue` */
  readonly newQueue?: QueueFactory<R>;
  /** Identity of requests. @default name, namespace and cluster if it has no other fields, else its JSON */
  readonly requestKey?: (request: R) => string;
  /** @default nothing is written */
  readonly logger?: Logger;
  /** Fields of the logs of one request. @default `object`, `namespace` and `name`, else `request` */
  readonly logFields?: (request: R) => LogFields;
  /** @default nothing is measured */
  readonly metrics?: Metrics;
  /** A span `reconcile` for each run. @default nothing is traced */
  readonly tracer?: Tracer;
  /**
   * Attributes requests to the run that sends them, for the metric `kctl_controller_reconcile_requests` and the attribute
   * `requests` of the span. With none of `metrics`, `tracer` and `observer` it is not used.
   *
   * @default requests are not counted; the manager of @kctl/runtime counts those of its clients
   */
  readonly requestCounter?: RequestCounter;
  /** Looks on at events and runs, e.g. the recorder of @kctl/inspection. @default none, which costs nothing */
  readonly observer?: ReconcileObserver;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default Math.random */
  readonly random?: Random;
}

/** {@link ControllerSettings} without gaps. */
type Settings = { readonly [K in keyof ControllerSettings]-?: NonNullable<ControllerSettings[K]> };

/** The defaults of {@link ControllerSettings}. */
export const controllerDefaults: Settings = {
  maxConcurrentReconciles: 1,
  cacheSyncTimeoutMs: 120_000,
  recoverPanic: true,
  needLeaderElection: true,
  usePriorityQueue: true,
  enableWarmup: false,
  reconciliationTimeoutMs: 0,
  skipNameValidation: false,
  leaderElectionScope: '',
};

/**
 * Fills in what is not set, from what is inherited, then from the defaults.
 *
 * @throws TypeError naming each option that is not valid
 */
export function resolveSettings(
  name: string,
  given: ControllerSettings & PolicyOptions,
  inherited: ControllerSettings = {},
): Required<ControllerSettings> {
  const pick = <K extends keyof ControllerSettings>(setting: K): NonNullable<ControllerSettings[K]> =>
    given[setting] ?? inherited[setting] ?? controllerDefaults[setting];
  const settings: Required<ControllerSettings> = {
    maxConcurrentReconciles: pick('maxConcurrentReconciles'),
    cacheSyncTimeoutMs: pick('cacheSyncTimeoutMs'),
    recoverPanic: pick('recoverPanic'),
    needLeaderElection: pick('needLeaderElection'),
    usePriorityQueue: pick('usePriorityQueue'),
    enableWarmup: pick('enableWarmup'),
    reconciliationTimeoutMs: pick('reconciliationTimeoutMs'),
    skipNameValidation: pick('skipNameValidation'),
    leaderElectionScope: pick('leaderElectionScope'),
  };
  const { debounce, safetyInterval, hotLoop, runLimit } = given;
  const problems = [
    concurrencyProblem(settings.maxConcurrentReconciles),
    numberProblem('cacheSyncTimeoutMs', settings.cacheSyncTimeoutMs),
    numberProblem('reconciliationTimeoutMs', settings.reconciliationTimeoutMs),
  ];
  if (safetyInterval !== undefined)
    problems.push(
      numberProblem('safetyInterval.everyMs', safetyInterval.everyMs, {
        above: 0,
        remedy: 'leave safetyInterval out for none',
      }),
    );
  if (debounce !== undefined)
    problems.push(
      numberProblem('debounce.quietMs', debounce.quietMs),
      numberProblem('debounce.maxMs', debounce.maxMs, { orInfinity: true }),
    );
  if (runLimit !== undefined)
    problems.push(
      numberProblem('runLimit.runs', runLimit.runs, { least: 1, integer: true }),
      numberProblem('runLimit.perMs', runLimit.perMs, { above: 0, remedy: 'leave runLimit out for none' }),
    );
  if (hotLoop !== undefined && hotLoop !== false && hotLoop.maxPerMinute !== undefined)
    problems.push(
      numberProblem('hotLoop.maxPerMinute', hotLoop.maxPerMinute, {
        least: 1,
        orInfinity: true,
        remedy: 'hotLoop: false turns it off',
      }),
    );
  if (typeof name !== 'string' || name === '')
    problems.unshift(
      `name ${name === '' ? "''" : JSON.stringify(name)} is not valid: must specify Name for Controller: expected a name that is unique in the manager`,
    );
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new TypeError(`controller ${JSON.stringify(name)}: ${found.join('; ')}`);
  return settings;
}

/** Why a number of workers is not valid. */
export function concurrencyProblem(value: number): string | undefined {
  return numberProblem('maxConcurrentReconciles', value, { integer: true });
}
