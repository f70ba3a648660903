/** Look of a result in a terminal. */
export type TextStyle = 'bold' | 'green' | 'yellow' | 'red';

/** Input and output of a command, which is the process or a test. */
export interface CliIo {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Results. */
  readonly out: (text: string, style?: TextStyle) => void;
  /** Whether styles of results are shown. @default false */
  readonly colour?: boolean;
  /** Progress and errors. */
  readonly err: (text: string) => void;
  /** Calls the listener with each key that is pressed, until what it returns is called. @default there is no terminal */
  readonly onKey?: ((listener: (key: string) => void) => () => void) | undefined;
  /** Shows an address to the user. @default the browser of the desktop, if there is one */
  readonly open?: (url: string) => void;
  /** Aborted by the first SIGINT. */
  readonly signal: AbortSignal;
}
