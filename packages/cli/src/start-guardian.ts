import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ClusterOptions } from './cluster.js';
import type { CliIo } from './io.js';
import { ownCommand } from './own-command.js';

/** Changes to undo if the command exits without doing so. */
export interface GuardianOrders {
  /** A temporary folder, with keys. */
  readonly folder: string;
  /** Cluster in which objects may lead to this machine. @default none, since the server ends with the command */
  readonly cluster?: ClusterOptions;
  /** As `writePlaces` writes them. */
  readonly places: readonly (readonly [kind: string, name: string])[];
  /** The run of `kctl dev`: what leads to another stays. */
  readonly session: string;
  /** Name of the operator, which the run has claimed in the cluster. */
  readonly operator: string;
}

/** A process that undoes what this one has done, should it be killed. */
export interface Guardian extends AsyncDisposable {
  /** Replaces what it would undo; before the change that it is about. Resolves when that is out of this process. */
  order(orders: GuardianOrders): Promise<void>;
}

/** Sources are run as they are; of the build, each entry is a file beside this one. */
const program = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './guardian.ts' : './guardian.js', import.meta.url),
);

/** Starts it. It is out of reach of signals of the terminal, and disposing ends it without undoing anything. */
export function startGuardian({ err }: Pick<CliIo, 'err'>): Guardian {
  const child = spawn(process.execPath, [...process.execArgv, program], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  let isDone = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      if (!isDone)
        err(
          `the guardian of kctl dev has ended: after a crash, run ${ownCommand('dev')} or ${ownCommand('deploy')} again to restore the cluster\n`,
        );
      resolve();
    };
    child.once('error', end);
    child.once('exit', end);
  });
  child.stdin.on('error', () => undefined); // it has ended, which is said above
  return {
    // Fails if the guardian has ended, which is reported.
    order: async (orders) =>
      await new Promise((resolve) => child.stdin.write(`${JSON.stringify(orders)}\n`, () => resolve())),
    [Symbol.asyncDispose]: async () => {
      isDone = true;
      child.stdin.end('done\n');
      await ended;
    },
  };
}
