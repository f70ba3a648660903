import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { abortReason } from '@kctl/wait';
import { messageOf, SourceError } from './errors.js';
import { orAborted, orAbortedLater } from './or-aborted.js';
import type { Source, SourceContext, SourceQueue, StartedSource } from './source/source.js';

/** What the sources of one session share. */
export interface WatchEnvironment<R> {
  readonly controller: string;
  readonly queue: SourceQueue<R>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly syncTimeoutMs: number;
  readonly fail: (error: unknown) => void;
}

/** One source in one session: started, synced, and ended with the session or before. */
export class Watch<R> {
  readonly source: Source<R>;
  /** Settles when the source has started and synced, with a {@link SourceError} where it did not. */
  readonly synced: Promise<void>;
  readonly #environment: WatchEnvironment<R>;
  readonly #abort = new AbortController();
  #started: StartedSource | undefined;
  #starting: Promise<StartedSource> | undefined;
  #stopped: Promise<void> | undefined;
  #hasSynced = false;
  readonly #onEnd = (): void => this.#abort.abort(this.#environment.signal.reason);

  constructor(source: Source<R>, environment: WatchEnvironment<R>) {
    this.source = source;
    this.#environment = environment;
    if (environment.signal.aborted) this.#onEnd();
    else environment.signal.addEventListener('abort', this.#onEnd, { once: true });
    this.synced = this.#start();
    this.synced.catch(() => undefined); // whoever needs it awaits it
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Nobody waits any more; the source goes on all the same, and may sync after all. */
  #syncLate(): void {
    this.#started?.waitForSync?.(this.#abort.signal).then(
      () => (this.#hasSynced = true),
      () => undefined, // told already
    );
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

  async #start(): Promise<void> {
    const { controller, logger, clock, random, queue, syncTimeoutMs } = this.#environment;
    const { source } = this;
    const context: SourceContext<R> = {
      queue: {
        add: (request, options) => {
          if (!this.#abort.signal.aborted) queue.add(request, options);
        },
      },
      signal: this.#abort.signal,
      logger: logger.child({ source: source.name }),
      clock,
      random,
      fail: (error) => {
        if (!this.#abort.signal.aborted) this.#environment.fail(error);
      },
    };
    logger.info('Starting EventSource', { source: source.name });
    const deadline = new AbortController();
    const timer = clock.setTimer(() => deadline.abort(new Error(`timed out after ${syncTimeoutMs} ms`)), syncTimeoutMs);
    const signal = AbortSignal.any([deadline.signal, this.#abort.signal]);
    try {
      this.#starting = source.start(context);
      this.#started = await orAborted(this.#starting, signal);
      await (this.#started.waitForSync === undefined
        ? undefined
        : orAbortedLater(this.#started.waitForSync(signal), signal));
      this.#hasSynced = true;
    } catch (error) {
      if (this.#abort.signal.aborted) throw abortReason(this.#abort.signal);
      this.#syncLate();
      const where = { controller, source: source.name };
      if (this.#started === undefined && deadline.signal.aborted)
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
