import type { Clock } from '@kctl/wait';
import type { ReconcileRun } from './reconcile-run.js';

/** Failures in a row of one key. */
export interface FailureRow {
  /** How many runs failed or backed off. */
  attempts: number;
  /** Monotonic time of the first one. */
  readonly since: number;
  /** Monotonic time until which the key should rest. */
  restUntil: number;
  /** Whether an event has already been let through during the rest. */
  hasJumped: boolean;
}

/**
 * What a controller remembers about its keys beside the queue's slot: the current run and the failures in a row.
 * Holds an entry only while there is something to remember.
 */
export class RequestSlots {
  readonly #clock: Clock;
  readonly #runs = new Map<string, ReconcileRun>();
  readonly #failures = new Map<string, FailureRow>();
  /** Monotonic times at which keys run whatever happens before. */
  readonly #kept = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The keys that are being reconciled. */
  get running(): string[] {
    return [...this.#runs.keys()];
  }

  begin(key: string, run: ReconcileRun): void {
    this.#runs.set(key, run);
    if (this.#kept.size > 0 && (this.keptLeft(key) ?? 0) <= 0) this.#kept.delete(key);
  }

  /** Plans a run of the key that later runs do not replace; the earlier one where there is one already. */
  keep(key: string, afterMs: number): void {
    const due = this.#clock.monotonicNow() + afterMs;
    this.#kept.set(key, Math.min(due, this.#kept.get(key) ?? due));
  }

  /** ms until the run of {@link keep}; undefined where there is none. */
  keptLeft(key: string): number | undefined {
    const due = this.#kept.size === 0 ? undefined : this.#kept.get(key);
    return due === undefined ? undefined : due - this.#clock.monotonicNow();
  }

  end(key: string): void {
    this.#runs.delete(key);
  }

  runOf(key: string): ReconcileRun | undefined {
    return this.#runs.size === 0 ? undefined : this.#runs.get(key);
  }

  failures(key: string): FailureRow | undefined {
    return this.#failures.size === 0 ? undefined : this.#failures.get(key);
  }

  /** Counts one more failure. */
  fail(key: string): FailureRow {
    const now = this.#clock.monotonicNow();
    let row = this.#failures.get(key);
    if (row === undefined) {
      row = { attempts: 0, since: now, restUntil: now, hasJumped: false };
      this.#failures.set(key, row);
    }
    row.attempts++;
    return row;
  }

  /**
   * Lets a failed key rest and says for how long. When an event was let into a rest that is not over yet, that rest is
   * kept: noise does not move the retry, neither nearer nor away.
   */
  rest(key: string, afterMs: number): number {
    const row = this.#failures.get(key);
    if (row === undefined) return afterMs;
    const now = this.#clock.monotonicNow();
    if (!row.hasJumped || row.restUntil <= now) {
      row.restUntil = now + afterMs;
      row.hasJumped = false;
    }
    return row.restUntil - now;
  }

  succeed(key: string): void {
    if (this.#failures.size > 0) this.#failures.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#failures.clear();
  }
}
