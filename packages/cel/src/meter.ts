import { CelCostExceededError } from './errors.js';

/** Elementary steps that one evaluation may take outside of what its cost counts. */
const maxWork = 20_000_000;

/** Counts what an evaluation costs, by cel-go's numbers, and stops it at its limit. */
export class Meter {
  readonly #limit: number;
  #cost = 0;
  #work = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get cost(): number {
    return this.#cost;
  }

  /** The rest of the limit. */
  get left(): number {
    return this.#limit - this.#cost;
  }

  /** Throws {@link CelCostExceededError} when the limit is passed. */
  spend(cost: number): void {
    this.#cost += cost;
    if (this.#cost > this.#limit) throw new CelCostExceededError(this.#cost);
  }

  /** Counts steps that cost nothing upstream (comparing nested lists, copying), so that they are bounded too. */
  toil(steps: number): void {
    this.#work += steps;
    if (this.#work > maxWork) throw new CelCostExceededError(this.#cost);
  }
}
