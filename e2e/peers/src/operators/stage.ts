/** What an operator plays on: a server, its programs, and the list of what it has to do. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Group } from '../result.js';
import type { Peer } from '../server.js';
import { Api } from './api.js';

export interface Operator {
  readonly name: string;
  readonly version: string;
  /** Builds its programs, starts them, and checks what they do. */
  readonly play: (stage: Stage) => Promise<void>;
}

const limitMs = 90_000;
const pauseMs = 200;
const stopGraceMs = 5_000;

export class Stage implements AsyncDisposable {
  readonly api: Api;
  readonly peer: Peer;
  readonly #passed: string[] = [];
  readonly #failed: { readonly name: string; readonly cause: string }[] = [];
  readonly #programs: { readonly name: string; readonly child: ChildProcess; readonly log: string }[] = [];

  constructor(peer: Peer) {
    this.peer = peer;
    this.api = new Api(peer);
  }

  /** Tries until it succeeds or a minute and a half has gone; what it throws last is the cause. */
  async check(name: string, attempt: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      try {
        await attempt();
        this.#passed.push(name);
        console.log(`  ok ${name}`);
        return;
      } catch (error) {
        if (performance.now() > deadline) {
          const cause = error instanceof Error ? error.message : String(error);
          this.#failed.push({ name, cause: cause.replaceAll(/\s+/g, ' ').slice(0, 300) });
          console.log(`  FAIL ${name}\n       ${cause}`);
          throw new Error(`${name} did not happen`, { cause: error });
        }
        await sleep(pauseMs);
      }
    }
  }

  /** Starts a program that is to run until the stage is left. */
  start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const name = `${program.split('/').at(-1) ?? 'program'}-${this.#programs.length}`;
    const log = join(this.peer.folder, `${name}.log`);
    const child = spawn(program, args, {
      env: { ...process.env, KUBECONFIG: this.peer.kubeconfigPath, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const file = createWriteStream(log);
    child.stdout.pipe(file, { end: false });
    child.stderr.pipe(file, { end: false });
    this.#programs.push({ name, child, log });
  }

  /** The last lines of each program. */
  async logs(lines: number): Promise<string> {
    const parts = this.#programs.map(async ({ name, child, log }) => {
      const text = await readFile(log, 'utf8');
      const state = child.exitCode === null ? 'runs' : `ended with ${child.exitCode}`;
      return `--- ${name} ${state}\n${text.trimEnd().split('\n').slice(-lines).join('\n')}`;
    });
    return (await Promise.all(parts)).join('\n');
  }

  /** Ends before all was checked: what is not a failed check yet becomes one. */
  abandon(error: unknown): void {
    if (this.#failed.length > 0) return;
    this.#failed.push({ name: 'goes on to its end', cause: String(error).slice(0, 300) });
  }

  group(name: string, seconds: number): Group {
    return { name, passed: this.#passed.length, failed: this.#failed, skipped: 0, seconds };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map(({ child }) => stopProgram(child)));
    this.api[Symbol.dispose]();
  }
}

async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
  await ended;
  clearTimeout(timer);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
