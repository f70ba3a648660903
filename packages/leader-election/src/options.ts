import { type Logger, type Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import {
  booleanOption,
  clockOption,
  functionOption,
  type OptionNames,
  optionProblems,
  textOption,
} from '@kctl/options';
import { type Clock, type Random, systemClock, systemRandom } from '@kctl/wait';
import { guardedRandom } from '@kctl/wait/internal';
import { createAwakeClock } from './awake-clock.js';
import type { Fence } from './fence.js';
import type { ResourceLock } from './record.js';

/** The callbacks of an elector. */
export interface LeaderCallbacks {
  /**
   * Leadership was gained. `signal` is aborted as soon as it ends, for any reason; the returned promise must settle
   * soon after that, because no other replica may lead before. Returning early does not give leadership up. `fence`
   * guards this term; unlike the elector's, it never opens again, even for work that outlives it.
   */
  onStartedLeading(signal: AbortSignal, fence: Fence): void | Promise<void>;
  /** `run` is about to end, or to run for re-election; `led` is whether this candidate had led. */
  onStoppedLeading?(outcome: { readonly led: boolean }): void;
  /** The observed leader changed: '' after a release. Called also for oneself. */
  onNewLeader?(identity: string): void;
}

/** Options of `createLeaderElector`. */
export interface LeaderElectorOptions {
  readonly lock: ResourceLock;
  readonly callbacks: LeaderCallbacks;
  /** How long others wait after the last renewal they saw before they take over, in ms; whole seconds. @default 15000 */
  readonly leaseDurationMs?: number;
  /** How long after the start of its last good renewal the leader stops leading, in ms. @default 10000 */
  readonly renewDeadlineMs?: number;
  /** Time between renewals, in ms. Candidates look every 0.5 to 0.9 of it, and when the lease expires. @default 2000 */
  readonly retryPeriodMs?: number;
  /** Gives the lock back when `run` is aborted and the work has stopped, so that others need not wait. @default true */
  readonly releaseOnCancel?: boolean;
  /** After a loss, run again as a candidate instead of rejecting. @default false */
  readonly reelect?: boolean;
  /**
   * Coordinated election (KEP-4355). The server chooses among the LeaseCandidates; this side never creates or takes the
   * Lease, renews it while it is the holder, and lets it lapse when another holder is preferred. Announce the candidate
   * with `runLeaseCandidate`.
   *
   * @default false
   */
  readonly coordinated?: boolean;
  /** Name in metrics. @default the lock's description */
  readonly name?: string;
  /** @default the system's, with the time counted during which the machine was suspended */
  readonly clock?: Clock;
  /** @default Math.random */
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Options with every default filled in, and what only this package uses. */
export interface ResolvedLeaderElectorOptions extends Required<LeaderElectorOptions> {
  /** Called with the (monotonic) time until which the fence is open, on each change; 0 when it closes. */
  readonly onOpenUntil: (openUntil: number) => void;
}

/** Every option, complete by type, so that none can be forgotten here. */
export const electorOptionNames: OptionNames<LeaderElectorOptions> = {
  lock: true,
  callbacks: true,
  leaseDurationMs: true,
  renewDeadlineMs: true,
  retryPeriodMs: true,
  releaseOnCancel: booleanOption,
  reelect: booleanOption,
  coordinated: booleanOption,
  name: textOption,
  clock: clockOption,
  random: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
};

const callbackNames: Readonly<Record<keyof LeaderCallbacks, true>> = {
  onStartedLeading: true,
  onStoppedLeading: true,
  onNewLeader: true,
};

/** The renew deadline must leave room for more than one renewal. client-go's JitterFactor. */
const jitterFactor = 1.2;

/** Fills the defaults and checks that the durations can keep two leaders apart. @throws TypeError, RangeError */
export function resolveLeaderElectorOptions(
  options: LeaderElectorOptions,
  onOpenUntil: (openUntil: number) => void = () => undefined,
): ResolvedLeaderElectorOptions {
  checkLock(options.lock);
  checkCallbacks('createLeaderElector', options.callbacks);
  const sinks = guardSinks(options);
  const resolved: ResolvedLeaderElectorOptions = {
    lock: options.lock,
    callbacks: options.callbacks,
    ...checkDurations(options),
    releaseOnCancel: options.releaseOnCancel ?? true,
    reelect: options.reelect ?? false,
    coordinated: options.coordinated ?? false,
    onOpenUntil,
    name: options.name ?? options.lock.description,
    clock: options.clock === undefined || options.clock === systemClock ? createAwakeClock() : options.clock,
    // A function that fails must not cost the lease, nor a sink that does.
    random: guardedRandom(options.random ?? systemRandom, (error) =>
      sinks.logger.error('random failed, Math.random is used instead', { error }),
    ),
    ...sinks,
  };
  return resolved;
}

function checkLock(lock: ResourceLock): void {
  const given: unknown = lock;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(
      `createLeaderElector: lock is ${String(given)}: expected a ResourceLock such as createLeaseLock({ … })`,
    );
  if (typeof lock.identity !== 'string' || lock.identity === '')
    throw new TypeError('createLeaderElector: lock.identity must not be empty');
}

/** @throws TypeError when there is nothing to call on a win */
export function checkCallbacks(where: string, callbacks: LeaderCallbacks): void {
  const given: unknown = callbacks;
  const isGiven = typeof given === 'object' && given !== null && typeof callbacks.onStartedLeading === 'function';
  if (!isGiven) throw new TypeError(`${where}: callbacks.onStartedLeading is not set: expected the work as a function`);
  const problems = optionProblems(callbacks, callbackNames, 'callbacks');
  for (const name of ['onStoppedLeading', 'onNewLeader'] as const)
    if (callbacks[name] !== undefined && typeof callbacks[name] !== 'function')
      problems.push(`callbacks.${name} is not a function`);
  if (problems.length > 0) throw new TypeError(`${where}: ${problems.join('; ')}`);
}

/** The three durations of an election. */
export type Durations = Pick<ResolvedLeaderElectorOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

/** Fills in the durations and checks that they can keep two leaders apart. @throws RangeError */
export function checkDurations(options: Partial<Durations>): Durations {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  for (const [field, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!Number.isFinite(value) || value <= 0)
      throw new RangeError(`createLeaderElector: ${field} must be a positive number of ms, not ${String(value)}`);
  }
  if (leaseDurationMs % 1000 !== 0) {
    throw new RangeError(
      `createLeaderElector: leaseDurationMs ${leaseDurationMs} must be whole seconds: the Lease stores seconds, and others would wait too short`,
    );
  }
  if (renewDeadlineMs <= retryPeriodMs * jitterFactor) {
    throw new RangeError(
      `createLeaderElector: renewDeadlineMs ${renewDeadlineMs} must be greater than retryPeriodMs × ${jitterFactor} = ${retryPeriodMs * jitterFactor}`,
    );
  }
  if (leaseDurationMs <= renewDeadlineMs + retryPeriodMs) {
    throw new RangeError(
      `createLeaderElector: leaseDurationMs ${leaseDurationMs} must be greater than renewDeadlineMs + retryPeriodMs = ${renewDeadlineMs + retryPeriodMs}: ` +
        'otherwise another candidate may take over before the work of this one has stopped',
    );
  }
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
