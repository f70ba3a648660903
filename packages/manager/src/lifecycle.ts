import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { isAbortError } from '@kctl/wait';
import type { EventSink } from './cluster.js';
import { isLeaderElectionLostError, StopTimeoutError } from './errors.js';
import type { Straggler } from './errors.js';
import type { Runnables } from './runnables.js';
import { aborted, untilAborted } from './until-aborted.js';

/** Options of {@link Lifecycle}. */
export interface LifecycleOptions {
  readonly runnables: Runnables;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly events: EventSink | undefined;
}

/** The one start and the one stop of a manager. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #failed = Promise.withResolvers<never>();
  readonly #eventsStop = new AbortController();
  #events: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#failed.promise.catch(() => undefined); // run() awaits it, from its first step on
  }

  /** Takes the failure of anything that runs, at any time: the first one ends the run, later ones are logged. */
  readonly fail = (error: unknown): void => {
    if (this.#isStopping && !isAbortError(error))
      this.#options.logger.error('error received after stop sequence was engaged', { error });
    this.#failed.reject(error);
  };

  async run(signal: AbortSignal): Promise<void> {
    this.#options.runnables.prepareElection(); // a bad lease configuration fails before anything runs
    const failures: unknown[] = [];
    const close = (): void => this.#options.runnables.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      // From here on every failure is heard at once, also one that happens while a group is still starting: a webhook
      // server that cannot start while a cache waits for its conversion webhook must not hang silently.
      await Promise.race([this.#start(signal), aborted(signal), this.#failed.promise]);
      await Promise.race([aborted(signal), this.#failed.promise]);
    } catch (error) {
      failures.push(error);
    }
    signal.removeEventListener('abort', close);
    const isLost = failures.some(isLeaderElectionLostError);
    const reason: unknown = signal.aborted ? signal.reason : failures[0];
    const stopFailure = await this.#stop(isLost ? 0 : this.#options.graceMs, reason);
    if (stopFailure !== undefined) failures.push(stopFailure);
    if (failures.length > 1) throw new AggregateError(failures, failures.map(messageOf).join('; '));
    if (failures.length === 1) throw failures[0];
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { runnables, events, logger } = this.#options;
    if (events !== undefined) this.#events = events.run(this.#eventsStop.signal).catch(this.fail);
    // Servers first: a probe that gets no answer while a large cache syncs has the process killed before it is ready.
    // Webhooks before caches: to list a kind with several versions the API server may have to call our conversion
    // webhook; with the caches first, each would wait for the other.
    // Caches before others: what runs may read, and a read of a cache that does not run would wait for ever.
    // Others before warm-ups: what a warm-up needs of them (a local proxy, a token refresher) is there.
    const { servers, webhooks, caches, others, warmups } = runnables;
    for (const group of [servers, webhooks, caches, others, warmups]) {
      if (signal.aborted || this.#isStopping) return;
      logger.debug('starting group', { group: group.name });
      await group.start();
    }
    // Election last: winning it means that work begins at once, so everything that the work needs has to be there.
    if (!signal.aborted && !this.#isStopping) runnables.startElection();
  }

  /** @returns why it was no clean stop */
  async #stop(graceMs: number, reason: unknown): Promise<Error | undefined> {
    const { runnables, clock, logger } = this.#options;
    this.#isStopping = true;
    runnables.close();
    const deadline = new AbortController();
    const timer =
      graceMs >= 0 && Number.isFinite(graceMs) ? clock.setTimer(() => deadline.abort(), graceMs) : undefined;
    if (graceMs === 0) deadline.abort();
    const until = deadline.signal;
    const stragglers: Straggler[] = [];
    const collect = async (stopped: Promise<Straggler[]>): Promise<void> => {
      stragglers.push(...(await stopped));
    };
    // Warm-ups beside the rest: they may hold what others wait for.
    const warmups = collect(runnables.warmups.stop(until, reason));
    // Others and leader before caches: their last steps still read. A leader runnable that waited for a cache which is
    // gone would wait until the deadline. The lease is still held, so what they finish is finished as the leader.
    await collect(runnables.others.stop(until, reason));
    await Promise.all(runnables.scopes.map((scope) => collect(scope.stop(until, reason))));
    // Caches before webhooks: a watch that is still open may need the conversion webhook to end its list.
    await collect(runnables.caches.stop(until, reason));
    await collect(runnables.webhooks.stop(until, reason));
    // Servers late: a liveness probe that fails during a long stop would cut it short by a kill.
    await collect(runnables.servers.stop(until, reason));
    await warmups;
    // The lease only now: as long as anything of ours may write, nobody else may lead.
    await Promise.all(runnables.scopes.map((scope) => scope.release(until)));
    // Events at the very end: everything above may have recorded some.
    this.#eventsStop.abort(reason);
    await untilAborted(this.#events, until);
    timer?.cancel();
    if (stragglers.length === 0 || graceMs === 0) return undefined;
    logger.error('some runnables did not stop in time', { stragglers });
    return new StopTimeoutError(graceMs, stragglers);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
