import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { builtinRelease } from '../resource/builtin-table.js';

/** Options for writing executables. */
export interface EnvtestAssetsOptions {
  /**
   * `flat` writes into the directory itself, `setup-envtest` into `k8s/<version>-<os>-<arch>` below it, for
   * `setup-envtest use --installed-only --bin-dir <directory>` to find them.
   *
   * @default 'flat'
   */
  readonly layout?: 'flat' | 'setup-envtest';
  /** The modules to start; by name of the executable. */
  readonly modules: Readonly<Record<'etcd' | 'kube-apiserver', string>>;
}

/** A word for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function goPlatform(): string {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  return `${os}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
}

const kubectlScript = `#!/bin/sh
# envtest looks for kubectl beside the servers; this one is the first on the PATH besides itself.
self=$(cd "$(dirname "$0")" && pwd)
IFS=:
for directory in $PATH; do
  [ "$directory" = "$self" ] && continue
  [ -x "$directory/kubectl" ] && exec "$directory/kubectl" "$@"
done
echo "kubectl: not installed: put it on the PATH" >&2
exit 127
`;

/**
 * Writes the executables `etcd`, `kube-apiserver` and `kubectl` that Go's envtest starts. Set `KUBEBUILDER_ASSETS` to
 * the returned directory.
 */
export function writeEnvtestAssets(directory: string, { layout = 'flat', modules }: EnvtestAssetsOptions): string {
  const root = resolve(directory);
  const target = layout === 'flat' ? root : join(root, 'k8s', `${builtinRelease}-${goPlatform()}`);
  mkdirSync(target, { recursive: true });
  for (const [name, module] of Object.entries(modules)) {
    const command = [process.execPath, ...process.execArgv, module].map(quote).join(' ');
    write(join(target, name), `#!/bin/sh\nexec ${command} "$@"\n`);
  }
  write(join(target, 'kubectl'), kubectlScript);
  return target;
}

function write(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o755 });
  chmodSync(file, 0o755);
}
