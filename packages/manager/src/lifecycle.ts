import { messageOf } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { aborted, anySignal, isAbortError, untilAborted } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { InformerDemand } from './informer-demand.js';
import type { EventSinks } from './event-sinks.js';
import { isLeaderElectionLostError, StopTimeoutError } from './errors.js';
import type { Straggler } from './errors.js';
import type { Runnables } from './runnables.js';

/** Options of {@link Lifecycle}. */
export interface LifecycleOptions {
  readonly runnables: Runnables;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly events: EventSinks;
  readonly demand: InformerDemand;
}

/** How long giving the lease back may take after the grace period, in ms. */
const releaseMs = 2_000;

/** The one start and the one stop of a manager. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #failed = Promise.withResolvers<never>();
  #isStarted = false;
  #isStopping = false;
  /** Whether the run is about to end, so that later failures do not affect the outcome. */
  #isEnding = false;
  /** Cause of the end. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#failed.promise.catch(() => undefined); // run() awaits it, from its first step on
  }

  /** Takes the failure of anything that runs, at any time. The first one ends the run, later ones are logged. */
  readonly fail = (error: unknown): void => {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#failure = { error };
      this.#failed.reject(error);
    } else if (!isAbortError(error))
      this.#options.logger.error('error received after stop sequence was engaged', { error });
  };

  /** Whether every group has been started, and the informers that they need. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  async run(outer: AbortSignal): Promise<void> {
    const { runnables } = this.#options;
    const failures: unknown[] = [];
    // Nothing of this may stay on the caller's signal, which may live as long as the process.
    using link = anySignal([outer]);
    const { signal } = link;
    const close = (): void => {
      this.#isEnding = true;
      runnables.close();
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
    try {
      runnables.prepareElection(); // a bad lease configuration fails before anything runs
      // From here on every failure takes effect at once, also one that happens while a group is still starting, because
      // a webhook server that cannot start while a cache waits for its conversion webhook must not hang silently.
      await Promise.race([this.#start(signal), aborted(signal), this.#failed.promise]);
      await Promise.race([aborted(signal), this.#failed.promise]);
    } catch (error) {
      failures.push(error);
    }
    // One that came just before the abort may not have won the race.
    const failure = this.#failure;
    if (failure !== undefined && !failures.includes(failure.error)) failures.push(failure.error);
    const isLost = failures.some(isLeaderElectionLostError);
    const reason: unknown = signal.aborted ? signal.reason : failures[0];
    const stopFailure = await this.#stop(isLost ? 0 : this.#options.graceMs, reason);
    if (stopFailure !== undefined) failures.push(stopFailure);
    const outcome =
      failures.length > 1 ? new AggregateError(failures, failures.map(messageOf).join('; ')) : failures[0];
    for (const scope of runnables.scopes) scope.end(outcome);
    if (failures.length > 0) throw outcome;
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { runnables, events, logger, demand } = this.#options;
    events.start();
    // Servers start first, because a probe without an answer while a large cache syncs has the process killed before it
    // is ready. Webhooks start before caches, because the API server may have to call our conversion webhook to list a
    // kind with several versions; with the caches first, each would wait for the other. Caches start before others,
    // because these may read, and a read of a cache that does not run would wait forever. Others start before warm-ups,
    // which may need them (a local proxy, a token refresher).
    const { servers, webhooks, caches, others, warmups } = runnables;
    for (const group of [servers, webhooks, caches, others, warmups]) {
      if (signal.aborted || this.#isStopping) return;
      logger.debug('starting group', { group: group.name });
      const started = group.start();
      if (group === caches) {
        // Beside the informers that were declared before. Those are waited for here, these by the runnables, each of
        // which has a separate limit and can name the missing ones.
        demand.start();
        this.#isStarted = true;
      }
      await started;
    }
    // Election last, because winning it means that work begins at once, so everything that the work needs has to exist.
    if (!signal.aborted && !this.#isStopping) runnables.startElection();
  }

  /** @returns why it was not a clean stop */
  async #stop(graceMs: number, reason: unknown): Promise<Error | undefined> {
    const { runnables, events, clock, logger } = this.#options;
    this.#isStopping = true;
    this.#isEnding = true;
    runnables.close();
    const deadline = new AbortController();
    const timer =
      graceMs >= 0 && Number.isFinite(graceMs) ? startTimer(clock, () => deadline.abort(), graceMs) : undefined;
    if (graceMs === 0) deadline.abort();
    const until = deadline.signal;
    const stragglers: Straggler[] = [];
    const collect = async (stopped: Promise<Straggler[]>): Promise<void> => {
      stragglers.push(...(await stopped));
    };
    // Warm-ups beside the rest, because they may hold dependencies of others.
    const warmups = collect(runnables.warmups.stop(until, reason));
    // Others and leader before caches, because their last steps still read. A leader runnable that waited for a missing
    // cache would wait until the deadline. The lease is still held, so their work is finished as the leader.
    await collect(runnables.others.stop(until, reason));
    await Promise.all(runnables.scopes.map((scope) => collect(scope.stop(until, reason))));
    // Caches before webhooks, because a watch that is still open may need the conversion webhook to end its list.
    await collect(runnables.caches.stop(until, reason));
    await collect(runnables.webhooks.stop(until, reason));
    // Servers late, because a liveness probe that fails during a long stop would cut it short by a kill.
    await collect(runnables.servers.stop(until, reason));
    await warmups;
    // The lease only now, because as long as this process may write, no other process may lead.
    await this.#release(until);
    // Events at the very end, because everything above may have recorded some.
    await untilAborted(events.stop(reason), until);
    timer?.cancel();
    if (stragglers.length === 0 || graceMs === 0) return undefined;
    logger.error('some runnables did not stop in time', { stragglers });
    return new StopTimeoutError(graceMs, stragglers);
  }

  /** Releases the leases, or leaves them to expire if work is left. */
  async #release(until: AbortSignal): Promise<void> {
    const { runnables, clock } = this.#options;
    const isWorkLeft = !runnables.isIdle;
    const deadline = new AbortController();
    const abort = (): void => deadline.abort();
    // One request does not count as work to wait for, so it gets its time also after the grace period.
    const timer = startTimer(
      clock,
      () => (until.aborted ? abort() : until.addEventListener('abort', abort)),
      releaseMs,
    );
    if (isWorkLeft) abort();
    await Promise.all(runnables.scopes.map((scope) => scope.release(deadline.signal, isWorkLeft)));
    timer.cancel();
  }
}
