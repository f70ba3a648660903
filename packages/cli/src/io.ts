/** What a command reads from and writes to: the process, or a test. */
export interface CliIo {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Results. */
  readonly out: (text: string) => void;
  /** Progress and errors. */
  readonly err: (text: string) => void;
  /** Aborted by the first SIGINT. */
  readonly signal: AbortSignal;
}
