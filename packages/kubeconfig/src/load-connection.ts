import { findConnection, findContexts } from '@kctl/client/internal/connection';
import type {
  Connection,
  KubeContext,
  ListContextsOptions,
  LoadConnectionOptions,
} from '@kctl/client/internal/connection';
import { parseKubeconfig, readContexts, readKubeconfig } from './read-kubeconfig.js';

const reader = { parseKubeconfig, readContexts, readKubeconfig };

/**
 * Finds the connection of this process, in controller-runtime's order, which is `text`, `path`, KUBECONFIG (of several
 * files the first entry of a name wins), in-cluster, ~/.kube/config. The parser is loaded only when there is a file to
 * read. Printed or put into JSON, the connection shows `[redacted]` in place of its secrets.
 *
 * @throws KubeConfigError in one line, naming the files that were tried
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  return await findConnection(options, () => Promise.resolve(reader));
}

/**
 * The contexts that {@link loadConnection} chooses from with the same options. Empty if this process runs in a pod, or
 * if there is no file.
 *
 * @throws KubeConfigError in one line, naming the file that is not valid
 */
export async function listContexts(options: ListContextsOptions = {}): Promise<readonly KubeContext[]> {
  return await findContexts(options, () => Promise.resolve(reader));
}
