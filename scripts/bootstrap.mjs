// Entry point of `npm run demo` and `npm test` on a machine that has nothing but Node (20 or newer) and npm.
// Brings the pinned pnpm through npx, installs when the lock file changed, and goes on with the workspace's own Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const pnpm = manifest.packageManager;
const [task = 'test', ...rest] = process.argv.slice(2);

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  console.error(
    `kctl needs Node 20 or newer to set itself up; this is ${process.version}. Install a current Node from nodejs.org.`,
  );
  process.exit(1);
}

/** @param {string[]} args */
function runPnpm(args) {
  const result = spawnSync('npx', ['--yes', pnpm, ...args], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: '1',
      npm_config_update_notifier: 'false',
      npm_config_fund: 'false',
    },
  });
  if (result.error) {
    console.error(`cannot run npx: ${result.error.message}. npm comes with Node; is it on the PATH?`);
    process.exit(1);
  }
  return result.status ?? 1;
}

const lock = readFileSync(join(root, 'pnpm-lock.yaml'));
const stamp = createHash('sha256').update(lock).update(pnpm).digest('hex');
const stampFile = join(root, 'node_modules', '.kctl-installed');
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  console.log(`Setting up: ${pnpm} install (once, and again when the lock file changes)`);
  const status = runPnpm([
    'install',
    '--frozen-lockfile',
    '--config.confirmModulesPurge=false',
    '--reporter=append-only',
    '--loglevel=error',
  ]);
  if (status !== 0) {
    console.error('The installation failed; see the lines above. Nothing else was started.');
    process.exit(status);
  }
  writeFileSync(stampFile, stamp);
}
process.exit(runPnpm(['--loglevel=error', 'exec', 'node', 'scripts/run.mjs', task, ...rest]));
