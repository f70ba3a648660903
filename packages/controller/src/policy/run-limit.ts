import type { Clock } from '@kctl/wait';
import type { ReconcilePolicy } from './policy.js';

/** How often one key may be reconciled. */
export interface RunLimit {
  /** Maximum number of runs of a key, an integer ≥ 1 … */
  readonly runs: number;
  /** … begin within this many ms. */
  readonly perMs: number;
}

/** When the last runs of each key began. Keeps two generations of keys; a run in neither is older than the window. */
export class RunLimiter {
  readonly #runs: number;
  readonly #windowMs: number;
  #recent = new Map<string, number[]>();
  #older = new Map<string, number[]>();
  #turned: number | undefined;

  constructor({ runs, perMs }: RunLimit) {
    this.#runs = runs;
    this.#windowMs = perMs;
  }

  /** ms until the key may run; 0: it begins to run now. */
  begin(key: string, now: number): number {
    this.#turn(now);
    const starts = this.#recent.get(key) ?? this.#older.get(key) ?? [];
    const oldest = starts.length < this.#runs ? undefined : starts[0];
    const left = oldest === undefined ? 0 : oldest + this.#windowMs - now;
    if (left > 0) return left;
    if (oldest !== undefined) starts.shift();
    starts.push(now);
    this.#recent.set(key, starts);
    return 0;
  }

  #turn(now: number): void {
    this.#turned ??= now;
    if (now - this.#turned < this.#windowMs) return;
    this.#turned = now;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/** Defers runs that come too early. */
export function runLimitPolicy(limiter: RunLimiter, clock: Clock): ReconcilePolicy {
  return { admit: (key) => limiter.begin(key, clock.monotonicNow()) };
}
