import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';

const root = join(import.meta.dirname, '..', '..', '..');

/** The command, as its sources are. */
export const cli = join(root, 'packages', 'cli', 'src', 'cli.ts');
/** The Node that runs it, with what it needs for sources. */
export const node: readonly string[] = [
  process.execPath,
  '--import',
  join(root, 'scripts', 'typescript.mjs'),
  '--conditions=@kctl/source',
];
/** Ports of an operator that no other program of this machine has. */
export const anyPort = ['--health-probe-bind-address', '0', '--metrics-bind-address', '0', '--webhook-port', '0'];

/** A started command, or an operator. */
export type Started = ReturnType<typeof startExample>;

/** A folder with a project, which the end of the test removes. */
export interface Folders {
  /** The fixture of the package's own tests, where its imports resolve. */
  project(): string;
  /** A folder outside of every workspace. */
  empty(): string;
  remove(): void;
}

/** Folders of one test file. */
export function createFolders(): Folders {
  const made: string[] = [];
  const make = (parent: string): string => {
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, 'kctl-project-'));
    made.push(folder);
    return folder;
  };
  return {
    project: () => {
      const folder = make(join(import.meta.dirname, '..', '.cache'));
      cpSync(join(root, 'packages', 'cli', 'test', 'fixture'), folder, { recursive: true });
      return folder;
    },
    empty: () => make(tmpdir()),
    remove: () => {
      for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a command in a folder. */
export function startKctl(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  return startExample(cli, { cwd, args, env });
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end; it has no terminal. */
export async function kctl(cwd: string, ...args: readonly string[]): Promise<Ended> {
  return await run([...node, cli, ...args], cwd);
}

/** Runs a program to its end; its input stays open, and nothing comes. What has not ended by the limit is killed: `code` is null then. */
export async function run(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text: Buffer) => void (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => void (err += text.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, out, err };
}

/** A port that is free now. */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
