import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Connection } from './connection.js';
import { KubeConfigError } from './errors.js';
import { inClusterConnection } from './in-cluster.js';

/** Options of `loadConnection`. */
export interface LoadConnectionOptions {
  /** The kubeconfig file. @default KUBECONFIG, else the pod's service account, else ~/.kube/config */
  readonly path?: string;
  /** The context to use. @default the file's current-context */
  readonly context?: string;
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Reads kubeconfig files: what `@kctl/kubeconfig` exports. */
export interface KubeconfigReader {
  /** The connection of a context in these files, of which the first entry of a name counts. */
  readKubeconfig(paths: readonly string[], options?: { readonly context?: string }): Promise<Connection>;
}

/**
 * Finds the connection of this process, in controller-runtime's order: `path`, KUBECONFIG (several files: the first
 * entry of a name wins), in-cluster, ~/.kube/config. `loadReader` imports `@kctl/kubeconfig`; it is called only when
 * there is a file to read, so that a process in a pod loads no parser.
 *
 * @throws KubeConfigError in one line, naming the files that were tried
 */
export async function findConnection(
  { path = '', context, environment = process.env }: LoadConnectionOptions,
  loadReader: () => Promise<KubeconfigReader>,
): Promise<Connection> {
  const read = async (files: readonly string[]): Promise<Connection> => {
    const reader = await loadReader();
    return await reader.readKubeconfig(files, context === undefined ? {} : { context });
  };
  if (path !== '') return await read([path]);
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  if (listed.length > 0) return await read(listed);
  if ((environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '') return inClusterConnection({ environment });
  const home = join(environment['HOME'] ?? homedir(), '.kube', 'config');
  if (await exists(home)) return await read([home]);
  throw new KubeConfigError(
    `no kubeconfig found: KUBECONFIG is not set, this process does not run in a pod, and ${home} does not exist`,
  );
}

/**
 * For `import('@kctl/kubeconfig').catch(readerMissing)`: what to do when the package is not there. Bundlers take the
 * `catch` for permission to leave it out.
 *
 * @throws KubeConfigError when `@kctl/kubeconfig` is not installed; any other error as it is
 */
export function readerMissing(error: unknown): never {
  if (!isMissing(error)) throw error;
  throw new KubeConfigError(
    'cannot read kubeconfig files: @kctl/kubeconfig is not installed: run "npm install @kctl/kubeconfig", or pass a connection',
    { cause: error },
  );
}

/** Whether the package itself is missing, not something that it imports. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && error.message.includes("'@kctl/kubeconfig'");
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
