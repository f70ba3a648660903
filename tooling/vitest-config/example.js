import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const typescript = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'scripts', 'typescript.mjs');

/**
 * Runs a program (an example, or one of a test) as its own process, as a user would, on the sources of the packages.
 *
 * @param {string} program path of the .ts file
 * @param {{ args?: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string }} [options]
 */
export function startExample(program, options = {}) {
  const child = spawn(process.execPath, ['--import', typescript, '--conditions=@kctl/source', program, ...(options.args ?? [])], {
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const collect = (/** @type {Buffer} */ chunk) => {
    output += chunk.toString();
    for (const listener of [...listeners]) listener();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('close', (code) => {
    for (const listener of [...listeners]) listener();
    resolve(code);
  }));
  return {
    get output() {
      return output;
    },
    /** The exit code. */
    exited,
    /** Resolves when the output has the text; rejects when the program ends without it. @param {string} text */
    waitFor(text) {
      return new Promise((resolve, reject) => {
        const look = () => {
          if (output.includes(text)) settle(() => resolve(undefined));
          else if (child.exitCode !== null) settle(() => reject(new Error(`the program ended without printing ${JSON.stringify(text)}:\n${output}`)));
        };
        const settle = (/** @type {() => void} */ done) => {
          listeners.delete(look);
          done();
        };
        listeners.add(look);
        look();
      });
    },
    /** @param {NodeJS.Signals} [signal] */
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}
