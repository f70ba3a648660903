import { type Logger, type Metrics } from '@kctl/telemetry';
import { guardSinks } from '@kctl/telemetry/internal';
import { type OptionNames, requireOptions } from '@kctl/options';
import {
  checkCallbacks,
  checkDurations,
  electorOptionNames,
  type LeaderCallbacks,
  type LeaderElectorOptions,
} from '../options.js';
import type { WorkerElection } from './protocol.js';

/** Options of `createWorkerLeaderElector`. */
export interface WorkerLeaderElectorOptions extends Omit<LeaderElectorOptions, 'lock' | 'clock' | 'random' | 'name'> {
  readonly callbacks: LeaderCallbacks;
  /**
   * A module that exports `createLock(data): ResourceLock`. It is imported in the thread, so the lock's client and its
   * connections live there. Needed unless `threadModule` has it.
   */
  readonly lockModule?: URL | string;
  /**
   * The program of the thread, which is a module (or its source, or a function that finds one of them) that calls
   * `runElectionThread` of `@kctl/leader-election/election-thread`, with its `createLock`. For bundles, in which this
   * package's module does not exist. Make it an entry point of the bundler, and pass its URL.
   *
   * @default this package's own
   */
  readonly threadModule?: ThreadModule | (() => Promise<ThreadModule>);
  /** The argument of `createLock`, which is anything that structured clone takes. */
  readonly lockData?: unknown;
  /** Name in metrics, logs and errors. */
  readonly name: string;
  /**
   * How long this thread may be silent before the worker stops renewing and closes the fence, in ms. Any value is
   * safe; a longer one keeps an unused lease for longer.
   *
   * @default renewDeadlineMs
   */
  readonly mainStallLimitMs?: number;
}

/** The source of a thread's program, which is the URL of a module, or the source of a CommonJS one. */
export type ThreadModule = URL | string | { readonly source: string };

/** Options with every default filled in. */
export interface ResolvedWorkerLeaderElectorOptions {
  readonly callbacks: LeaderCallbacks;
  readonly lockModule: string | undefined;
  readonly threadModule: WorkerLeaderElectorOptions['threadModule'];
  readonly lockData: unknown;
  readonly name: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly election: WorkerElection;
}

/** Heartbeats in the time that the main thread may be silent. */
const heartbeatsPerLimit = 10;
const maxHeartbeatMs = 500;

const { lock: _lock, clock: _clock, random: _random, ...shared } = electorOptionNames;

/** Every option, complete by type, so that none can be forgotten here. */
const optionNames: OptionNames<WorkerLeaderElectorOptions> = {
  ...shared,
  lockModule: true,
  threadModule: true,
  lockData: true,
  mainStallLimitMs: true,
};

/** @throws TypeError, RangeError */
export function resolveWorkerOptions(options: WorkerLeaderElectorOptions): ResolvedWorkerLeaderElectorOptions {
  requireOptions('createWorkerLeaderElector', options, optionNames);
  checkCallbacks('createWorkerLeaderElector', options.callbacks);
  const needed = options.threadModule === undefined ? (['name', 'lockModule'] as const) : (['name'] as const);
  for (const field of needed) {
    const given: unknown = options[field];
    if (given === undefined || given === '')
      throw new TypeError(`createWorkerLeaderElector: ${field} must not be empty`);
  }
  const durations = checkDurations(options);
  const { mainStallLimitMs = durations.renewDeadlineMs } = options;
  if (!Number.isFinite(mainStallLimitMs) || mainStallLimitMs <= 0)
    throw new RangeError(
      `createWorkerLeaderElector: mainStallLimitMs must be a positive number of ms, not ${mainStallLimitMs}`,
    );
  return {
    callbacks: options.callbacks,
    lockModule: options.lockModule === undefined ? undefined : String(options.lockModule),
    threadModule: options.threadModule,
    lockData: options.lockData,
    name: options.name,
    ...guardSinks(options),
    election: {
      ...durations,
      releaseOnCancel: options.releaseOnCancel ?? true,
      reelect: options.reelect ?? false,
      coordinated: options.coordinated ?? false,
      mainStallLimitMs,
      heartbeatMs: Math.min(maxHeartbeatMs, mainStallLimitMs / heartbeatsPerLimit),
    },
  };
}
