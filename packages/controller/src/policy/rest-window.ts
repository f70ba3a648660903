import type { Clock } from '@kctl/wait';
import type { ReconcilePolicy, Settled } from './policy.js';

interface Rest {
  /** Monotonic time. */
  until: number;
  /** Whether an event has already been let through. */
  hasJumped: boolean;
}

/** The rests of keys that failed, for `eventsDuringBackoff: 'oncePerWindow'`. */
export class RestWindows implements ReconcilePolicy {
  readonly #clock: Clock;
  readonly #rests = new Map<string, Rest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** ms that an event of the key has to wait; the first one in a rest does not. */
  left(key: string): number {
    const rest = this.#rests.size === 0 ? undefined : this.#rests.get(key);
    if (rest === undefined) return 0;
    const left = rest.until - this.#clock.monotonicNow();
    if (left <= 0 || rest.hasJumped) return left;
    rest.hasJumped = true;
    return 0;
  }

  /**
   * Lets a failed key rest. When an event was let into a rest that is not over yet, that rest is kept, so that noise
   * does not move the retry, neither nearer nor away.
   */
  settle(settled: Settled): void {
    const { key, outcome, next } = settled;
    if (outcome.type === 'stopped') return;
    if (next === undefined || (outcome.type !== 'error' && outcome.type !== 'backoff')) {
      if (this.#rests.size > 0) this.#rests.delete(key);
      return;
    }
    const now = this.#clock.monotonicNow();
    let rest = this.#rests.get(key);
    if (rest === undefined || !rest.hasJumped || rest.until <= now) {
      rest = { until: now + next.afterMs, hasJumped: false };
      this.#rests.set(key, rest);
    }
    settled.next = { ...next, afterMs: rest.until - now };
  }
}
