import type { Clock } from '@kctl/wait';
import type { ReconcileRun } from './reconcile-run.js';

/** Failures and back-offs in a row of one key. */
export interface FailureRow {
  /** How many runs failed or backed off. */
  attempts: number;
  /** Monotonic time of the first one. */
  readonly since: number;
}

/**
 * State of a controller about its keys beside the queue's slot, namely the current run and the failures in a row. Holds
 * an entry only while there is state to keep.
 */
export class RunningRequests {
  readonly #clock: Clock;
  /** A single worker has each run here, because a Map that becomes empty with each run is allocated anew with each. */
  #only: { readonly key: string; readonly run: ReconcileRun } | undefined;
  /** All others. */
  readonly #runs = new Map<string, ReconcileRun>();
  readonly #failures = new Map<string, FailureRow>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The keys that are being reconciled. */
  get keys(): string[] {
    return [...(this.#only === undefined ? [] : [this.#only.key]), ...this.#runs.keys()];
  }

  begin(key: string, run: ReconcileRun): void {
    if (this.#only === undefined) this.#only = { key, run };
    else this.#runs.set(key, run);
  }

  end(key: string): void {
    if (this.#only?.key === key) this.#only = undefined;
    else this.#runs.delete(key);
  }

  runOf(key: string): ReconcileRun | undefined {
    if (this.#only?.key === key) return this.#only.run;
    return this.#runs.size === 0 ? undefined : this.#runs.get(key);
  }

  /** How many runs of the key have failed in a row. */
  failures(key: string): number {
    return this.#failures.size === 0 ? 0 : (this.#failures.get(key)?.attempts ?? 0);
  }

  /** Counts one more failure. */
  fail(key: string): FailureRow {
    let row = this.#failures.get(key);
    if (row === undefined) {
      row = { attempts: 0, since: this.#clock.monotonicNow() };
      this.#failures.set(key, row);
    }
    row.attempts++;
    return row;
  }

  succeed(key: string): void {
    if (this.#failures.size > 0) this.#failures.delete(key);
  }
}
