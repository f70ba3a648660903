import type { Clock } from '@kctl/wait';

const windowMs = 60_000;

/** Options of hot-loop detection. */
export interface HotLoopOptions {
  /** More runs of one key than this within a minute, all with the same outcome, count as a loop. @default 300 */
  readonly maxPerMinute?: number;
}

interface Count {
  runs: number;
  outcome: string;
}

/**
 * Finds keys that are reconciled over and over with the same outcome: usually a reconciler that wakes itself by what it
 * writes. Counts in windows of a minute, so its memory is bounded by the keys of one minute.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #max: number;
  #windowStart: number;
  #counts = new Map<string, Count>();

  constructor(clock: Clock, { maxPerMinute = 300 }: HotLoopOptions = {}) {
    this.#clock = clock;
    this.#max = maxPerMinute;
    this.#windowStart = clock.monotonicNow();
  }

  /** Counts a run; true for the run that makes the key hot, once in a window. */
  record(key: string, outcome: string): boolean {
    const now = this.#clock.monotonicNow();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#counts = new Map();
    }
    const count = this.#counts.get(key);
    if (count?.outcome !== outcome) {
      this.#counts.set(key, { runs: 1, outcome });
      return false;
    }
    return ++count.runs === this.#max + 1;
  }
}
