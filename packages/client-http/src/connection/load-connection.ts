import { findConnection, findContexts, readerMissing } from '@kctl/client/internal/connection';
import type {
  Connection,
  KubeContext,
  ListContextsOptions,
  LoadConnectionOptions,
} from '@kctl/client/internal/connection';

/**
 * Finds the connection of this process, in controller-runtime's order, which is `text`, `path`, KUBECONFIG (the first
 * entry of a name in several files wins), in-cluster, ~/.kube/config. Files are read by `@kctl/kubeconfig`, an optional
 * peer that is loaded only when there is a file to read. Printed or put into JSON, the connection shows `[redacted]` in
 * place of its secrets.
 *
 * @throws KubeConfigError in one line, naming the files that were tried, or the package that is not installed;
 * TypeError for an unknown option
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
  return await findConnection(options, () => import('@kctl/kubeconfig').catch(readerMissing));
}

/**
 * Returns the contexts that {@link loadConnection} chooses from with the same options. The list is empty if this
 * process runs in a pod, or if there is no file.
 *
 * @throws KubeConfigError in one line, naming the file that is not valid, or the package that is not installed
 *
 * @example
 * ```ts
 * import { createHttpClient, listContexts, loadConnection } from '@kctl/client-http';
 *
 * for (const { name: context } of await listContexts()) {
 *   await using client = createHttpClient({ connection: await loadConnection({ context }) });
 *   console.log(context, client.transport.server);
 * }
 * ```
 */
export async function listContexts(options: ListContextsOptions = {}): Promise<readonly KubeContext[]> {
  return await findContexts(options, () => import('@kctl/kubeconfig').catch(readerMissing));
}
