import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../server.js';
import type { ReplicaLine, ReplicaSettings } from './protocol.js';

type State = Extract<ReplicaLine, { what: 'state' }>;
type Reconciled = Extract<ReplicaLine, { what: 'reconciled' }>;

/** A replica and what it has said. */
export interface ReplicaProcess {
  readonly identity: string;
  readonly health: number;
  readonly webhook: number;
  readonly states: readonly State[];
  readonly reconciled: readonly Reconciled[];
  /** How it ended, where it did. */
  readonly exit: string | undefined;
  /** Asks it to stop, and waits for its end. */
  stop(): Promise<void>;
  kill(): void;
}

const program = fileURLToPath(new URL('replica.ts', import.meta.url));

/** Starts a replica; resolves when its servers listen. */
export async function startReplica(settings: ReplicaSettings, logFile: string): Promise<ReplicaProcess> {
  const child = spawn(process.execPath, [...nodeArguments, program], {
    env: { ...process.env, REPLICA: JSON.stringify(settings) },
    stdio: ['pipe', 'pipe', openSync(logFile, 'w')],
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('a replica without pipes');
  const states: State[] = [];
  const reconciled: Reconciled[] = [];
  let exit: string | undefined;
  const ended = once(child, 'exit').then(([code, signal]: (string | number | null)[]) => {
    exit = signal === null ? `code ${code ?? '?'}` : `signal ${signal ?? '?'}`;
  });
  stdin.on('error', () => undefined);
  const serving = Promise.withResolvers<Extract<ReplicaLine, { what: 'serving' }>>();
  void ended.then(() => serving.reject(new Error(`${settings.identity} ended with ${exit ?? ''}: see ${logFile}`)));
  createInterface({ input: stdout }).on('line', (text) => {
    const line = JSON.parse(text) as ReplicaLine;
    if (line.what === 'serving') serving.resolve(line);
    else if (line.what === 'state') states.push(line);
    else reconciled.push(line);
  });
  const { health, webhook } = await serving.promise;
  return {
    identity: settings.identity,
    health,
    webhook,
    states,
    reconciled,
    get exit() {
      return exit;
    },
    async stop() {
      stdin.write('stop\n');
      await ended;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
