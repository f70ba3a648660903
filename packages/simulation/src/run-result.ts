import type { PlannedFault } from './faults/fault.js';
import type { Step } from './timeline.js';
import type { Violation } from './violation.js';

/** Result of one run. */
export interface RunResult {
  readonly seed: number;
  /** Equal for equal runs. */
  readonly hash: string;
  readonly simulatedMs: number;
  /** Faults that struck. */
  readonly faults: number;
  readonly plan: readonly PlannedFault[];
  readonly violation: Violation | undefined;
  /** The objects in the end, comparable with those of another run; undefined if the run did not get there. */
  readonly state: readonly string[] | undefined;
  readonly steps: readonly Step[];
}

/** Deviations of a run from its seed. */
export interface RunVariation {
  /** In place of the faults that the seed draws. */
  readonly plan?: readonly PlannedFault[];
  /** Expected objects in the end. */
  readonly expected?: readonly string[] | undefined;
  /** Replaces the length from the options, in ms. */
  readonly faultMs?: number;
  /** Whether live objects are counted before and after the quiet time. @default false */
  readonly countObjects?: boolean;
  /** Called with each step. */
  readonly onStep?: (step: Step) => void;
}
