import { findConnection, findContexts, readerMissing } from '@kctl/client/connection';
import type { Connection, KubeContext, ListContextsOptions, LoadConnectionOptions } from '@kctl/client/connection';

/**
 * Finds the connection of this process, in controller-runtime's order, which is `text`, `path`, KUBECONFIG (of several
 * files the first entry of a name wins), in-cluster, ~/.kube/config. The reader of files (`@kctl/kubeconfig`, with
 * @kubernetes/client-node) is loaded only when there is a file to read, so an operator in a pod never loads it, and a
 * bundle may leave it out.
 *
 * @throws KubeConfigError in one line, naming the files that were tried
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  return await findConnection(options, () => import('@kctl/kubeconfig').catch(readerMissing));
}

/**
 * The contexts that {@link loadConnection} chooses from with the same options. Empty if this process runs in a pod, or
 * if there is no file.
 *
 * @throws KubeConfigError in one line, naming the file that is not valid
 */
export async function listContexts(options: ListContextsOptions = {}): Promise<readonly KubeContext[]> {
  return await findContexts(options, () => import('@kctl/kubeconfig').catch(readerMissing));
}
