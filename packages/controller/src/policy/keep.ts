import type { Clock } from '@kctl/wait';
import type { ReconcilePolicy, Settled } from './policy.js';

/** Times that stand although their keys run before, see `ReconcileResult.keep`; the earliest of each key. */
export class KeptTimes implements ReconcilePolicy {
  readonly #clock: Clock;
  readonly #due = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never defers. A time that has come is over with the run that begins. */
  admit(key: string): number {
    if (this.#due.size > 0 && (this.#due.get(key) ?? Infinity) <= this.#clock.monotonicNow()) this.#due.delete(key);
    return 0;
  }

  settle(settled: Settled): void {
    const { key, outcome, run } = settled;
    if (outcome.type === 'requeueAfter' && outcome.keep) {
      const due = this.#clock.monotonicNow() + outcome.afterMs;
      this.#due.set(key, Math.min(due, this.#due.get(key) ?? due));
    }
    const due = this.#due.size === 0 ? undefined : this.#due.get(key);
    if (due !== undefined)
      settled.kept = { afterMs: due - this.#clock.monotonicNow(), priority: run.priority, reason: 'requeue' };
  }
}
