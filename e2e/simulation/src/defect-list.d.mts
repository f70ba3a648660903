/** A fix that is taken back. */
export interface Defect {
  /** What is wrong then. */
  readonly defect: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
  /** Which operator shows it; `probe` where none is named. */
  readonly operator?: string;
  /** As many as the operator has where none is named. */
  readonly replicas?: number;
  /** Faults of the run, by name; all where none is named. */
  readonly faults?: string;
  /** How many times the default rates; 3 where it is not named. */
  readonly intensity?: number;
  /** The rules that name this mistake; all where none is named. */
  readonly rules?: readonly string[];
}

export declare const defects: readonly Defect[];
