// Packs every package as it would be published and lets publint and attw judge the tarball.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'kctl-pack-'));
const shell = process.platform === 'win32';
let failures = 0;
try {
  for (const name of readdirSync('packages').sort()) {
    const packed = spawnSync('pnpm', ['pack', '--pack-destination', folder], {
      cwd: join('packages', name),
      encoding: 'utf8',
      shell,
    });
    const tarball = readdirSync(folder).find(
      (file) =>
        file.startsWith(`kctl-${name}-`) &&
        /^kctl-.*-\d+\.\d+\.\d+.*\.tgz$/.test(file) &&
        file.replace(/-\d+\.\d+\.\d+.*$/, '') === `kctl-${name}`,
    );
    if (packed.status !== 0 || tarball === undefined) {
      console.error(`${name}: pnpm pack failed\n${packed.stdout}${packed.stderr}`);
      failures++;
      continue;
    }
    const path = join(folder, tarball);
    for (const [tool, args] of /** @type {[string, string[]][]} */ ([
      ['publint', ['run', path, '--strict']],
      ['attw', [path, '--profile', 'esm-only', '--format', 'ascii', '--no-color']],
    ])) {
      const result = spawnSync(tool, args, { encoding: 'utf8', shell });
      if (result.status === 0) continue;
      console.error(`${name}: ${tool} objects\n${result.stdout}${result.stderr}`);
      failures++;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'every package can be published' : `${failures} objections`);
process.exitCode = failures === 0 ? 0 : 1;
