import { findConnection, readerMissing } from '@kctl/client/connection';
import type { Connection, LoadConnectionOptions } from '@kctl/client/connection';
import { requireOptions, type OptionNames } from '@kctl/wait';

const optionNames: OptionNames<LoadConnectionOptions> = { path: true, context: true, environment: true };

/**
 * Finds the connection of this process, in controller-runtime's order: `path`, KUBECONFIG (several files: the first
 * entry of a name wins), in-cluster, ~/.kube/config. Files are read by `@kctl/kubeconfig`, an optional peer that is
 * loaded only when there is a file to read. Printed or put into JSON, the connection shows `[redacted]` in place of its
 * secrets.
 *
 * @throws KubeConfigError in one line: naming the files that were tried, or the package that is not installed; TypeError for an option that
 *   is not known
 *
 * @example
 * ```ts
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 *
 * const connection = await loadConnection({ context: 'staging' });
 * await using client = createHttpClient({ connection });
 * ```
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  requireOptions('loadConnection', options, optionNames);
  return await findConnection(options, () => import('@kctl/kubeconfig').catch(readerMissing));
}
