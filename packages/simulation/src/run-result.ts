import type { PlannedFault } from './faults/fault.js';
import type { Step } from './timeline.js';
import type { Violation } from './violation.js';

/** What came of one run. */
export interface RunResult {
  readonly seed: number;
  /** Equal for equal runs. */
  readonly hash: string;
  readonly simulatedMs: number;
  /** Faults that struck. */
  readonly faults: number;
  readonly plan: readonly PlannedFault[];
  readonly violation: Violation | undefined;
  /** The objects in the end, comparable with those of another run; undefined where the run did not get there. */
  readonly state: readonly string[] | undefined;
  readonly steps: readonly Step[];
}

/** How a run differs from what its seed says. */
export interface RunVariation {
  /** In place of the faults that the seed draws. */
  readonly plan?: readonly PlannedFault[];
  /** What the objects must be in the end. */
  readonly expected?: readonly string[] | undefined;
  /** In place of the length that the options say, in ms. */
  readonly faultMs?: number;
  /** Whether live objects are counted before and after the quiet time. @default false */
  readonly countObjects?: boolean;
  /** Called with each step. */
  readonly onStep?: (step: Step) => void;
}
