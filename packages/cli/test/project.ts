import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { runKctl, type CliIo } from '../src/index.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A copy of the fixture inside of the package, where its imports resolve, and where no other tool looks while this one writes. */
export function project(): string {
  const cache = join(import.meta.dirname, '..', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'project-'));
  folders.push(folder);
  cpSync(join(import.meta.dirname, 'fixture'), folder, { recursive: true });
  return folder;
}

/** How a command ended. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in a folder. */
export function kctl(cwd: string, ...given: readonly string[]): Promise<Result> {
  return kctlUntil(new AbortController().signal, cwd, ...given);
}

/** {@link kctl}, ended by a signal. */
export function kctlUntil(signal: AbortSignal, cwd: string, ...given: readonly string[]): Promise<Result> {
  return run({ cwd, environment: {}, signal }, given);
}

/** {@link kctl} with variables of the environment. */
export function kctlWith(environment: CliIo['environment'], cwd: string, ...given: readonly string[]): Promise<Result> {
  return run({ cwd, environment, signal: new AbortController().signal }, given);
}

async function run(parts: Pick<CliIo, 'cwd' | 'environment' | 'signal'>, given: readonly string[]): Promise<Result> {
  let out = '';
  let err = '';
  const io = {
    ...parts,
    out: (text: string): void => void (out += text),
    err: (text: string): void => void (err += text),
  };
  return { code: await runKctl(io, given), out, err };
}
