import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { addTotals, readTotals } from '../tooling/totals/index.js';

const bin = join(process.cwd(), 'node_modules', '.bin');

/**
 * Runs a command to its end. A named step is quiet: its output appears when it fails or when it is the tests.
 * @param {string} name '' for a command that owns the terminal
 * @param {string} command @param {string[]} args @returns {Promise<boolean>} whether it exited with 0
 */
export function step(name, command, args) {
  const started = Date.now();
  const owned = name === '';
  const failedTotal = () => readTotals().reduce((sum, { failed }) => sum + failed, 0);
  const failedBefore = failedTotal();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: owned ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      env: {
        ...process.env,
        // KCTL_NODE: the folder of a Node to use instead of the pinned one.
        PATH: [process.env.KCTL_NODE, bin, process.env.PATH].filter(Boolean).join(delimiter),
        TURBO_TELEMETRY_DISABLED: '1',
        ...(owned ? {} : { FORCE_COLOR: '0' }),
      },
    });
    if (owned)
      for (const signal of ['SIGINT', 'SIGTERM'])
        process.on(signal, () => child.kill(/** @type {NodeJS.Signals} */ (signal)));
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => {
      console.error(`${name || command}: cannot start: ${error.message}`);
      resolve(false);
    });
    child.once('close', (code, signal) => {
      const passed = code === 0;
      if (!owned) {
        console.log(`${passed ? 'ok  ' : 'FAIL'}  ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
        if (!passed || name === 'tests') console.log(output.trimEnd());
        if (signal !== null) console.log(`${name} was ended by ${signal}`);
        // The closing line counts checks that are not tests, too. Tests that fail count themselves.
        const isCounted = name === 'tests' && failedTotal() > failedBefore;
        if (!passed && !isCounted) addTotals({ suite: name, passed: 0, failed: 1, skipped: 0 });
      }
      resolve(passed);
    });
  });
}

/**
 * Runs lanes side by side (two cores are the least that anyone has); within a lane a failure skips the rest, while the
 * other lane goes on, so that one run shows as much as possible.
 * @param {(() => Promise<boolean>)[][]} all
 */
export async function lanes(all) {
  const results = await Promise.all(
    all.map(async (lane) => {
      for (const work of lane) if (!(await work())) return false;
      return true;
    }),
  );
  return results.every(Boolean);
}
