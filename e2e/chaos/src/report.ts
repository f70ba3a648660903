/** Something that must never happen, and did. */
export interface Violation {
  readonly scenario: string;
  readonly seed: number;
  /** How far the scenario was. */
  readonly step: string;
  readonly message: string;
  /** What helps to find the cause: the last lines about the object concerned. */
  readonly context: readonly string[];
}

/** Counts faults and keeps violations. */
export interface Report {
  readonly faults: number;
  readonly violations: readonly Violation[];
  addFaults(count: number): void;
  /** Notes a violation and prints it. */
  violate(violation: Violation): void;
  line(text: string): void;
  /** The last line of a run. */
  summary(): string;
}

/** How many violations are printed; the others are counted. */
const printed = 20;

export function createReport(write: (line: string) => void): Report {
  let faults = 0;
  const violations: Violation[] = [];
  return {
    get faults() {
      return faults;
    },
    violations,
    addFaults: (count) => {
      faults += count;
    },
    violate: (violation) => {
      violations.push(violation);
      if (violations.length > printed) return;
      const { scenario, seed, step, message, context } = violation;
      write(`VIOLATION ${scenario}: ${message} (seed ${seed}, step ${step})`);
      for (const text of context) write(`    ${text}`);
    },
    line: write,
    summary: () => `${faults} faults, ${violations.length} violations`,
  };
}
