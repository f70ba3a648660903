import { describe } from 'vitest';

/**
 * One row of `docs/costs.md`. The script that draws the table reads the source of the test: each value is a literal.
 */
export interface CostRow {
  /** Name of the package, with its scope. */
  readonly package: string;
  /** The store, queue, ledger or view, as a user names it. */
  readonly structure: string;
  /** The operations that the row is about. */
  readonly operation: string;
  /** CPU or counted steps per operation: `O(1)`, `O(log n) in the delayed keys`, … */
  readonly cost: string;
  /** What is held, and until when. */
  readonly retains: string;
}

/** Declares a row and the tests that prove it. */
export function structure(row: CostRow, proof: () => void): void {
  describe(`${row.structure}: ${row.operation}: ${row.cost}`, proof);
}
