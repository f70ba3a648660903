import { noopLogger, noopMetrics, type Logger, type Metrics } from '@kctl/telemetry';
import { systemClock, systemRandom, type Clock, type Random } from '@kctl/wait';
import type { ResourceLock } from './record.js';

/** What the elector tells its owner. */
export interface LeaderCallbacks {
  /**
   * Leadership was gained. `signal` is aborted as soon as it ends, for whatever reason; the returned promise must
   * settle soon after that: nobody else may lead before it has. Returning early does not give leadership up.
   */
  onStartedLeading(signal: AbortSignal): void | Promise<void>;
  /** `run` is about to end, or to run for re-election; `led` tells whether this candidate had led. */
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
  /** Time between attempts, in ms; candidates add up to 120 % jitter. @default 2000 */
  readonly retryPeriodMs?: number;
  /** Gives the lock back when `run` is aborted and the work has stopped, so that others need not wait. @default true */
  readonly releaseOnCancel?: boolean;
  /** After a loss, run again as a candidate instead of rejecting. @default false */
  readonly reelect?: boolean;
  /** Name in metrics. @default the lock's description */
  readonly name?: string;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default Math.random */
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Options with every default filled in. */
export type ResolvedLeaderElectorOptions = Required<LeaderElectorOptions>;

/** Candidates wait up to this factor longer, so that they do not all come at once. As in client-go. */
export const jitterFactor = 1.2;

/** Fills the defaults and checks that the durations can keep two leaders apart. @throws TypeError, RangeError */
export function resolveLeaderElectorOptions(options: LeaderElectorOptions): ResolvedLeaderElectorOptions {
  const resolved: ResolvedLeaderElectorOptions = {
    lock: options.lock,
    callbacks: options.callbacks,
    leaseDurationMs: options.leaseDurationMs ?? 15_000,
    renewDeadlineMs: options.renewDeadlineMs ?? 10_000,
    retryPeriodMs: options.retryPeriodMs ?? 2_000,
    releaseOnCancel: options.releaseOnCancel ?? true,
    reelect: options.reelect ?? false,
    name: options.name ?? options.lock.description,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    logger: options.logger ?? noopLogger,
    metrics: options.metrics ?? noopMetrics,
  };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = resolved;
  if (resolved.lock.identity === '') throw new TypeError('createLeaderElector: lock.identity must not be empty');
  for (const [field, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!Number.isFinite(value) || value <= 0)
      throw new RangeError(`createLeaderElector: ${field} must be a positive number of ms, not ${value}`);
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
  return resolved;
}
