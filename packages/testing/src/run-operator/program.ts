import { spawn, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { systemClock } from '@kctl/wait';

/** How a program is started. */
export interface ProgramOptions {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** How a program has ended. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs. Its last output is kept. */
export class Program {
  readonly ended: Promise<ProgramEnd>;
  readonly #child: ChildProcess;
  #output = '';

  constructor({ command: [file, ...args], environment, cwd }: ProgramOptions) {
    this.#child = spawn(file, args, {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-maxOutput);
      });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', (cause) => reject(new Error(`${file} cannot be started`, { cause })));
      // When its output is complete, too.
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.ended.catch(() => undefined);
  }

  /** The last megabyte of what it has written, to either stream. */
  get output(): string {
    return this.#output;
  }

  /** SIGTERM, and SIGKILL after `graceMs`. */
  async stop(graceMs: number): Promise<ProgramEnd> {
    this.#child.kill('SIGTERM');
    const force = systemClock.setTimer(() => this.#child.kill('SIGKILL'), graceMs);
    try {
      return await this.ended;
    } finally {
      force.cancel();
    }
  }
}

const maxOutput = 1_000_000;

/** The command of an entry point: TypeScript and JavaScript by this Node, anything else as it is. */
export function commandOf(program: string | readonly string[]): [string, ...string[]] {
  const [first, ...rest] = typeof program === 'string' ? [program] : program;
  if (first === undefined || first === '')
    throw new TypeError('runOperator: program is empty: expected a path or a command');
  const isScript = ['.ts', '.mts', '.js', '.mjs', '.cjs'].includes(extname(first));
  return isScript ? [process.execPath, ...process.execArgv.filter(isCondition), first, ...rest] : [first, ...rest];
}

/** Settings that decide which files are imported must be the same there. */
function isCondition(argument: string): boolean {
  return argument.startsWith('--conditions=');
}

/** The words of a command line, as in a shell without expansions: `docker run "my image"`. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? '');
}
