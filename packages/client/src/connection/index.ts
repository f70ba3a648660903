/**
 * The address of an API server, how to trust it and the identity of the client. This is the {@link Connection} that
 * `@kctl/client-http` uses and that a pod, a kubeconfig file or a `KubeConfig` describes. Secrets stay out of logs. No
 * third-party library.
 *
 * @packageDocumentation
 */
export { certificateBundleProblem } from './certificate-bundle.js';
export type {
  AuthProvider,
  Connection,
  DispatchCallbacks,
  DispatchControl,
  DialAddress,
  DispatchedRequest,
  ExecEnvironment,
  ExecPlugin,
  Impersonation,
  ObservedRequest,
  OidcRefresh,
  Pem,
  ProxyUser,
  RequestDispatcher,
  UserConnection,
} from './connection.js';
export { isKubeConfigError, KubeConfigError } from './errors.js';
export { findConnection, findContexts, readerMissing } from './find-connection.js';
export type { KubeconfigReader, KubeContext, ListContextsOptions, LoadConnectionOptions } from './find-connection.js';
export { hasAuthorization, hideSecrets } from './hide-secrets.js';
export { inClusterConnection } from './in-cluster.js';
export type { InClusterOptions } from './in-cluster.js';
export { connectionFromKubeConfig, unknownProvider } from './kube-config.js';
export type { KubeConfigCluster, KubeConfigLike, KubeConfigUser } from './kube-config.js';
export { redact, redactKnown } from './redact.js';
export { requireConnection, requireImpersonation } from './require-connection.js';
export { joinUrlUser, splitUrlUser, withoutUserInfo } from './url-user.js';
export type { UrlUser } from './url-user.js';
