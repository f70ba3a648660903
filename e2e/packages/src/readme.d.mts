/** What a README promises. */
export interface FirstProgram {
  readonly name: string;
  /** The arguments of its `npm install`. */
  readonly install: readonly string[];
  readonly program: string;
  readonly needsCluster: boolean;
}

/** @throws Error when the README does not open with an install line and a program */
export function firstProgram(name: string): FirstProgram;

/** What the programs print when they work, by package. */
export const prints: Readonly<Record<string, RegExp | undefined>>;

/** Programs that go on until they are told to stop. */
export const untilStopped: ReadonlySet<string>;
