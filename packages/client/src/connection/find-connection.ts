import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { objectOption, requireOptions, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { Connection } from './connection.js';
import { KubeConfigError } from './errors.js';
import { inClusterConnection } from './in-cluster.js';

/** Options of `listContexts`, which name the source of the contexts. */
export interface ListContextsOptions {
  /**
   * A kubeconfig as a string, such as that of a Secret; nothing else is used. Relative paths in it begin at the working
   * directory.
   */
  readonly text?: string;
  /** The kubeconfig file. @default KUBECONFIG, else the pod's service account, else ~/.kube/config */
  readonly path?: string;
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Options of `loadConnection`. */
export interface LoadConnectionOptions extends ListContextsOptions {
  /** The context to use. @default the file's current-context */
  readonly context?: string;
}

const contextsOptionNames: OptionNames<ListContextsOptions> = {
  text: textOption,
  path: textOption,
  environment: objectOption('variables by their names, such as process.env'),
};

/** A misspelled context would mean the current one, and so another cluster. */
const connectionOptionNames: OptionNames<LoadConnectionOptions> = { ...contextsOptionNames, context: textOption };

/** A context of a kubeconfig. */
export interface KubeContext {
  readonly name: string;
  /** Whether it is the default if no context is named. */
  readonly isCurrent: boolean;
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
  /** Without user information. Absent if the cluster does not exist. */
  readonly server?: string;
}

/** Reads kubeconfig files, as exported by `@kctl/kubeconfig`. */
export interface KubeconfigReader {
  /** The connection of a context in these files, of which the first entry of a name counts. */
  readKubeconfig(paths: readonly string[], options?: { readonly context?: string }): Promise<Connection>;
  /** The connection of a context in a kubeconfig string. */
  parseKubeconfig(text: string, options?: { readonly context?: string }): Promise<Connection>;
  /** Returns the contexts of files, or of a string. */
  readContexts(source: readonly string[] | { readonly text: string }): Promise<readonly KubeContext[]>;
}

/**
 * Finds the connection of this process, in controller-runtime's order, which is `text`, `path`, KUBECONFIG (the first
 * entry of a name in several files wins), in-cluster, ~/.kube/config. `loadReader` imports `@kctl/kubeconfig`; it is
 * called only when there is something to read, so that a process in a pod loads no parser.
 *
 * @throws KubeConfigError in one line, naming the files that were tried; TypeError when `text` and `path` are both set, or for
 *   an option that is not known or not valid
 */
export async function findConnection(
  given: LoadConnectionOptions,
  loadReader: () => Promise<Pick<KubeconfigReader, 'readKubeconfig' | 'parseKubeconfig'>>,
): Promise<Connection> {
  requireOptions('loadConnection', given, connectionOptionNames);
  const { context, environment = process.env, ...where } = given;
  const source = await findSource({ ...where, environment });
  if (source === 'cluster') return inClusterConnection({ environment });
  const options = context === undefined ? {} : { context };
  const reader = await loadReader();
  return 'text' in source
    ? await reader.parseKubeconfig(source.text, options)
    : await reader.readKubeconfig(source, options);
}

/**
 * Returns the contexts that {@link findConnection} chooses from. The list is empty in a pod, or if there is no file.
 *
 * @throws KubeConfigError naming the file that is not valid; TypeError when `text` and `path` are both set, or for
 *   an option that is not known or not valid
 */
export async function findContexts(
  given: ListContextsOptions,
  loadReader: () => Promise<Pick<KubeconfigReader, 'readContexts'>>,
): Promise<readonly KubeContext[]> {
  requireOptions('listContexts', given, contextsOptionNames);
  const { environment = process.env, ...where } = given;
  const source = await findSource({ ...where, environment }).catch((error: unknown) => {
    if (error instanceof KubeConfigError) return 'cluster' as const;
    throw error;
  });
  return source === 'cluster' ? [] : await (await loadReader()).readContexts(source);
}

/** A string, the paths of files, or the service account of the pod. @throws KubeConfigError if none exists */
async function findSource({
  text,
  path = '',
  environment,
}: Omit<LoadConnectionOptions, 'context'> & {
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<{ readonly text: string } | readonly string[] | 'cluster'> {
  if (text !== undefined) {
    if (path !== '') throw new TypeError('loadConnection: text and path are both set: set one');
    return { text };
  }
  if (path !== '') return [path];
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  if (listed.length > 0) return listed;
  if ((environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '') return 'cluster';
  const { HOME = '' } = environment;
  // One that is empty would mean the working directory.
  const home = join(HOME === '' ? homedir() : HOME, '.kube', 'config');
  if (await exists(home)) return [home];
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
