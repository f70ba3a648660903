import type { Random } from '@kctl/wait';
import { lowPriority } from '@kctl/workqueue';
import type { ReconcilePolicy, Settled } from './policy.js';

/**
 * An object at rest, after a success or a failure that is not retried, is reconciled again after this long, even if
 * nothing happens. Not one that was deleted, or that is no longer in the watched namespaces.
 */
export interface SafetyInterval {
  /** Mean interval in ms, > 0; each object's is spread by ±20 %. The run has low priority, and any event replaces it. */
  readonly everyMs: number;
}

const reason = 'safety interval';

/** Plans a late run for objects at rest that a source has reported as present. */
export class SafetyIntervals implements ReconcilePolicy {
  readonly #everyMs: number;
  readonly #random: Random;
  readonly #present = new Set<string>();

  constructor({ everyMs }: SafetyInterval, random: Random) {
    this.#everyMs = everyMs;
    this.#random = random;
  }

  /** Records the presence of the key's object reported by an event. */
  observe(key: string, presence: 'present' | 'gone' | undefined): void {
    if (presence === 'present') this.#present.add(key);
    else if (presence === 'gone') this.#present.delete(key);
  }

  /** Drops a late run without another trigger, of an object that has left the watched namespaces meanwhile. */
  admit(key: string, reasons: readonly string[]): number {
    return reasons.length === 1 && reasons[0] === reason && !this.#present.has(key) ? Infinity : 0;
  }

  settle(settled: Settled): void {
    if (settled.next !== undefined || !this.#present.has(settled.key)) return;
    const afterMs = this.#everyMs * (0.8 + 0.4 * this.#random());
    settled.next = { afterMs, priority: lowPriority, reason };
  }
}
