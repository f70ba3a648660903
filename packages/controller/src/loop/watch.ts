import { messageOf } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { anySignal, orAborted } from '@kctl/wait';
import { abortReason, startTimer } from '@kctl/wait/internal';
import type { SourcePhase } from '../controller.js';
import { SourceError } from '../reconciler/errors.js';
import { orAbortedLater } from './or-aborted.js';
import type { Source, SourceContext, SourceQueue, StartedSource } from '../source/source.js';
import { requireStarted } from './watch-entry.js';

/** Shared parts of the sources of one session. */
export interface WatchEnvironment<R> {
  readonly controller: string;
  readonly queue: SourceQueue<R>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly syncTimeoutMs: number;
  /** Called with a failure that ends the source after its start. */
  readonly fail: (error: unknown) => void;
}

/** One source in one session. Started, synced, and ended with the session or before. */
export class Watch<R> {
  readonly source: Source<R>;
  /** Settles when the source has started and synced, with a {@link SourceError} if it did not. */
  readonly synced: Promise<void>;
  /**
   * The same, but resolves if the watch was removed before, so that a wait for all sources no longer waits for this
   * one.
   */
  readonly ready: Promise<void>;
  readonly #environment: WatchEnvironment<R>;
  readonly #abort = new AbortController();
  #started: StartedSource | undefined;
  #starting: Promise<StartedSource> | undefined;
  #stopped: Promise<void> | undefined;
  #phase: Exclude<SourcePhase, 'cold'> = 'starting';
  #error: unknown;
  #isRemoved = false;
  #replay: Promise<void> | undefined;
  #replayAgain = false;
  readonly #onEnd = (): void => this.#abort.abort(this.#environment.signal.reason);

  constructor(source: Source<R>, environment: WatchEnvironment<R>) {
    this.source = source;
    this.#environment = environment;
    if (environment.signal.aborted) this.#onEnd();
    else environment.signal.addEventListener('abort', this.#onEnd, { once: true });
    this.synced = this.#start().catch((error: unknown) => {
      this.#failed(error);
      throw error;
    });
    this.ready = this.synced.catch((error: unknown) => {
      if (!this.#isRemoved) throw error;
    });
    this.ready.catch(() => undefined); // what needs it awaits it
  }

  get phase(): SourcePhase {
    return this.#phase;
  }

  /** Why it is `failed`. */
  get error(): unknown {
    return this.#error;
  }

  get hasSynced(): boolean {
    return this.#phase === 'synced';
  }

  /**
   * Makes the source deliver everything that exists once more, at low priority. This happens at once, after a replay in
   * progress, or when the source has synced, because the requests delivered by then may have been reconciled already.
   */
  replay(): void {
    if (this.#abort.signal.aborted) return;
    if (!this.hasSynced) {
      this.#replayAgain = true;
      return;
    }
    const { logger } = this.#environment;
    const replay = this.#started?.replay?.bind(this.#started);
    if (replay === undefined) return;
    if (this.#replay !== undefined) {
      this.#replayAgain = true;
      return;
    }
    const run = async (): Promise<void> => {
      await orAborted(Promise.resolve(replay()), this.#abort.signal);
    };
    this.#replay = run()
      .catch((error: unknown) => {
        if (!this.#abort.signal.aborted)
          logger.error('a source could not list its objects again', { source: this.source.name, error });
      })
      .then(() => {
        this.#replay = undefined;
        this.#catchUp();
      });
  }

  /** Replays for calls that came too early for a separate replay. */
  #catchUp(): void {
    if (!this.#replayAgain) return;
    this.#replayAgain = false;
    this.replay();
  }

  /** Ends the source for good, alone; see {@link stop}. */
  remove(): Promise<void> {
    this.#isRemoved = true;
    return this.stop();
  }

  /** Ends the source; it no longer touches the queue when this has settled. Idempotent. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#environment.signal.removeEventListener('abort', this.#onEnd);
    if (!this.#abort.signal.aborted) this.#abort.abort(new DOMException('the watch was removed', 'AbortError'));
    // A start that blocks is not waited for; should it ever return, it is ended then.
    if (this.#started === undefined) this.#starting?.then((started) => started.stop()).catch(() => undefined);
    else await this.#started.stop();
  }

  readonly #queue: SourceQueue<R> = {
    add: (request, options) => {
      if (!this.#abort.signal.aborted) this.#environment.queue.add(request, options);
    },
    left: (request) => {
      if (!this.#abort.signal.aborted) this.#environment.queue.left?.(request);
    },
  };

  #failed(error: unknown): void {
    this.#phase = 'failed';
    this.#error = error;
  }

  #syncedNow(): void {
    this.#phase = 'synced';
    this.#catchUp();
  }

  /** The start does not wait for the sync after its deadline; the source goes on all the same, and may sync after all. */
  #syncLate(): void {
    this.#started?.waitForSync?.(this.#abort.signal).then(
      () => {
        this.#error = undefined;
        this.#syncedNow();
      },
      () => undefined, // reported already
    );
  }

  async #start(): Promise<void> {
    const { controller, logger, clock, random, syncTimeoutMs } = this.#environment;
    const { source } = this;
    const context: SourceContext<R> = {
      queue: this.#queue,
      signal: this.#abort.signal,
      logger: logger.child({ source: source.name }),
      clock,
      random,
      fail: (error) => {
        if (this.#abort.signal.aborted) return;
        this.#failed(error);
        this.#environment.fail(error);
      },
    };
    logger.info('Starting EventSource', { source: source.name });
    using deadline = anySignal([this.#abort.signal]);
    let hasTimedOut = false;
    const timer = startTimer(
      clock,
      () => {
        hasTimedOut = true;
        deadline.abort(new Error(`timed out after ${syncTimeoutMs} ms`));
      },
      syncTimeoutMs,
    );
    const { signal } = deadline;
    try {
      this.#starting = Promise.resolve(source.start(context)).then(requireStarted);
      this.#started = await orAborted(this.#starting, signal);
      await (this.#started.waitForSync === undefined
        ? undefined
        : orAbortedLater(Promise.resolve(this.#started.waitForSync(signal)), signal));
      // A source that failed meanwhile stays failed, although it has handed over what there was.
      if (this.#phase === 'starting') this.#syncedNow();
    } catch (error) {
      if (this.#abort.signal.aborted) throw abortReason(this.#abort.signal);
      this.#syncLate();
      const where = { controller, source: source.name };
      if (this.#started === undefined && hasTimedOut)
        throw new SourceError(
          `timed out waiting for source ${source.name} to Start. Please ensure that its Start() method is non-blocking`,
          where,
          { cause: error },
        );
      const verb = this.#started === undefined ? 'start source' : `wait for ${controller} caches to sync`;
      throw new SourceError(`failed to ${verb} ${source.name}: ${messageOf(error)}`, where, { cause: error });
    } finally {
      timer.cancel();
    }
  }
}
