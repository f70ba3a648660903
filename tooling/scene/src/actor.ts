import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program of an example, running as a process of its own. */
export interface Actor {
  readonly pid: number;
  /** Resolves with the first line (past or to come) that contains the text. @throws Error when the program ends first */
  waitFor(text: string): Promise<string>;
  /** Ends it with SIGTERM and waits; returns the exit code. Stopping twice is harmless. */
  stop(): Promise<number | null>;
  /** Ends it as a crash does, with SIGKILL, and waits. */
  kill(): Promise<void>;
}

interface ActorOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly write: (line: string) => void;
}

const typescript = fileURLToPath(new URL('../../../scripts/typescript.mjs', import.meta.url));

/** Starts a TypeScript program on the sources of the packages and passes its lines on. */
export function startActor(program: URL, { env, write }: ActorOptions): Actor {
  const child = spawn(process.execPath, ['--import', typescript, '--conditions=@kctl/source', fileURLToPath(program)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (text) => {
      lines.push(text);
      write(shortened(text));
      wake();
    });
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      hasEnded = true;
      wake();
      resolve(code);
    }),
  );
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (!hasEnded) child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    waitFor: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((each) => each.includes(text));
          if (found === undefined && !hasEnded) return;
          waiters.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the program ended without printing ${JSON.stringify(text)}`));
        };
        waiters.add(look);
        look();
      }),
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

/** Without the time, which the narrator writes, and within the width of a terminal. */
function shortened(text: string): string {
  const line = text
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '')
    .replace(/ (reconcileID|controllerGroup|controllerKind)=\S+/g, '');
  return line.length > 130 ? `${line.slice(0, 129)}…` : line;
}
