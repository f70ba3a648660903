import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import type { RateLimiter } from '@kctl/workqueue';
import type { ReconcileQueue } from './reconcile-queue.js';
import type { RequestIntake } from './request-intake.js';
import type { Source } from './source/source.js';
import { Watch } from './watch.js';

/** Options of {@link Session}. */
export interface SessionOptions<R> {
  readonly controller: string;
  readonly queue: ReconcileQueue<R>;
  readonly intake: RequestIntake<R>;
  readonly rateLimiter: RateLimiter<R>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly syncTimeoutMs: number;
}

/**
 * From the start of the sources to the end of the workers: the life of one queue. A controller has at most one session
 * at a time; warm-up and run share it, whoever comes first begins it.
 */
export class Session<R> {
  readonly queue: ReconcileQueue<R>;
  readonly intake: RequestIntake<R>;
  readonly rateLimiter: RateLimiter<R>;
  readonly #options: SessionOptions<R>;
  readonly #abort = new AbortController();
  readonly #watches = new Map<Source<R>, Watch<R>>();
  readonly #failed: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;
  #ready: Promise<void> | undefined;

  constructor(options: SessionOptions<R>) {
    this.#options = options;
    this.queue = options.queue;
    this.intake = options.intake;
    this.rateLimiter = options.rateLimiter;
    this.#failed = new Promise((_resolve, reject) => (this.#fail = reject));
    this.#failed.catch(() => undefined); // whoever runs the session awaits it
  }

  /** Rejects with the first failure of anything in the session; never resolves. */
  get failed(): Promise<never> {
    return this.#failed;
  }

  readonly fail = (error: unknown): void => this.#fail(error);

  /** Starts sources, all at once, and resolves when all have synced. The same promise for every caller. */
  start(sources: readonly Source<R>[]): Promise<void> {
    if (this.#ready === undefined) {
      const watches = sources.map((source) => this.watch(source));
      const synced = Promise.all(watches.map((watch) => watch.synced));
      this.#ready = Promise.race([synced, this.#failed]).then(() => undefined);
      this.#ready.catch(() => undefined);
    }
    return this.#ready;
  }

  /** Starts one more source; `fail` hears of a failure that ends it after its start. */
  watch(source: Source<R>, fail: (error: unknown) => void = this.fail): Watch<R> {
    const { controller, logger, clock, random, syncTimeoutMs } = this.#options;
    const watch = new Watch(source, {
      controller,
      queue: this.intake,
      signal: this.#abort.signal,
      logger,
      clock,
      random,
      syncTimeoutMs,
      fail,
    });
    this.#watches.set(source, watch);
    return watch;
  }

  /** The watch of a source in this session. */
  find(source: Source<R>): Watch<R> | undefined {
    return this.#watches.get(source);
  }

  /** Ends one source. */
  async unwatch(source: Source<R>): Promise<void> {
    const watch = this.#watches.get(source);
    this.#watches.delete(source);
    await watch?.stop();
  }

  /** Hands out nothing more and ends all sources. Idempotent. */
  async close(reason: unknown): Promise<void> {
    this.queue.shutDown();
    this.#abort.abort(reason);
    await Promise.all([...this.#watches.values()].map((watch) => watch.stop()));
  }
}
