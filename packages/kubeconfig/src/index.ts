/**
 * A connection from a kubeconfig file, as kubectl and pods find theirs. @kubernetes/client-node parses the file; it is
 * loaded only when there is one to read.
 *
 * @packageDocumentation
 */
export { isKubeConfigError, KubeConfigError } from '@kctl/client/internal/connection';
export type {
  Connection,
  KubeContext,
  ListContextsOptions,
  LoadConnectionOptions,
} from '@kctl/client/internal/connection';
export { listContexts, loadConnection } from './load-connection.js';
export { parseKubeconfig, readContexts, readKubeconfig } from './read-kubeconfig.js';
export type { ParseKubeconfigOptions, ReadKubeconfigOptions } from './read-kubeconfig.js';
