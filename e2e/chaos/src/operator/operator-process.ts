import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./operator-main.ts', import.meta.url));
const typescript = fileURLToPath(new URL('../../../../scripts/typescript.mjs', import.meta.url));

/** How many lines of output are kept. */
const keptLines = 20_000;

/** An operator that can be killed and started again. Only one runs at a time. */
export interface OperatorProcess {
  /** The output of all incarnations, newest last. */
  readonly lines: readonly string[];
  readonly starts: number;
  readonly isRunning: boolean;
  start(): void;
  /** kill -9. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM. Resolves with the exit code, or what it died of. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** @param onDeath called when it ends though nobody asked it to */
export function createOperatorProcess(
  env: Readonly<Record<string, string>>,
  onDeath: (how: string) => void,
): OperatorProcess {
  let child: ChildProcess | undefined;
  let starts = 0;
  const lines: string[] = [];
  const collect = (chunk: Buffer): void => {
    for (const text of chunk.toString().split('\n')) if (text !== '') lines.push(`#${starts} ${text}`);
    if (lines.length > keptLines * 1.25) lines.splice(0, lines.length - keptLines);
  };
  const dieWithUs = (): void => void child?.kill('SIGKILL');
  const end = async (signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> => {
    const ending = child;
    if (ending === undefined) return null;
    child = undefined;
    const closed = once(ending, 'close');
    ending.kill(signal);
    await closed;
    process.off('exit', dieWithUs);
    return ending.signalCode ?? ending.exitCode;
  };
  return {
    lines,
    get starts() {
      return starts;
    },
    get isRunning() {
      return child !== undefined;
    },
    start: () => {
      starts++;
      const started = spawn(process.execPath, ['--import', typescript, '--conditions=@kctl/source', program], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      started.stdout.on('data', collect);
      started.stderr.on('data', collect);
      process.once('exit', dieWithUs);
      started.once('close', (code, signal) => {
        if (child !== started) return;
        child = undefined;
        process.off('exit', dieWithUs);
        onDeath(`the operator ended by itself: ${signal ?? `exit code ${code}`}`);
      });
    },
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}
