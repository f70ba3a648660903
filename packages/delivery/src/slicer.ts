import type { Clock } from '@kctl/wait';

/** Keeps long work from holding the event loop: work asks now and then whether its slice is over, and then yields. */
export class Slicer {
  readonly #clock: Clock;
  readonly #budgetMs: number;
  #until = 0;

  constructor(clock: Clock, budgetMs: number) {
    this.#clock = clock;
    this.#budgetMs = budgetMs;
  }

  /** Starts a slice: to be called when the event loop has just given control. */
  begin(): void {
    this.#until = this.#clock.monotonicNow() + this.#budgetMs;
  }

  get isOver(): boolean {
    return this.#clock.monotonicNow() >= this.#until;
  }

  /** Lets other work run, then starts a slice. */
  async breathe(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.begin();
  }
}
