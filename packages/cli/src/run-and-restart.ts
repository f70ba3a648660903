import { spawn, type ChildProcess } from 'node:child_process';
import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { isAbortError, sleep, systemClock, untilAborted } from '@kctl/wait';
import type { CliIo } from './io.js';
import { shownPath, type Project } from './project.js';

/** Delay of the restart after a change of a file, in ms, because editors write a file in several steps. */
const settleMs = 100;
/** Longest expected restart on an idle machine, in ms. */
const slowMs = 1_000;
/** How long the operator may take to end before it is killed, in ms. */
const stopMs = 10_000;

/** Options for the program of {@link runAndRestart}. */
export interface RunOptions {
  /** As they are at each start. */
  readonly arguments: () => readonly string[];
  /** Beside that of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Receives the output of the program. @default the output of the command */
  readonly output?: Pick<CliIo, 'out' | 'err'>;
  /** Log format of the operator. @default 'text' */
  readonly logFormat?: 'text' | 'json';
  /** Called before each restart, while the program ends; must not reject. @default nothing */
  readonly beforeRestart?: () => Promise<void>;
  /** Called at each start; the signal is aborted when that program is to end. Must not reject. @default nothing */
  readonly onStart?: (signal: AbortSignal) => Promise<void>;
  /** How long the program may take to end before it is killed, in ms. @default 10000 */
  readonly stopMs?: number;
}

/**
 * Runs the program of a project; a change of a file next to it, or below, ends it and starts it anew. There is one at a
 * time. Resolves when the signal is aborted and the program has ended.
 */
export async function runAndRestart(io: CliIo, project: Project, options: RunOptions): Promise<void> {
  const folder = dirname(project.main);
  let changes = await watchFolder(folder, io.signal);
  let reason = '';
  try {
    for (;;) {
      const program = startProgram(io, project, options);
      if (reason !== '') io.err(`restarted: ${reason}\n`);
      const over = new AbortController();
      const begun = options.onStart?.(over.signal);
      try {
        await untilAborted(changes.changed, io.signal);
        if (io.signal.aborted) return;
        const { at } = await changes.changed;
        await sleep(settleMs, { signal: io.signal });
        // A watch ends with its folder, which may have been made anew. The next one begins before the program does.
        const next = await watchFolder(folder, io.signal);
        changes.close();
        const name = changes.name ?? shownPath(project.folder, folder);
        changes = next;
        over.abort();
        const stopped = program.stop().then(() => systemClock.monotonicNow());
        await Promise.all([stopped, options.beforeRestart?.(), begun]);
        reason = `${name} changed (${took(at, await stopped)})`;
      } finally {
        over.abort();
        await program.stop();
        await begun;
      }
      if (io.signal.aborted) return;
    }
  } catch (error) {
    if (!io.signal.aborted || !isAbortError(error)) throw error;
  } finally {
    changes.close();
  }
}

/** Formats the time since the save, and if it is long, how it was spent. */
function took(savedAt: number, stoppedAt: number): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const wholeMs = systemClock.monotonicNow() - savedAt;
  const until = wholeMs > slowMs ? `; the operator had ended after ${seconds(stoppedAt - savedAt)}` : '';
  return `${seconds(wholeMs)} after the save${until}`;
}

interface FolderChanges {
  /** Resolves with the time of the first change, in ms of the monotonic clock. */
  readonly changed: Promise<{ readonly at: number }>;
  /** Name of the file that changed last, if the system reports it. */
  readonly name: string | undefined;
  close(): void;
}

/** Watches a folder, as soon as it is there. @throws the reason of the signal */
async function watchFolder(folder: string, signal: AbortSignal): Promise<FolderChanges> {
  const first = Promise.withResolvers<{ readonly at: number }>();
  const notice = (): void => first.resolve({ at: systemClock.monotonicNow() });
  let name: string | undefined;
  for (;;) {
    let watcher: FSWatcher;
    try {
      watcher = watch(folder, { recursive: true });
    } catch {
      await sleep(settleMs, { signal });
      continue;
    }
    watcher.on('change', (_event, changed) => {
      name = String(changed);
      notice();
    });
    // The folder can no longer be watched. The next watch waits until it can.
    watcher.on('error', notice);
    return {
      changed: first.promise,
      get name() {
        return name;
      },
      close: () => watcher.close(),
    };
  }
}

/** Ends the program in order if the command was killed or crashed, because their channel is closed then. */
const endsWithCommand = `data:text/javascript,${encodeURIComponent(`
  process.once('disconnect', () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${stopMs}).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  process.channel?.unref();
`)}`;

interface RunningProgram {
  /** Ends it, by force if necessary; resolves when it has ended. */
  stop(): Promise<void>;
}

function startProgram(io: CliIo, { main, folder }: Project, options: RunOptions): RunningProgram {
  const args = [
    ...process.execArgv,
    '--import',
    endsWithCommand,
    main,
    '--log-format',
    options.logFormat ?? 'text',
    ...options.arguments(),
  ];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      LOG_RECONCILES: 'true',
      INSPECTION_DETAILS: 'true',
      ...io.environment,
      POD_NAMESPACE: 'default',
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A separate process group, so that Ctrl-C reaches only the command, which requests the end once; an operator that
    // receives two requests exits at once.
    detached: hasGroups,
  });
  const { output = io } = options;
  let isStopping = false;
  const kill = (): void => killGroup(child);
  process.once('exit', kill); // the command was ended by a second signal
  // Pieces of a string, because a piece of bytes may end within a character.
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.out(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => output.err(text));
  const ended = endOf(child).then((how) => {
    process.off('exit', kill);
    if (!isStopping) io.err(`the operator ended with ${how}: it starts again when a file changes\n`);
  });
  return {
    stop: async () => {
      if (!isStopping) child.kill('SIGTERM');
      isStopping = true;
      const { stopMs: limitMs = stopMs } = options;
      const late = new AbortController();
      const killLate = sleep(limitMs, { signal: late.signal }).then(
        () => {
          io.err(`the operator does not end within ${limitMs / 1000} s of SIGTERM: killed\n`);
          kill();
        },
        () => undefined,
      );
      await ended;
      late.abort();
      await killLate;
    },
  };
}

const hasGroups = process.platform !== 'win32';

/** Kills a process with those that it has started. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** How a process ended: `code 1`, `SIGTERM`, or why it did not start. Resolves after its last output. */
async function endOf(child: ChildProcess): Promise<string> {
  return await new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => resolve(signal ?? `code ${code ?? ''}`));
  });
}
