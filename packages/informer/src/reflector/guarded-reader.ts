import type { Clock, ClockTimer } from '@kctl/wait';
import { abortReason, startTimer } from '@kctl/wait/internal';
import { IdleWatchError } from '../errors.js';

/** Options of {@link GuardedReader}. */
export interface GuardedReaderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Silence for this long ends the call. */
  readonly idleMs: number;
  /** For the error message. */
  readonly what: string;
}

/**
 * One call to a server that cannot hang, regardless of the other side. It ends by itself, by the signal, or when
 * nothing arrived for too long. Aborting is requested through {@link signal} and then not waited for.
 */
export class GuardedReader {
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #what: string;
  readonly #controller = new AbortController();
  readonly #onAbort: () => void;
  #idleMs: number;
  #lastActivity: number;
  #timer: ClockTimer;
  #interrupt: ((error: Error) => void) | undefined;
  #error: Error | undefined;
  #iterator: AsyncIterator<unknown> | undefined;
  #stream: AsyncDisposable | undefined;

  constructor(options: GuardedReaderOptions) {
    this.#clock = options.clock;
    this.#outer = options.signal;
    this.#what = options.what;
    this.#idleMs = options.idleMs;
    this.#lastActivity = this.#clock.monotonicNow();
    this.#onAbort = () => this.#fail(abortReason(this.#outer));
    this.#outer.addEventListener('abort', this.#onAbort, { once: true });
    this.#timer = this.#arm(this.#idleMs);
    if (this.#outer.aborted) this.#onAbort();
  }

  /** To be given to the call. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Changes how long silence is borne, from the last activity on. */
  set idleMs(idleMs: number) {
    if (idleMs === this.#idleMs) return;
    this.#idleMs = idleMs;
    this.#timer.cancel();
    this.#timer = this.#arm(Math.max(0, this.#lastActivity + idleMs - this.#clock.monotonicNow()));
  }

  /** Waits for one answer. Only one wait at a time. */
  wait<R>(promise: Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      if (this.#error !== undefined) {
        promise.catch(ignore);
        reject(this.#error);
        return;
      }
      this.#interrupt = reject;
      promise.then((result) => {
        this.#lastActivity = this.#clock.monotonicNow();
        resolve(result);
      }, reject);
    });
  }

  /**
   * Waits for a stream and opens it. One that arrives after the call was given up is released at once.
   */
  async open<S extends AsyncIterable<unknown> & AsyncDisposable>(opening: Promise<S>): Promise<S> {
    try {
      const stream = await this.wait(opening);
      this.#stream = stream;
      return stream;
    } catch (error) {
      opening.then(release).catch(ignore);
      throw error;
    }
  }

  /** The iterator of the open stream, which {@link close} ends. */
  iterate<E>(stream: AsyncIterable<E>): AsyncIterator<E> {
    const iterator = stream[Symbol.asyncIterator]();
    this.#iterator = iterator;
    return iterator;
  }

  /** Releases timer, listener and stream. */
  close(): void {
    this.#timer.cancel();
    this.#outer.removeEventListener('abort', this.#onAbort);
    this.#interrupt = undefined;
    this.#controller.abort();
    const iterator = this.#iterator;
    this.#iterator = undefined;
    // The stream may be stuck for good; its end is not awaited, and its outcome is ignored.
    if (iterator !== undefined) leave(iterator).catch(ignore);
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream !== undefined) release(stream).catch(ignore);
  }

  #arm(delayMs: number): ClockTimer {
    return startTimer(this.#clock, () => this.#checkIdle(), delayMs, { keepAlive: false });
  }

  /** The timer is not moved at each frame. When it fires, it checks how long the silence has been. */
  #checkIdle(): void {
    const silence = this.#clock.monotonicNow() - this.#lastActivity;
    if (silence < this.#idleMs) this.#timer = this.#arm(this.#idleMs - silence);
    else this.#fail(new IdleWatchError(this.#what, silence));
  }

  #fail(error: Error): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#interrupt?.(error);
    this.#interrupt = undefined;
    this.#controller.abort(error);
  }
}

function ignore(): void {
  // The outcome of an abandoned read is ignored.
}

/** Foreign code may throw at once, or cannot be disposed, as a generator before Node 24; it must not end the run. */
async function release(stream: AsyncDisposable): Promise<void> {
  await stream[Symbol.asyncDispose]();
}

async function leave(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
