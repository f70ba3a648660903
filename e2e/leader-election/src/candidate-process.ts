import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CandidateSettings, Command, Durations, Program } from './protocol.js';
import { sharedNow } from './protocol.js';
import type { Proxy } from './proxy.js';
import { nodeArguments, type FaultyServer } from './server.js';

const program = fileURLToPath(new URL('candidate.ts', import.meta.url));

/** A place for candidates: its network stays, its process is replaced when it dies. */
export interface Slot {
  readonly name: string;
  readonly proxy: Proxy;
  process: CandidateProcess;
  /** What is wrong with it, until when. */
  busyUntil: number;
}

/** A running (or dead) candidate. */
export interface CandidateProcess {
  readonly identity: string;
  readonly logFile: string;
  /** When it was spawned. */
  readonly startedAt: number;
  /** Grace period of its stop, where a manager runs in it, in ms. */
  readonly graceMs: number;
  readonly isAlive: boolean;
  readonly exited: Promise<unknown>;
  send(command: Command): void;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export interface CandidateParts {
  readonly server: FaultyServer;
  readonly namespace: string;
  readonly folder: string;
  readonly durations: Durations;
  readonly worker: boolean;
  readonly startDelayMs: number;
  readonly program: Program;
}

/** Starts the process of a slot. */
export function startProcess(
  { identity, graceMs }: Pick<CandidateSettings, 'identity' | 'graceMs'>,
  proxy: Proxy,
  parts: CandidateParts,
): CandidateProcess {
  const { server, namespace, folder, durations, worker, startDelayMs, program: kind } = parts;
  const logFile = join(folder, `${identity}.jsonl`);
  const settings: CandidateSettings = {
    identity,
    server: `https://127.0.0.1:${proxy.port}`,
    ca: server.connection.ca,
    token: server.connection.user.token,
    namespace,
    logFile,
    durations,
    worker,
    startDelayMs,
    program: kind,
    graceMs,
  };
  const startedAt = sharedNow();
  const child: ChildProcess = spawn(process.execPath, [...nodeArguments, program], {
    env: { ...process.env, CANDIDATE: JSON.stringify(settings) },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const exited = once(child, 'exit');
  child.stdin?.on('error', () => undefined);
  return {
    identity,
    logFile,
    startedAt,
    graceMs,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
    exited,
    send(command) {
      child.stdin?.write(`${JSON.stringify(command)}\n`);
    },
    signal(name) {
      child.kill(name);
    },
  };
}

/** Whether nothing is wrong with a slot. */
export function isHealthy(slot: Slot): boolean {
  return slot.process.isAlive && sharedNow() >= slot.busyUntil;
}
