// Commands in a pseudo-terminal, by `script` of util-linux: what a person sees, and what a person types.
import { spawn, spawnSync } from 'node:child_process';

/** Whether there is a program that makes pseudo-terminals. */
export function hasPseudoTerminal() {
  return process.platform === 'linux' && spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Runs a command in a pseudo-terminal to its end.
 *
 * @param {string} command
 * @param {{ cwd: string, env: Record<string, string | undefined>, answers?: readonly (readonly [seen: RegExp, typed: string])[], timeoutMs?: number }} options
 *   `answers` are typed one after another, each once its text has been seen
 * @returns {Promise<{ code: number | null, output: string }>}
 */
export async function inPseudoTerminal(command, { cwd, env, answers = [], timeoutMs = 120_000 }) {
  const child = spawn(
    'script',
    ['--quiet', '--return', '--command', `stty cols 100 rows 40; ${command}`, '/dev/null'],
    {
      cwd,
      env: { ...env, TERM: 'xterm-256color' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const open = [...answers];
  let output = '';
  let looked = 0;
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const collect = (/** @type {Buffer} */ chunk) => {
    output += chunk;
    const [next] = open;
    if (next === undefined || !next[0].test(output.slice(looked))) return;
    open.shift();
    looked = output.length;
    child.stdin.write(next[1]);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, output };
}

/** A text without what moves the cursor or colours it. @param {string} text */
export function withoutEscapes(text) {
  // eslint-disable-next-line no-control-regex -- escape sequences are what it is about
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r\n', '\n');
}
