import type { Clock, Random } from '@kctl/wait';
import type { ControllerMetrics } from '../reconciler/metrics.js';
import type { ReconcilePolicy } from './policy.js';

const windowMs = 60_000;
/** So many runs of a minute are looked at one by one. */
const exactRuns = 5000;
/** Beyond them, one of so many is, and counts for all. */
const sampleWeight = 16;

/** Options of hot-loop detection. */
export interface HotLoopOptions {
  /**
   * More runs of one key than this within a minute, all with the same outcome, count as a loop; beyond 5,000 runs of the
   * controller in that minute by an estimate from samples. @default 300
   */
  readonly maxPerMinute?: number;
}

interface Count {
  runs: number;
  outcome: string;
}

/**
 * Finds keys that are reconciled over and over with the same outcome, usually by a reconciler that wakes itself with
 * its writes. Counts in windows of a minute, so its memory is bounded by the keys of one minute. A controller that is
 * busy with many keys is sampled at random, because counting would be the larger part of a quick reconcile.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #max: number;
  #windowStart: number;
  #runs = 0;
  #counts = new Map<string, Count>();

  constructor(clock: Clock, random: Random, { maxPerMinute = 300 }: HotLoopOptions = {}) {
    this.#clock = clock;
    this.#random = random;
    this.#max = maxPerMinute;
    this.#windowStart = clock.monotonicNow();
  }

  /** Counts a run; true for the run that makes the key hot, once in a window. */
  record(key: string, outcome: string): boolean {
    if (++this.#runs > exactRuns) {
      if (this.#random() * sampleWeight >= 1) return false;
      return this.#count(key, outcome, sampleWeight);
    }
    return this.#count(key, outcome, 1);
  }

  #count(key: string, outcome: string, weight: number): boolean {
    const now = this.#clock.monotonicNow();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#runs = 1;
      this.#counts = new Map();
    }
    const count = this.#counts.get(key);
    if (count?.outcome !== outcome) {
      this.#counts.set(key, { runs: weight, outcome });
      return false;
    }
    const before = count.runs;
    count.runs += weight;
    return before <= this.#max && count.runs > this.#max;
  }
}

/** Warns of keys in a loop, and counts them. */
export function hotLoopPolicy(detector: HotLoopDetector, metrics: ControllerMetrics): ReconcilePolicy {
  return {
    settle: (settled) => {
      const { key, run, outcome } = settled;
      if (!detector.record(key, outcome.type)) return;
      settled.isLooping = true;
      metrics.hotLoops.inc();
      run.logger.warn('reconciled in a loop; the reconciler may be triggering itself', {
        outcome: outcome.type,
        reasons: run.reasons,
      });
    },
  };
}
