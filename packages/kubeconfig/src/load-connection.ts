import { findConnection } from '@kctl/client/connection';
import type { Connection, LoadConnectionOptions } from '@kctl/client/connection';
import { readKubeconfig } from './read-kubeconfig.js';

/**
 * Finds the connection of this process, in controller-runtime's order: `path`, KUBECONFIG (several files: the first
 * entry of a name wins), in-cluster, ~/.kube/config. The parser is loaded only when there is a file to read. Printed or
 * put into JSON, the connection shows `[redacted]` in place of its secrets.
 *
 * @throws KubeConfigError in one line, naming the files that were tried
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  return await findConnection(options, () => Promise.resolve({ readKubeconfig }));
}
