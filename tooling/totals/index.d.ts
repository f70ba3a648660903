/** What a suite reports. */
export interface Totals {
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Begins a run; does nothing where KCTL_TOTALS names a file that the caller keeps. */
export function resetTotals(): void;
/** Adds a suite to the run. */
export function addTotals(totals: Totals): void;
export function readTotals(): Totals[];
/** Prints a line a suite and, last, `N passed, N failed, N skipped`. */
export function printTotals(): void;
