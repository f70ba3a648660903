/** What a README promises. */
export interface FirstProgram {
  readonly name: string;
  /** The arguments of its `npm install`. */
  readonly install: readonly string[];
  readonly program: string;
  readonly needsCluster: boolean;
  /** What it prints when it works: the block of output after it. */
  readonly prints: RegExp;
}

/** @throws Error when the README does not open with an install line and a program, or does not report what it prints */
export function firstProgram(name: string): FirstProgram;

/** Programs that go on until they are told to stop. */
export const untilStopped: ReadonlySet<string>;
