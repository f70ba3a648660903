import type { Clock } from './clock.js';

/**
 * The event loop's count, as Node measures it. Captured once, because timers that a test fakes replace `performance` as
 * well.
 */
const timing: unknown = Reflect.get(performance, 'nodeTiming');

/**
 * The current turn of the event loop of this thread. The loop has checked all sockets and timers since any other turn.
 * If the runtime does not count turns (Bun, Deno), all are one; a slice then begins only with `begin` and in later
 * turns.
 */
function turnOfLoop(): number {
  return loopCountOf(timing) ?? 0;
}

/** The count in `performance.nodeTiming`; undefined if not available. */
export function loopCountOf(nodeTiming: unknown): number | undefined {
  const metrics = fieldOf(nodeTiming, 'uvMetricsInfo');
  const count = fieldOf(metrics, 'loopCount');
  return typeof count === 'number' ? count : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Options of a {@link Slicer}. */
export interface SlicerOptions {
  /** Which turn the event loop is in. @default that of this thread's loop */
  readonly turnOf?: () => number;
  /**
   * How many looks at the clock end a slice in any case, for work that may be endless, because a clock of tests stands
   * still.
   *
   * @default Infinity
   */
  readonly maxLooks?: number;
}

/**
 * Keeps long work from holding the event loop. Work checks now and then whether its slice is over, and then yields. All
 * users of a slicer share one slice in each turn, however many there are. Each turn of the loop has its slice, so an
 * event from a socket that arrives while nothing else is in progress is handled in that turn.
 */
export class Slicer {
  readonly #clock: Clock;
  readonly #budgetMs: number;
  readonly #turnOf: () => number;
  readonly #maxLooks: number;
  #turn = Number.NaN;
  #until = 0;
  /** How many looks at the clock the slice has left. */
  #looks = 0;
  /** Work that waits for a turn; the first is at `#next`. */
  #waiting: Waiting[] = [];
  #next = 0;
  #isScheduled = false;

  constructor(clock: Clock, budgetMs: number, { turnOf = turnOfLoop, maxLooks = Infinity }: SlicerOptions = {}) {
    this.#clock = clock;
    this.#budgetMs = budgetMs;
    this.#turnOf = turnOf;
    this.#maxLooks = maxLooks;
  }

  /** Starts a slice. To be called when the event loop has just given control. */
  begin(): void {
    this.#beginAt(this.#clock.monotonicNow(), this.#turnOf());
  }

  /** Whether the slice of this turn is over. The first check in a turn begins its slice if the last one is over. */
  get isOver(): boolean {
    const now = this.#clock.monotonicNow();
    if (now < this.#until && this.#looks-- > 0) return false;
    const turn = this.#turnOf();
    if (turn === this.#turn) return true;
    this.#beginAt(now, turn);
    return false;
  }

  /** Calls `work` in a slice of a turn to come, after what waits already. It must not throw. */
  schedule(work: () => void): void {
    this.#enqueue({ work, goesOn: false });
  }

  /** Lets other work run, then starts a slice, or goes on in one that others have left something of. */
  breathe(): Promise<void> {
    return new Promise((resolve) => this.#enqueue({ work: resolve, goesOn: true }));
  }

  #beginAt(now: number, turn: number): void {
    this.#turn = turn;
    this.#until = now + this.#budgetMs;
    this.#looks = this.#maxLooks;
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

const sliceMs = 5;
const slicers = new WeakMap<Clock, Slicer>();

/**
 * The slicer of everything that reads and delivers by one clock: 5 ms in each turn of the loop for all informers of a
 * thread together. With one for each, a hundred informers that have something to read hold the loop for a hundred slices.
 */
export function slicerOf(clock: Clock): Slicer {
  let slicer = slicers.get(clock);
  if (slicer === undefined) slicers.set(clock, (slicer = new Slicer(clock, sliceMs)));
  return slicer;
}

interface Waiting {
  readonly work: () => void;
  /** Whether the work only begins in the call, and goes on when the call has returned. */
  readonly goesOn: boolean;
}

/** Resolves in the next turn of the event loop, so that sockets, timers and other work run first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
