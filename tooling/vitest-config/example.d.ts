/** A program that runs as its own process. */
export interface RunningExample {
  /** Everything printed so far. */
  readonly output: string;
  /** The exit code. */
  readonly exited: Promise<number | null>;
  /** Resolves when the output has the text; rejects when the program ends without it. */
  waitFor(text: string): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs a program (an example, or one of a test) as its own process, as a user would, on the sources of the packages. */
export function startExample(
  program: string,
  options?: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
  },
): RunningExample;
