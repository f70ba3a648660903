/** kubectl and helm, built from their modules once. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { runSync } from './command.js';
import { goEnvironment, peersCache } from './go-module.js';
import { buildGoProgram } from './go-program.js';

export const kubectlVersion = 'v1.36.3';
export const helmVersion = 'v4.3.1';

function linkerFlags(version: string): string {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const settings = Object.entries(values).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

/** kubectl of the release that the real server is built from. */
export function kubectlProgram(): string {
  const program = join(peersCache, `kubectl-${kubectlVersion}`, 'kubectl');
  if (!existsSync(program)) {
    process.stderr.write(`building kubectl ${kubectlVersion}\n`);
    const folder = fileURLToPath(new URL('../kubectl', import.meta.url));
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(kubectlVersion)];
    runSync('go', ['build', ...flags, '-o', program, '.'], { cwd: folder, env: goEnvironment });
  }
  return program;
}

export function helmProgram(): string {
  return buildGoProgram({
    name: 'helm',
    module: 'helm.sh/helm/v4',
    version: helmVersion,
    command: 'helm.sh/helm/v4/cmd/helm',
    linkerFlags: `-s -w -X helm.sh/helm/v4/internal/version.version=${helmVersion}`,
  });
}
