/** Runs programs of other people. */
import { spawn, spawnSync } from 'node:child_process';

/** Whether a program can be started. Tells loudly when it cannot: the tests that need it are skipped. */
export function isInstalled(program: string, args: readonly string[]): boolean {
  const found = spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (!found) process.stderr.write(`\n*** ${program} is not installed: the tests that need it are SKIPPED ***\n\n`);
  return found;
}

export interface Finished {
  readonly code: number | null;
  /** What it wrote to stdout and stderr. */
  readonly output: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Sees the output as it grows; true ends the program. */
  readonly isEnough?: (output: string) => boolean;
}

export function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      timeout: options.timeoutMs ?? 60_000,
    });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      if (options.isEnough?.(output) === true) child.kill();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a program to its end; what it writes to stderr is shown. @throws where it fails */
export function runSync(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): { readonly stdout: string } {
  const { status, stdout, error } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd !== undefined && { cwd }),
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return { stdout };
}
