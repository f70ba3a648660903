import type { Counter, Gauge } from '@kctl/telemetry';
import { isAbortError, sleep } from '@kctl/wait';
import { LeadershipLostError } from './errors.js';
import { createFence, type Fence } from './fence.js';
import {
  jitterFactor,
  resolveLeaderElectorOptions,
  type LeaderElectorOptions,
  type ResolvedLeaderElectorOptions,
} from './options.js';
import { formatMicroTime, type LeaderElectionRecord, type ObservedRecord } from './record.js';
import { withTimeout } from './request-timeout.js';

/** Takes part in an election and leads when it wins. Mirrors client-go's `leaderelection.LeaderElector`. */
export interface LeaderElector {
  /**
   * Competes until `signal` is aborted: resolves when the work has stopped and the lock was given back.
   *
   * @throws LeadershipLostError after a loss, unless `reelect` is set
   * @throws whatever `onStartedLeading` rejects with before it was asked to stop
   */
  run(signal: AbortSignal): Promise<void>;
  /** Whether this candidate leads now; looks at the clock, so it is right after a stall too. */
  readonly isLeader: boolean;
  /** The last observed holder; '' when there is none. */
  readonly leader: string;
  /** Guards protected work. */
  readonly fence: Fence;
  /**
   * Unhealthy (throws) only if this candidate believes that it leads although the lease expired more than
   * `toleranceMs` ago (default 0): it hangs. Mirrors `HealthzAdaptor`.
   */
  checkHealth(toleranceMs?: number): void;
}

/** @throws TypeError, RangeError when the options cannot keep two leaders apart */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  return new Elector(resolveLeaderElectorOptions(options));
}

/** One period of leadership. */
interface Term {
  readonly controller: AbortController;
  /** Monotonic time at which the last successful renewal was *sent*: everybody else counts from a later moment. */
  renewedAt: number;
}

/** What the owner does while it leads. */
interface Work {
  settled: boolean;
  failure: { readonly error: unknown } | undefined;
  done: Promise<void>;
}

class Elector implements LeaderElector {
  readonly fence: Fence;
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #status: Gauge;
  readonly #slowPath: Counter;
  #observed: ObservedRecord | undefined;
  #observedAt = 0;
  #reported: string | undefined;
  #term: Term | undefined;
  #running = false;

  constructor(options: ResolvedLeaderElectorOptions) {
    this.#options = options;
    const { metrics, name } = options;
    const labelNames = ['name'];
    this.#status = metrics
      .gauge({ name: 'leader_election_master_status', help: 'Whether this process leads (1) or not (0).', labelNames })
      .with({ name });
    this.#slowPath = metrics
      .counter({
        name: 'leader_election_slowpath_total',
        help: 'Renewals that had to read the lock first.',
        labelNames,
      })
      .with({ name });
    this.fence = createFence(options.lock.description, {
      isOpen: () => this.isLeader,
      signal: () => this.#term?.controller.signal,
    });
  }

  get isLeader(): boolean {
    const term = this.#term;
    return (
      term !== undefined &&
      !term.controller.signal.aborted &&
      this.#now() < term.renewedAt + this.#options.renewDeadlineMs
    );
  }

  get leader(): string {
    return this.#observed?.record.holderIdentity ?? '';
  }

  checkHealth(toleranceMs = 0): void {
    const { leaseDurationMs, lock } = this.#options;
    if (this.#term === undefined) return;
    const late = this.#now() - this.#term.renewedAt - leaseDurationMs;
    if (late > toleranceMs)
      throw new Error(
        `failed election to renew leadership on ${lock.description}: the lease expired ${Math.round(late)} ms ago`,
      );
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new TypeError('LeaderElector.run: already running');
    this.#running = true;
    const { reelect, callbacks, lock, logger } = this.#options;
    try {
      for (;;) {
        const acquired = await this.#acquire(signal);
        if (acquired === undefined) {
          callbacks.onStoppedLeading?.({ led: false });
          return;
        }
        const loss = await this.#lead(acquired, signal);
        callbacks.onStoppedLeading?.({ led: true });
        if (loss === undefined) return;
        if (!reelect) throw new LeadershipLostError(lock.description, { cause: loss });
        logger.warn('leadership lost, running for re-election', { lock: lock.description, error: loss });
      }
    } finally {
      this.#running = false;
    }
  }

  #now(): number {
    return this.#options.clock.monotonicNow();
  }

  /** Tries until it holds the lock: the monotonic time at which the winning request was sent; undefined on abort. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    const { random, retryPeriodMs, renewDeadlineMs, lock, logger } = this.#options;
    logger.info('attempting to acquire leader lease', { lock: lock.description });
    while (!signal.aborted) {
      const startedAt = this.#now();
      if (await this.#attempt(signal, renewDeadlineMs)) return startedAt;
      await this.#pause(retryPeriodMs * (1 + jitterFactor * random()), signal);
    }
    return undefined;
  }

  /** Leads until the signal is aborted (→ undefined) or the lease could not be renewed in time (→ the reason). */
  async #lead(acquiredAt: number, signal: AbortSignal): Promise<Error | undefined> {
    const { callbacks, lock, logger } = this.#options;
    const term: Term = { controller: new AbortController(), renewedAt: acquiredAt };
    this.#term = term;
    this.#status.set(1);
    logger.info('successfully acquired lease', { lock: lock.description, identity: lock.identity });
    const failure = new AbortController();
    const work: Work = { settled: false, failure: undefined, done: Promise.resolve() };
    work.done = (async () => callbacks.onStartedLeading(term.controller.signal))().then(
      () => {
        work.settled = true;
      },
      (error: unknown) => {
        work.settled = true;
        // What fails after it was asked to stop has stopped: that is all that matters here.
        if (term.controller.signal.aborted) return;
        work.failure = { error };
        failure.abort(error);
      },
    );
    const stop = AbortSignal.any([signal, failure.signal]);
    const loss = await this.#renewUntil(term, stop);
    // The order is the safety: first nobody may write, then the work ends, and only then others may lead.
    term.controller.abort(loss ?? new DOMException('leadership was given up', 'AbortError'));
    this.#status.set(0);
    await this.#waitForWork(term, work);
    if (!work.settled)
      logger.error('work goes on after leadership ended; the lease is left to expire', { lock: lock.description });
    else if (loss === undefined && this.#options.releaseOnCancel) await this.#release(term);
    this.#term = undefined;
    if (work.failure !== undefined) throw work.failure.error;
    return loss;
  }

  /** Renews each retry period. */
  async #renewUntil(term: Term, signal: AbortSignal): Promise<Error | undefined> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options;
    for (;;) {
      await this.#pause(Math.min(retryPeriodMs, term.renewedAt + renewDeadlineMs - this.#now()), signal);
      if (signal.aborted) return undefined;
      const startedAt = this.#now();
      const left = term.renewedAt + renewDeadlineMs - startedAt;
      // After a stall the deadline may have passed long ago: then there is nothing left to renew.
      if (left <= 0)
        return new Error(
          `no renewal succeeded for ${Math.round(startedAt - term.renewedAt)} ms (renewDeadlineMs ${renewDeadlineMs})`,
        );
      if (await this.#attempt(signal, left)) term.renewedAt = startedAt;
      else if (signal.aborted) return undefined;
      else if (this.leader !== this.#options.lock.identity && this.leader !== '')
        return new Error(`the lease is held by ${this.leader}`);
    }
  }

  /** Sleeps; an abort ends the sleep and is left to the caller to notice. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(ms, { signal, clock: this.#options.clock });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Waits for the work to settle, but never past the moment from which others may lead. */
  async #waitForWork(term: Term, work: Work): Promise<void> {
    const { clock, leaseDurationMs } = this.#options;
    const left = term.renewedAt + leaseDurationMs - this.#now();
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(() => resolve(), Math.max(0, left));
      void work.done.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** One try, bounded by `timeoutMs`; every failure counts as "not acquired". */
  async #attempt(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const { clock, lock, logger } = this.#options;
    try {
      return await withTimeout({ clock, signal, timeoutMs }, (requestSignal) => this.#tryAcquireOrRenew(requestSignal));
    } catch (error) {
      if (!(signal.aborted && isAbortError(error)))
        logger.warn('failed to acquire or renew the lease', { lock: lock.description, error });
      return false;
    }
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { lock, leaseDurationMs, clock } = this.#options;
    const now = formatMicroTime(clock.now());
    const mine: LeaderElectionRecord = {
      holderIdentity: lock.identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime: now,
      renewTime: now,
      leaderTransitions: 0,
    };
    const known = this.#observed?.record;
    if (
      this.#term !== undefined &&
      known?.holderIdentity === lock.identity &&
      known.preferredHolder === undefined &&
      this.#isValid()
    ) {
      try {
        this.#observe(
          await lock.update(
            { ...mine, acquireTime: known.acquireTime, leaderTransitions: known.leaderTransitions },
            { signal },
          ),
        );
        return true;
      } catch (error) {
        if (signal.aborted) throw error;
        this.#slowPath.inc();
      }
    }
    const found = await lock.get({ signal });
    if (found === undefined) {
      this.#observe(await lock.create(mine, { signal }));
      return true;
    }
    if (found.fingerprint !== this.#observed?.fingerprint) this.#observe(found);
    const { record } = found;
    const isMine = record.holderIdentity === lock.identity;
    if (!isMine && record.holderIdentity !== '' && this.#isValid()) return false;
    const next = isMine
      ? { ...mine, acquireTime: record.acquireTime, leaderTransitions: record.leaderTransitions }
      : { ...mine, leaderTransitions: record.leaderTransitions + 1 };
    this.#observe(await lock.update(next, { signal }));
    return true;
  }

  /** Whether the observed lease may still be in force: counted on our clock from when we saw it change. */
  #isValid(): boolean {
    const seconds = this.#observed?.record.leaseDurationSeconds ?? 0;
    return this.#observedAt + seconds * 1000 > this.#now();
  }

  #observe(observed: ObservedRecord): void {
    this.#observed = observed;
    this.#observedAt = this.#now();
    const { holderIdentity } = observed.record;
    if (holderIdentity === this.#reported) return;
    this.#reported = holderIdentity;
    const { callbacks, logger } = this.#options;
    try {
      callbacks.onNewLeader?.(holderIdentity);
    } catch (error) {
      logger.error('onNewLeader failed', { error });
    }
  }

  /** Gives the lock back, if it is still ours by what the server says now. */
  async #release(term: Term): Promise<void> {
    const { clock, lock, logger, leaseDurationMs } = this.#options;
    const timeoutMs = term.renewedAt + leaseDurationMs - this.#now();
    try {
      await withTimeout({ clock, timeoutMs }, async (signal) => {
        while (!signal.aborted) {
          const found = await lock.get({ signal });
          if (found === undefined || found.record.holderIdentity !== lock.identity) return;
          const now = formatMicroTime(clock.now());
          try {
            this.#observe(
              await lock.update(
                { ...found.record, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now },
                { signal },
              ),
            );
            return;
          } catch (error) {
            if (!isConflictLike(error)) throw error;
          }
        }
      });
      logger.info('released the lease', { lock: lock.description });
    } catch (error) {
      logger.warn('failed to release the lease; it will expire', { lock: lock.description, error });
    }
  }
}

function isConflictLike(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'reason' in error && error.reason === 'Conflict';
}
