import type { Clock } from '@kctl/wait';

/**
 * Keeps long work from holding the event loop: work asks now and then whether its slice is over, and then yields. What
 * shares a slicer shares one slice in each turn, however many there are.
 */
export class Slicer {
  readonly #clock: Clock;
  readonly #budgetMs: number;
  #until = 0;
  /** What waits for a turn; the first one is at `#next`. */
  #waiting: Waiting[] = [];
  #next = 0;
  #isScheduled = false;

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

  /** Calls `work` in a slice of a turn to come, after what waits already. It must not throw. */
  schedule(work: () => void): void {
    this.#enqueue({ work, goesOn: false });
  }

  /** Lets other work run, then starts a slice, or goes on in one that others have left something of. */
  breathe(): Promise<void> {
    return new Promise((resolve) => this.#enqueue({ work: resolve, goesOn: true }));
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#wake();
  }

  #wake(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    this.begin();
    let goesOn = false;
    do {
      const waiting = this.#waiting[this.#next++];
      if (waiting === undefined) break;
      waiting.work();
      // It goes on after this, and has the rest of the slice.
      ({ goesOn } = waiting);
    } while (!goesOn && !this.isOver);
    if (this.#next < this.#waiting.length) {
      if (this.#next > 1000) this.#forget();
      this.#wake();
    } else {
      this.#waiting = [];
      this.#next = 0;
    }
  }

  #forget(): void {
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}

interface Waiting {
  readonly work: () => void;
  /** Whether the work only begins in the call, and goes on when the call has returned. */
  readonly goesOn: boolean;
}
