// Where things are, and how commands are run.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
export const results = join(root, 'e2e', 'packages', 'results');
export const pnpm = 'pnpm@12.21.0';

/** @typedef {{ cwd?: string, env?: Record<string, string | undefined>, timeoutMs?: number, stopAfter?: RegExp }} RunOptions */
/** @typedef {{ code: number | null, output: string, ms: number }} Ran */

/**
 * Runs a command to its end and collects what it prints. `stopAfter`: a program that serves until it is told to stop gets
 * SIGTERM once it has printed this.
 *
 * @param {string} command @param {readonly string[]} args @param {RunOptions} [options] @returns {Promise<Ran>}
 */
export function run(command, args, { cwd = root, env = process.env, timeoutMs = 300_000, stopAfter } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let isStopping = false;
    const timer = setTimeout(() => {
      output += `\n(ended after ${timeoutMs} ms)`;
      child.kill('SIGKILL');
    }, timeoutMs);
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      if (stopAfter === undefined || isStopping || !stopAfter.test(output)) return;
      isStopping = true;
      child.kill('SIGTERM');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => (output += String(error)));
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output, ms: performance.now() - started });
    });
  });
}

/** {@link run}, and throws where it fails. @param {string} command @param {readonly string[]} args @param {RunOptions} [options] */
export async function must(command, args, options) {
  const ran = await run(command, args, options);
  if (ran.code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed (${ran.code}):\n${ran.output.slice(-4_000)}`);
  return ran;
}

/** The environment without what npm and pnpm set for the programs that they run. @param {Record<string, string>} [more] */
export function cleanEnvironment(more = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|(NODE_OPTIONS|NODE_PATH|NODE_ENV|KUBECONFIG|INIT_CWD)$)/i.test(name),
  );
  const registry = Object.entries(process.env).filter(([name]) =>
    /^npm_config_(registry|cafile|.*proxy|cache)$/i.test(name),
  );
  return { ...Object.fromEntries([...kept, ...registry]), ...more };
}

/** The versions that are supported: the oldest one, and the current one. */
export const nodeVersions = ['22.19.0', '24', '26'];

/**
 * A Node of this version, from the npm package `node`, kept in the cache.
 *
 * @param {string} version @returns {Promise<string>} path of the program
 */
export async function nodeBinary(version) {
  const folder = join(root, '.cache', 'nodes', version);
  const binary = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await must('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], {
    cwd: folder,
    env: cleanEnvironment(),
  });
  return binary;
}
