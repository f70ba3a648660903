import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { clockOption, numberProblem, optionProblems, shownValue } from '@kctl/options';

/** The default memory budget of the recorder, in bytes. */
export const defaultBudgetBytes: number = 8 * 1024 * 1024;
export const defaultMaxRunsPerKey = 64;

/** Options of the recording. */
export interface RecordingOptions {
  /** Memory for what is recorded, in bytes, ≥ 65536; what is oldest is forgotten first. @default 8 MiB */
  readonly budgetBytes?: number;
  /** Runs of one key that are kept, ≥ 1: a busy key does not take the place of all others. @default 64 */
  readonly maxRunsPerKey?: number;
  /**
   * Records names of Secrets. @default false, with a mark in their place that is the same for the same name in this
   * process
   */
  readonly recordSecretNames?: boolean;
  /**
   * Records messages of errors, at most 1000 bytes of each (500 UTF-16 units), which may repeat contents of objects.
   *
   * @default false, which records class, code, API status, fields and the line of the program; the log has the message
   */
  readonly recordErrorMessages?: boolean;
}

/** Options of `createInspection`. */
export interface InspectionOptions extends RecordingOptions {
  /** That of the manager. @default systemClock */
  readonly clock?: Clock;
}

/** Names of {@link RecordingOptions}, for a facade that has more. */
export const recordingOptionNames: OptionNames<RecordingOptions> = {
  budgetBytes: true,
  maxRunsPerKey: true,
  recordSecretNames: true,
  recordErrorMessages: true,
};

const switches = ['recordSecretNames', 'recordErrorMessages'] as const;

/** @throws TypeError naming everything that is not valid */
export function checkOptions(options: InspectionOptions): void {
  const problems = [
    ...optionProblems(options, { ...recordingOptionNames, clock: clockOption }),
    options.budgetBytes === undefined
      ? undefined
      : numberProblem('budgetBytes', options.budgetBytes, { least: 65_536, integer: true }),
    options.maxRunsPerKey === undefined
      ? undefined
      : numberProblem('maxRunsPerKey', options.maxRunsPerKey, { least: 1, integer: true }),
    ...switches
      .filter((field) => !['boolean', 'undefined'].includes(typeof options[field]))
      .map((field) => `${field} ${shownValue(options[field])} is not valid: expected true or false`),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`createInspection: ${problems.join('; ')}`);
}
