import { numberOption, type OptionNames, requireOptions, requireSignal } from '@kctl/options';
import { anySignal, isAbortError, sleep, untilAborted } from '@kctl/wait';
import { callSafely } from './call-safely.js';
import { Contest } from './contest.js';
import { createElectionMetrics, type ElectionMetrics } from './election-metrics.js';
import { LeadershipLostError, LeaseNotRenewedError } from './errors.js';
import { FailureLog } from './failure-log.js';
import { createFence, type Fence } from './fence.js';
import {
  electorOptionNames,
  resolveLeaderElectorOptions,
  type LeaderElectorOptions,
  type ResolvedLeaderElectorOptions,
} from './options.js';
import { withTimeout } from './request-timeout.js';
import { Term } from './term.js';
import { settledWithin, startWork, type Work } from './work.js';

/** Options of {@link LeaderElector.stepDown}. */
export interface StepDownOptions {
  /**
   * How long not to run again (with `reelect`), so that another candidate gets its turn, in ms (a number ≥ 0 or
   * Infinity).
   *
   * @default leaseDurationMs
   */
  readonly holdOffMs?: number;
}

const stepDownNames: OptionNames<StepDownOptions> = { holdOffMs: numberOption({ orInfinity: true }) };

/** @throws TypeError naming the option that is not valid, because a run must not end by the options of one call */
export function requireStepDownOptions(options: StepDownOptions): void {
  requireOptions('LeaderElector.stepDown', options, stepDownNames);
}

/** Takes part in an election and leads when it wins. Mirrors client-go's `leaderelection.LeaderElector`. */
export interface LeaderElector {
  /**
   * Competes until `signal` is aborted, and resolves when the work has stopped and the lock was given back.
   *
   * @throws LeadershipLostError after a loss, unless `reelect` is set
   * @throws the error with which `onStartedLeading` rejects before its signal is aborted
   */
  run(signal: AbortSignal): Promise<void>;
  /** Whether this candidate leads now; looks at the clock, so it is right after a stall too. */
  readonly isLeader: boolean;
  /** The last observed holder; '' if there is no holder. */
  readonly leader: string;
  /** How long ago the request was sent that renewed the lease last, in ms; undefined without leadership. */
  readonly renewedMsAgo?: number | undefined;
  /** Guards protected work in any term. Each term has a separate fence, see `onStartedLeading`. */
  readonly fence: Fence;
  /**
   * Ends the current term, that is, aborts the work, waits for it, and gives the lock back (regardless of
   * `releaseOnCancel`). Resolves when that is done, at once without leadership. `run` then resolves, or with `reelect`
   * runs again.
   *
   * @throws TypeError (rejects) when an option is not valid; the term goes on then
   */
  stepDown(options?: StepDownOptions): Promise<void>;
  /**
   * Ends the run without waiting for the work and without giving the lock back. The fence closes, the work is aborted,
   * renewals end, and the lease expires. For an owner that stops waiting for work that does not end. `run` resolves.
   */
  abandon(): void;
  /**
   * Unhealthy (throws) only if this candidate believes that it leads, or still does the work of a term that has ended,
   * although the lease expired more than `toleranceMs` ago (default 0), because it hangs. Mirrors `HealthzAdaptor`.
   */
  checkHealth(toleranceMs?: number): void;
}

/**
 * @throws TypeError, RangeError when the options cannot keep two leaders apart
 *
 * @example
 * ```ts
 * import { createLeaderElector, createLeaseLock } from '@kctl/leader-election';
 *
 * const lock = createLeaseLock({ client, namespace: 'shop', name: 'sweeper', identity: 'host-1_7f3a' });
 * const elector = createLeaderElector({
 *   lock,
 *   callbacks: { onStartedLeading: async (term) => console.log('leads', term.aborted) },
 * });
 * await elector.run(signal);
 * ```
 */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  requireOptions('createLeaderElector', options, electorOptionNames);
  return new Elector(resolveLeaderElectorOptions(options));
}

/**
 * Share of the retry period after which a candidate looks again. client-go waits 1 to 2.2 of them; here less than one, so
 * that each renewal is seen before the next, which bounds a failover, and not much less, because each standby goes on asking.
 */
const leastPoll = 0.8;
const pollSpread = 0.1;

/** How a term ended. */
type Ending =
  | { readonly why: 'stopped' | 'stepped-down' }
  | { readonly why: 'lost' | 'failed'; readonly error: unknown };

export class Elector implements LeaderElector {
  readonly fence: Fence;
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #metrics: ElectionMetrics;
  readonly #contest: Contest;
  readonly #failures: FailureLog;
  #abandoned = new AbortController();
  #term: Term | undefined;
  /** Work that did not end in time, and when its lease expired. */
  #straggler: { readonly work: Work; readonly expiredAt: number } | undefined;
  #holdOffMs = 0;
  #running = false;

  constructor(options: ResolvedLeaderElectorOptions) {
    this.#options = options;
    this.#metrics = createElectionMetrics(options.metrics, options.name);
    this.#failures = new FailureLog(options.logger, options.lock.description);
    this.#contest = new Contest(options, this.#metrics.slowPath);
    this.fence = createFence(options.lock.description, {
      isOpen: () => this.isLeader,
      signal: () => this.#term?.signal,
    });
  }

  get isLeader(): boolean {
    return this.#term?.isOpen === true;
  }

  get renewedMsAgo(): number | undefined {
    return this.#term?.isOpen === true ? this.#now() - this.#term.renewedAt : undefined;
  }

  get leader(): string {
    return this.#contest.holder;
  }

  async stepDown(options: StepDownOptions = {}): Promise<void> {
    requireStepDownOptions(options);
    const { holdOffMs = this.#options.leaseDurationMs } = options;
    const term = this.#term;
    if (term === undefined) return;
    this.#holdOffMs = holdOffMs;
    term.giveUp();
    await term.ended;
  }

  abandon(): void {
    this.#abandoned.abort(new DOMException('the election was abandoned', 'AbortError'));
  }

  /** Ends the current term as lost. The fence closes at once, and the lease is left to expire. */
  lose(reason: Error): void {
    this.#term?.lose(reason);
    this.#options.onOpenUntil(0);
  }

  checkHealth(toleranceMs = 0): void {
    const { description } = this.#options.lock;
    const straggler = this.#straggler;
    if (straggler !== undefined && this.#now() - straggler.expiredAt > toleranceMs)
      throw new Error(`leadership of ${description} has ended, but its work is still running`);
    if (this.#term === undefined) return;
    const late = this.#now() - this.#term.expiresAt;
    if (late > toleranceMs)
      throw new Error(
        `failed election to renew leadership on ${description}: the lease expired ${Math.round(late)} ms ago`,
      );
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('LeaderElector.run', signal);
    if (this.#running) throw new TypeError('LeaderElector.run: already running');
    this.#running = true;
    this.#abandoned = new AbortController();
    using stop = anySignal([signal, this.#abandoned.signal]);
    try {
      await this.#compete(stop.signal);
    } finally {
      this.#running = false;
    }
  }

  async #compete(signal: AbortSignal): Promise<void> {
    const { reelect, lock, logger } = this.#options;
    for (;;) {
      const acquiredAt = await this.#acquire(signal);
      if (acquiredAt === undefined) {
        this.#tellStopped(false);
        return;
      }
      const ending = await this.#lead(acquiredAt, signal);
      this.#tellStopped(true);
      if (ending.why === 'failed') throw ending.error;
      if (ending.why === 'stopped' || (ending.why === 'stepped-down' && !reelect)) return;
      if (ending.why === 'lost') {
        if (!reelect) throw new LeadershipLostError(lock.description, { cause: ending.error });
        logger.warn('leadership lost, running for re-election', { lock: lock.description, error: ending.error });
      } else await this.#pause(this.#holdOffMs, signal);
    }
  }

  #tellStopped(led: boolean): void {
    const { callbacks, logger } = this.#options;
    callSafely(logger, 'onStoppedLeading', () => callbacks.onStoppedLeading?.({ led }));
  }

  #now(): number {
    return this.#options.clock.monotonicNow();
  }

  /**
   * Tries until it holds the lock, and returns the monotonic time at which the winning request was sent; undefined on
   * abort.
   */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    const { random, retryPeriodMs, renewDeadlineMs, lock, logger } = this.#options;
    await this.#waitForStraggler(signal);
    logger.info('attempting to acquire leader lease', { lock: lock.description });
    while (!signal.aborted) {
      const sentAt = this.#now();
      const isHeld = await this.#attempt(signal, renewDeadlineMs / 2, (request) => this.#contest.tryAcquire(request));
      // A response that arrives after a stall is stale, so the request is repeated.
      if (isHeld && this.#now() < sentAt + renewDeadlineMs) return sentAt;
      const pollMs = retryPeriodMs * (leastPoll + pollSpread * random());
      const { validForMs } = this.#contest;
      await this.#pause(validForMs > 0 ? Math.min(pollMs, validForMs) : pollMs, signal);
    }
    // A request that was under way may have won, in which case others would wait in vain.
    if (this.#contest.mayHold && this.#options.releaseOnCancel && !this.#abandoned.signal.aborted)
      await this.#release(retryPeriodMs);
    return undefined;
  }

  async #lead(acquiredAt: number, signal: AbortSignal): Promise<Ending> {
    const { callbacks, lock, logger, clock, releaseOnCancel, renewDeadlineMs, leaseDurationMs } = this.#options;
    const limits = { description: lock.description, renewDeadlineMs, leaseDurationMs, now: () => this.#now() };
    const term = new Term(limits, acquiredAt);
    this.#term = term;
    this.#metrics.status.set(1);
    logger.info('successfully acquired lease', { lock: lock.description, identity: lock.identity });
    this.#options.onOpenUntil(term.openUntil);
    const work = startWork(
      () => callbacks.onStartedLeading(term.signal, term.fence),
      term.signal,
      (error) => logger.warn('the work failed while it was being stopped', { lock: lock.description, error }),
    );
    const ended = await this.#renewUntil(term, [signal, work.failed, term.stepDownSignal]);
    const loss = term.lostBy ?? ended;
    // The order ensures safety. First nothing may begin, then the work ends, and only then others may lead.
    term.close(loss ?? new DOMException('leadership was given up', 'AbortError'));
    this.#options.onOpenUntil(0);
    this.#metrics.status.set(0);
    await settledWithin(work, term.expiresAt - this.#now(), { clock, signal: this.#abandoned.signal });
    if (!work.settled) {
      this.#straggler = { work, expiredAt: term.expiresAt };
      logger.error('work goes on after leadership ended; the lease is left to expire', { lock: lock.description });
    } else if (
      loss === undefined &&
      !this.#abandoned.signal.aborted &&
      (releaseOnCancel || term.stepDownSignal.aborted)
    )
      await this.#release(Math.min(renewDeadlineMs, term.expiresAt - this.#now()));
    this.#term = undefined;
    term.markEnded();
    if (work.failure !== undefined) return { why: 'failed', error: work.failure.error };
    if (loss !== undefined) return { why: 'lost', error: loss };
    return { why: signal.aborted ? 'stopped' : 'stepped-down' };
  }

  /**
   * Renews each retry period until one of the signals is aborted (returns undefined) or the term is lost (returns the
   * reason).
   */
  async #renewUntil(term: Term, signals: readonly AbortSignal[]): Promise<Error | undefined> {
    const { retryPeriodMs, renewDeadlineMs, onOpenUntil } = this.#options;
    using stop = anySignal(signals);
    const { signal } = stop;
    for (let nextAt = term.renewedAt + retryPeriodMs; ; ) {
      await this.#pause(Math.max(0, Math.min(nextAt, term.openUntil) - this.#now()), signal);
      if (signal.aborted) return undefined;
      const sentAt = this.#now();
      const left = term.openUntil - sentAt;
      // After a stall the deadline may have passed long ago, and nothing is left to renew.
      if (left <= 0)
        return new LeaseNotRenewedError(Math.round(sentAt - term.renewedAt), renewDeadlineMs, this.#failures.current);
      nextAt = sentAt + retryPeriodMs;
      // One request that hangs, on a dead connection for example, must leave time for another.
      const outcome = await this.#attempt(signal, Math.min(left, renewDeadlineMs / 2), async (request) => {
        const over = await this.#contest.tryRenew(request);
        return over ?? true;
      });
      if (outcome instanceof Error) return signal.aborted ? undefined : outcome;
      if (outcome && !signal.aborted) {
        term.renewed(sentAt);
        onOpenUntil(term.openUntil);
      }
    }
  }

  /** A second run would do the work twice, and the old one could pass for the new. */
  async #waitForStraggler(signal: AbortSignal): Promise<void> {
    if (this.#straggler === undefined) return;
    await untilAborted(this.#straggler.work.done, signal);
    if (this.#straggler.work.settled) this.#straggler = undefined;
  }

  /** Sleeps; an abort ends the sleep and is left to the caller to notice. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(ms, { signal, clock: this.#options.clock });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** One try, bounded by `timeoutMs`; every failure counts as "not held". */
  async #attempt<T>(
    signal: AbortSignal,
    timeoutMs: number,
    request: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | false> {
    const { clock } = this.#options;
    try {
      const outcome = await withTimeout({ clock, signal, timeoutMs }, request);
      this.#failures.succeeded();
      return outcome;
    } catch (error) {
      if (!(signal.aborted && isAbortError(error))) {
        this.#metrics.failures.inc();
        this.#failures.failed(error);
      }
      return false;
    }
  }

  async #release(timeoutMs: number): Promise<void> {
    const { clock, lock, logger } = this.#options;
    try {
      await withTimeout({ clock, timeoutMs }, (signal) => this.#contest.release(signal));
      logger.info('released the lease', { lock: lock.description });
    } catch (error) {
      logger.warn('failed to release the lease; it will expire', { lock: lock.description, error });
    }
  }
}
