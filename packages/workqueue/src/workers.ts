import type { Slicer } from '@kctl/wait/internal';

/** Options of {@link Workers}. */
export interface WorkersOptions {
  readonly concurrency: number;
  /** Gives the slices of the event loop in which work is started. */
  readonly slicer: Slicer;
  /** How much work is started between two checks of the slice. */
  readonly startsPerLook: number;
  /** Starts one piece of work, which counts in `active` while it goes on. False if nothing can be started now. */
  readonly startNext: () => boolean;
  /** Whether the end has come as soon as nothing is in progress. */
  readonly mayEnd: () => boolean;
  readonly onEnd?: () => unknown;
}

/**
 * At most `concurrency` pieces of work at once, started in slices of the event loop. Where the work comes from, and what
 * follows a failure, is up to its owner. Uses callbacks instead of a loop that awaits, because the promises of the loop
 * would be the larger part of quick work.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #end: PromiseWithResolvers<void> = Promise.withResolvers();
  #failure: { readonly error: unknown } | undefined;
  #isStopping = false;
  #isEnded = false;
  #isPumping = false;
  #isPaused = false;
  /** May change at any time; {@link pump} then starts what a higher limit allows. */
  concurrency: number;
  /** How many are in progress. Counted before the work is called, because it may stop its owner at once. */
  active = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.concurrency = options.concurrency;
  }

  /** Resolves when nothing is in progress and nothing will be; rejects with the first error of {@link fail}. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Starts work while there is any and workers are free. */
  pump(): void {
    if (this.#isPumping || this.#isPaused || this.#isEnded) return;
    this.#isPumping = true;
    const { startNext, startsPerLook } = this.#options;
    let left = startsPerLook;
    while (this.active < this.concurrency && !this.#isStopping) {
      if (left-- === 0) {
        left = startsPerLook - 1;
        if (this.#pauseIfOver()) break;
      }
      if (!startNext()) break;
    }
    this.#isPumping = false;
    this.checkEnd();
  }

  /** Goes on after asynchronous work; promises that are settled already must not block the event loop. */
  next(): void {
    if (!this.#isPaused && this.#pauseIfOver()) return;
    this.pump();
  }

  /** Starts nothing more. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Starts nothing more, and {@link ended} rejects with the first error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.stop();
  }

  checkEnd(): void {
    if (this.#isEnded || this.active > 0 || !this.#options.mayEnd()) return;
    this.#isEnded = true;
    this.#options.onEnd?.();
    if (this.#failure === undefined) this.#end.resolve();
    else this.#end.reject(this.#failure.error);
  }

  #pauseIfOver(): boolean {
    const { slicer } = this.#options;
    if (!slicer.isOver) return false;
    this.#isPaused = true;
    slicer.schedule(() => {
      this.#isPaused = false;
      this.pump();
    });
    return true;
  }
}
