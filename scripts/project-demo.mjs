// Plays an example that is a project as `npm create @kctl` makes it: its `npm run dev`, on the sources of the packages,
// until its sample is reconciled. With `--keep` it goes on until Ctrl-C.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Ports that are free. */
const ports = { HEALTH_PROBE_BIND_ADDRESS: '0', METRICS_BIND_ADDRESS: '0', WEBHOOK_PORT: '0' };

/** @param {string} folder @param {boolean} keep @returns {Promise<boolean>} whether it was reconciled, and ended well */
export function playProject(folder, keep) {
  const loader = pathToFileURL(join(root, 'scripts', 'typescript.mjs')).href;
  const cli = join(root, 'packages', 'cli', 'src', 'cli.ts');
  const child = spawn(process.execPath, ['--import', loader, '--conditions=@kctl/source', cli, 'dev'], {
    cwd: folder,
    env: { ...process.env, ...ports },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
  let output = '';
  let isReconciled = false;
  const show = (/** @type {Buffer} */ chunk) => {
    process.stdout.write(chunk);
    output += chunk.toString();
    if (isReconciled || !/reconciled .*result=success/.test(output)) return;
    isReconciled = true;
    if (!keep) child.kill('SIGINT');
  };
  child.stdout.on('data', show);
  child.stderr.on('data', show);
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0 && isReconciled));
  });
}
