import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { anySignal } from '@kctl/wait';
import type { PrioritizedItem } from '@kctl/workqueue';
import type { ReconcileQueue } from '../queue/reconcile-queue.js';
import type { RequestIntake } from './request-intake.js';
import type { RunningRequests } from '../reconciler/running-requests.js';
import type { Source } from '../source/source.js';
import { Watch } from './watch.js';
import { WorkerPool } from '../queue/worker-pool.js';

/** Arguments of `watch`; one watch, in every session until it is removed. */
export interface WatchEntry<R> {
  readonly source: Source<R>;
  /** The source as given by the user, which must not be watched twice. */
  readonly origin: unknown;
  readonly isRequired: boolean;
}

/** Options of {@link Session}. */
export interface SessionOptions<R> {
  readonly controller: string;
  readonly queue: ReconcileQueue<R>;
  readonly intake: RequestIntake<R>;
  readonly running: RunningRequests;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly syncTimeoutMs: number;
  /** Called when nothing of the session is left. Must not throw. */
  readonly onClosed: () => void;
  /** Reconciles one item. Must not reject. */
  readonly work: (item: PrioritizedItem<R>, signal: AbortSignal) => Promise<void>;
}

/** Options of {@link Session.work}. */
export interface WorkOptions {
  readonly concurrency: number;
  readonly onFailure: () => void;
}

/**
 * The life of one queue, from the start of the sources to their end. A controller has at most one session at a time;
 * warm-ups and runs share it, the first of them begins it, and it ends when none of its holders is left.
 */
export class Session<R> {
  readonly intake: RequestIntake<R>;
  readonly running: RunningRequests;
  /** Holders that keep the session alive (the run, and the signals of warm-ups and lives). */
  readonly holders: Set<object> = new Set<object>();
  /** Runs that have begun to work. */
  runs = 0;
  readonly #options: SessionOptions<R>;
  readonly #abort = new AbortController();
  readonly #watches = new Map<WatchEntry<R>, Watch<R>>();
  /** Those that were there before the start, and that it waits for. */
  readonly #awaited = new Set<WatchEntry<R>>();
  readonly #failed: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;
  #ready: Promise<void> | undefined;
  #pool: WorkerPool<R> | undefined;
  #isReady = false;

  constructor(options: SessionOptions<R>) {
    this.#options = options;
    this.intake = options.intake;
    this.running = options.running;
    this.#failed = new Promise((_resolve, reject) => (this.#fail = reject));
    this.#failed.catch(() => undefined); // the run of the session awaits it
  }

  /** Aborted when the session ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether every source has synced that the controller cannot do without. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Takes the failure of anything in the session; the first one ends the run. */
  readonly fail = (error: unknown): void => this.#fail(error);

  /** How many requests wait. */
  get queueLength(): number {
    return this.#options.queue.length;
  }

  /** Starts sources, all at once, and resolves when those that are required have synced. The same promise for every caller. */
  start(entries: Iterable<WatchEntry<R>>): Promise<void> {
    if (this.#ready !== undefined) return this.#ready;
    const synced: Promise<void>[] = [];
    for (const entry of entries) {
      if (this.#watches.has(entry)) continue;
      if (!entry.isRequired) this.watchBeside(entry);
      else {
        this.#awaited.add(entry);
        synced.push(this.#watch(entry, this.fail).ready);
      }
    }
    this.#ready = Promise.race([Promise.all(synced), this.#failed]).then(() => {
      this.#isReady = true;
    });
    this.#ready.catch(() => undefined);
    return this.#ready;
  }

  /** Starts an optional source; its failure is logged. */
  watchBeside(entry: WatchEntry<R>): void {
    const report = (error: unknown): void => {
      if (!this.signal.aborted && this.#watches.has(entry))
        this.#options.logger.error('optional source failed', { source: entry.source.name, error });
    };
    this.#watch(entry, report).ready.catch(report);
  }

  /** The watch of an entry in this session. */
  find(entry: WatchEntry<R>): Watch<R> | undefined {
    return this.#watches.get(entry);
  }

  /** Whether the session waits for the entry. */
  awaits(entry: WatchEntry<R>): boolean {
    return this.#awaited.has(entry);
  }

  /** Ends one source. */
  async unwatch(entry: WatchEntry<R>): Promise<void> {
    const watch = this.#watches.get(entry);
    this.#watches.delete(entry);
    this.#awaited.delete(entry);
    await watch?.remove();
  }

  /**
   * Has every source hand over everything that exists once more, at low priority. Before the session is ready nothing was
   * reconciled, and what has not synced is about to hand everything over.
   */
  replay(): void {
    for (const watch of this.#watches.values()) if (this.#isReady || watch.hasSynced) watch.replay();
  }

  /**
   * Reconciles what is queued until the signal is aborted; resolves when no reconcile runs. Rejects with the first
   * failure of anything in the session, also an earlier one; `onFailure` is called as soon as there is one.
   */
  async work(signal: AbortSignal, { concurrency, onFailure }: WorkOptions): Promise<void> {
    const { queue, clock, work } = this.#options;
    const pool = new WorkerPool({ queue, concurrency, clock, work });
    this.#pool = pool;
    using stop = anySignal([signal]);
    const ended = pool.run(stop.signal);
    try {
      await Promise.race([ended, this.#failed]);
    } catch (error) {
      onFailure();
      stop.abort(error);
      throw error;
    } finally {
      await ended;
      this.#pool = undefined;
    }
  }

  /** How many requests the current {@link work} reconciles at once. */
  setConcurrency(value: number): void {
    if (this.#pool !== undefined) this.#pool.concurrency = value;
  }

  /** Hands out nothing more and ends all sources. Idempotent; never rejects. */
  async close(reason: unknown): Promise<void> {
    try {
      this.#options.queue.shutDown();
    } catch (error) {
      this.#options.logger.error('the queue did not shut down cleanly', { error });
    }
    this.#abort.abort(reason);
    await Promise.all(
      [...this.#watches.values()].map((watch) =>
        watch.stop().catch((error: unknown) => {
          this.#options.logger.error('a source did not stop cleanly', { source: watch.source.name, error });
        }),
      ),
    );
    this.#options.onClosed();
  }

  #watch(entry: WatchEntry<R>, fail: (error: unknown) => void): Watch<R> {
    const { controller, logger, clock, random, syncTimeoutMs } = this.#options;
    const watch = new Watch(entry.source, {
      controller,
      queue: this.intake,
      signal: this.#abort.signal,
      logger,
      clock,
      random,
      syncTimeoutMs,
      fail,
    });
    this.#watches.set(entry, watch);
    return watch;
  }
}
