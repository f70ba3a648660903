import type { Clock } from '@kctl/wait';
import type { Elector, ElectorFactory } from './elector.js';
import { LeaderElectionLostError } from './errors.js';
import type { Straggler } from './errors.js';
import type { RunnableGroup } from './runnable-group.js';
import { aborted, untilAborted } from './until-aborted.js';

/** Options of {@link LeaderScope}. */
export interface LeaderScopeOptions {
  readonly scope: string;
  readonly group: RunnableGroup;
  readonly clock: Clock;
  readonly rejoinTimeoutMs: number;
  readonly onLost: 'exit' | 'rejoin';
  /** Ends the manager. */
  readonly fail: (error: unknown) => void;
}

/** The runnables of one lease: started when it is won, stopped before it is given up. */
export class LeaderScope {
  readonly scope: string;
  readonly group: RunnableGroup;
  readonly #options: LeaderScopeOptions;
  readonly #elected = Promise.withResolvers<undefined>();
  /** Aborted when every group has stopped: only then may the lease go. */
  readonly #release = new AbortController();
  #elector: Elector | undefined;
  #running: Promise<void> = Promise.resolve();
  #isLeading = false;
  #isStopping = false;

  constructor(options: LeaderScopeOptions) {
    this.scope = options.scope;
    this.group = options.group;
    this.#options = options;
  }

  /** Resolves when the leader runnables have been started for the first time. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Makes the elector. @throws whatever is wrong with its options */
  prepare(newElector: ElectorFactory | undefined): void {
    if (newElector === undefined || this.#elector !== undefined) return;
    const { scope, onLost } = this.#options;
    this.#elector = newElector({ scope, lead: (signal) => this.#lead(signal), reelect: onLost === 'rejoin' });
  }

  /** Competes, or leads at once where there is no election. Reports failures to `fail`. */
  start(): void {
    const { fail } = this.#options;
    if (this.#elector === undefined) {
      this.#running = this.#begin();
      return;
    }
    this.#running = this.#elector.run(this.#release.signal).catch((error: unknown) => {
      if (!this.#isStopping) fail(new LeaderElectionLostError(this.scope, { cause: error }));
    });
  }

  checkHealth(): void {
    this.#elector?.checkHealth?.();
  }

  /** From here on a win starts nothing: a manager that stops must not briefly run leader code. */
  neutralise(): void {
    this.#isStopping = true;
  }

  /** Stops the leader runnables, also those of a lease that is only won from now on. */
  stop(deadline: AbortSignal, reason: unknown): Promise<Straggler[]> {
    this.#isStopping = true;
    return this.group.stop(deadline, reason);
  }

  /** Gives the lease up; call it when everything else has stopped. */
  async release(deadline: AbortSignal): Promise<void> {
    this.#release.abort(new DOMException('the manager has stopped', 'AbortError'));
    await untilAborted(this.#running, deadline);
    this.#isLeading = false;
  }

  async #begin(): Promise<void> {
    try {
      this.#isLeading = true;
      await this.group.start();
      if (!this.#isStopping) this.#elected.resolve(undefined);
    } catch {
      // A member failed before it was ready: the group has reported it.
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (this.#isStopping) return;
    await untilAborted(this.#begin(), signal);
    await aborted(signal);
    this.#isLeading = false;
    // During a stop the signal is aborted by release(), when the group has ended; otherwise the lease is lost.
    if (this.#isStopping) return;
    await this.#lost(signal.reason);
  }

  async #lost(reason: unknown): Promise<void> {
    const { onLost, fail, clock, rejoinTimeoutMs, scope } = this.#options;
    const lost = new LeaderElectionLostError(scope, { cause: reason });
    const deadline = new AbortController();
    const timer = clock.setTimer(() => deadline.abort(), rejoinTimeoutMs);
    if (onLost === 'exit') fail(lost);
    const stragglers = await this.group.pause(deadline.signal, lost);
    timer.cancel();
    if (onLost === 'rejoin' && stragglers.length > 0) fail(lost);
  }
}
