import type { Logger } from '@kctl/telemetry';
import { shownType } from '@kctl/options';
import { aborted, untilAborted } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { Elector, ElectorFactory, OnLost } from './elector.js';
import { rejoinsAfter } from './elector.js';
import { LeaderElectionLostError, ManagerError } from './errors.js';
import type { Straggler } from './errors.js';
import type { RunnableGroup } from './runnable-group.js';

/** Options of {@link LeaderScope}. */
export interface LeaderScopeOptions {
  readonly scope: string;
  readonly group: RunnableGroup;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rejoinTimeoutMs: number;
  readonly onLost: OnLost;
  /** Resolves when nothing that the manager runs is left. */
  readonly idle: () => Promise<void>;
  /** Ends the manager. */
  readonly fail: (error: unknown) => void;
}

/** The runnables of one lease, started when it is won, stopped before it is released. */
export class LeaderScope {
  readonly scope: string;
  readonly group: RunnableGroup;
  readonly #options: LeaderScopeOptions;
  readonly #elected = Promise.withResolvers<undefined>();
  /** Aborted when every group has stopped; only then may the lease be released. */
  readonly #release = new AbortController();
  #elector: Elector | undefined;
  #running: Promise<void> = Promise.resolve();
  #isLeading = false;
  #isElected = false;
  /** The error of `elected` after a clean stop without leadership. */
  #missed: Promise<void> | undefined;
  #isStopping = false;

  constructor(options: LeaderScopeOptions) {
    this.scope = options.scope;
    this.group = options.group;
    this.#options = options;
    this.#elected.promise.catch(() => undefined); // it need not be awaited
  }

  /**
   * Resolves when the leader runnables have been started for the first time; rejects with the failure that ends the
   * manager before. A clean stop leaves an earlier read of it open, as upstream's channel is, because a rejection would
   * end a process that chains on it. Later reads reject.
   */
  get elected(): Promise<void> {
    return this.#missed ?? this.#elected.promise;
  }

  /** By the elector's clock, so it is also right straight after a stall, before any timer has fired. */
  get isLeading(): boolean {
    return this.#isLeading && this.#elector?.isLeader !== false;
  }

  /** How long ago the lease was renewed last, in ms; undefined if unknown. */
  get renewedMsAgo(): number | undefined {
    return this.#isLeading ? this.#elector?.renewedMsAgo : undefined;
  }

  /** Makes the elector. @throws whatever is wrong with its options */
  prepare(newElector: ElectorFactory | undefined): void {
    if (newElector === undefined || this.#elector !== undefined) return;
    const { scope, onLost } = this.#options;
    const elector: unknown = newElector({ scope, lead: (signal) => this.#lead(signal), reelect: onLost !== 'exit' });
    // Without one there would be no election at all, and every replica would lead.
    if (!isElector(elector))
      throw new TypeError(
        `leaderElection.newElector returned ${shownType(elector)}: expected an elector, which has run(signal), such as that of createLeaderElector`,
      );
    this.#elector = elector;
  }

  /** Competes, or leads at once if there is no election. Reports failures to `fail`. */
  start(): void {
    const { fail } = this.#options;
    if (this.#elector === undefined) {
      this.#running = this.#begin();
      return;
    }
    const lost = (cause: unknown): void => {
      if (!this.#isStopping) fail(new LeaderElectionLostError(this.scope, { cause }));
    };
    // One that ends by itself would leave a standby that never leads.
    const ended = (): void => lost(new ManagerError('the elector has ended, although it was not stopped'));
    // Always a promise, because a user's elector may throw synchronously or return nothing.
    const elector = this.#elector;
    const run = async (): Promise<void> => await elector.run(this.#release.signal);
    this.#running = run().then(ended, lost);
  }

  checkHealth(): void {
    this.#elector?.checkHealth?.();
  }

  /** From here on a win starts nothing, because a manager that stops must not briefly run leader code. */
  neutralise(): void {
    this.#isStopping = true;
  }

  /** Stops the leader runnables, also those of a lease that is only won from now on. */
  stop(deadline: AbortSignal, reason: unknown): Promise<Straggler[]> {
    this.#isStopping = true;
    return this.group.stop(deadline, reason);
  }

  /**
   * Releases the lease; call it when everything else was stopped. With work left the lease is not released but expires,
   * and the remaining work cannot write, because the fence is closed.
   */
  async release(deadline: AbortSignal, isWorkLeft: boolean): Promise<void> {
    const { logger, scope } = this.#options;
    this.#release.abort(new DOMException('the manager has stopped', 'AbortError'));
    if (isWorkLeft) {
      if (this.#elector !== undefined && this.#isLeading)
        logger.warn('runnables did not stop; not releasing the lease', { scope });
      this.#elector?.abandon?.();
    }
    await untilAborted(this.#running, deadline);
    this.#isLeading = false;
  }

  /** The manager has stopped; a failure rejects the waits for the election. */
  end(failure: unknown): void {
    if (failure !== undefined) this.#elected.reject(failure);
    else if (!this.#isElected) {
      this.#missed = Promise.reject(new ManagerError('the manager has stopped without having been elected'));
      this.#missed.catch(() => undefined); // it need not be awaited
    }
  }

  async #begin(): Promise<void> {
    try {
      this.#isLeading = true;
      await this.group.start();
      // If the lease was lost meanwhile, the start has only ended.
      if (this.#isStopping || !this.#isLeading) return;
      this.#isElected = true;
      this.#elected.resolve(undefined);
    } catch {
      // A member failed before it was ready; the group has reported it.
    }
  }

  /** Settles only when no leader work is left, because until then the elector may not give the lease to another. */
  async #lead(signal: AbortSignal): Promise<void> {
    if (!this.#isStopping) await untilAborted(this.#begin(), signal);
    await aborted(signal);
    this.#isLeading = false;
    // During a stop the signal is aborted by release(); otherwise the lease is lost.
    if (!this.#isStopping) await this.#lost(signal.reason);
    await (this.#isStopping ? this.#options.idle() : this.group.idle());
  }

  async #lost(reason: unknown): Promise<void> {
    const { onLost, fail, clock, logger, rejoinTimeoutMs, scope } = this.#options;
    const lost = new LeaderElectionLostError(scope, { cause: reason });
    if (!rejoinsAfter(reason, onLost)) {
      fail(lost); // which stops the group
      return;
    }
    logger.warn('leader election lost: stopping the leader runnables to compete again', { scope, error: reason });
    const deadline = new AbortController();
    const timer = startTimer(clock, () => deadline.abort(), rejoinTimeoutMs);
    const stragglers = await this.group.pause(deadline.signal, lost);
    timer.cancel();
    if (stragglers.length > 0) fail(lost);
  }
}

function isElector(value: unknown): value is Elector {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}
