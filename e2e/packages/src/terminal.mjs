// A newcomer's machine: an empty home, Node and npm on the PATH and nothing else of this workspace, and commands with
// the time that each takes.
import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cleanEnvironment, must, run } from './workspace.mjs';

/** @typedef {{ command: string, seconds: number, output: string }} Step */

/**
 * @param {string} home an empty folder
 * @param {string} registry where the scope @kctl comes from
 */
export async function openTerminal(home, registry) {
  const bin = join(home, 'bin');
  writeFileSync(join(home, '.npmrc'), `@kctl:registry=${registry}\n`);
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, 'node'));
  for (const name of ['npm', 'npx']) symlinkSync(await programOf(name), join(bin, name));
  const environment = cleanEnvironment({
    HOME: home,
    PATH: [bin, '/usr/bin', '/bin'].join(delimiter),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    NO_COLOR: '1',
  });
  /** @type {Step[]} */
  const steps = [];
  let cwd = home;
  return {
    environment,
    steps,
    get cwd() {
      return cwd;
    },
    /** @param {string} name */
    export: (name, value = '') => {
      environment[name] = value;
      steps.push({ command: `export ${name}=${value}`, seconds: 0, output: '' });
    },
    /** @param {string} folder */
    cd: (folder) => {
      cwd = join(cwd, folder);
      steps.push({ command: `cd ${folder}`, seconds: 0, output: '' });
    },
    /** Runs a command to its end. @param {string} command @param {number[]} [codes] that are right @returns {Promise<Step>} */
    type: async (command, codes = [0]) => {
      const { code, output, ms } = await run('sh', ['-c', command], { cwd, env: environment });
      if (!codes.includes(code ?? -1)) throw new Error(`${command} ended with ${code}:\n${output.slice(-6_000)}`);
      const step = { command, seconds: ms / 1000, output };
      steps.push(step);
      return step;
    },
    /** Starts a command that goes on, in a terminal of its own. @param {string} command */
    leave: (command) => {
      const started = performance.now();
      const child = spawn('sh', ['-c', `exec ${command}`], { cwd, env: environment, detached: true });
      const step = { command: `${command}   # goes on in a terminal of its own`, seconds: 0, output: '' };
      steps.push(step);
      const listeners = new Set();
      const collect = (/** @type {Buffer} */ chunk) => {
        step.output += chunk;
        for (const listener of listeners) listener();
      };
      child.stdout.on('data', collect);
      child.stderr.on('data', collect);
      const closed = new Promise((resolve) => child.once('close', () => resolve(undefined)));
      return {
        /** Resolves with what matches, and the seconds since `since`. @param {RegExp} pattern */
        until: async (pattern, since = started) => {
          for (;;) {
            const found = pattern.exec(step.output);
            const seconds = (performance.now() - since) / 1000;
            if (found !== null) {
              if (since === started) step.seconds = seconds;
              return { text: found[0], groups: [...found].slice(1), seconds };
            }
            if (child.exitCode !== null || seconds > 120)
              throw new Error(`${command}: ${pattern} does not come:\n${step.output.slice(-6_000)}`);
            await new Promise((resolve) => {
              const timer = setTimeout(done, 1_000);
              function done() {
                clearTimeout(timer);
                listeners.delete(done);
                resolve(undefined);
              }
              listeners.add(done);
            });
          }
        },
        /** As Ctrl-C does. */
        interrupt: async () => {
          if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
            process.kill(-child.pid, 'SIGINT');
          await closed;
          return step.output;
        },
      };
    },
  };
}

/** Where npm's own programs are, outside of this workspace. @param {string} name */
async function programOf(name) {
  const { output } = await must('sh', ['-c', `command -v ${name}`], {
    env: {
      PATH: (process.env.PATH ?? '')
        .split(delimiter)
        .filter((folder) => !folder.includes('node_modules'))
        .join(delimiter),
    },
  });
  return realpathSync(output.trim());
}
