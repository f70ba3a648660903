/**
 * The client contracts over HTTPS: authentication, TLS, retries, rate limits, discovery.
 *
 * @packageDocumentation
 */
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
  InClusterOptions,
  KubeConfigCluster,
  KubeConfigLike,
  KubeConfigUser,
  KubeContext,
  ListContextsOptions,
  LoadConnectionOptions,
  OidcRefresh,
  Pem,
  ProxyUser,
  RequestDispatcher,
  UserConnection,
} from '@kctl/client/internal/connection';
export {
  connectionFromKubeConfig,
  inClusterConnection,
  isKubeConfigError,
  KubeConfigError,
} from '@kctl/client/internal/connection';
export type { DiscoveryCache, DiscoveryDocument } from './discovery/discovery-cache.js';
export type { ApiGroup, ApiResource, ApiVersion } from './discovery/discovery.js';
export {
  CredentialsError,
  DecodeError,
  isCredentialsError,
  isDecodeError,
  isTransportError,
  TransportError,
} from './errors.js';
export type { TransportErrorFields, TransportFailure } from './errors.js';
export { GroupDiscoveryError, isGroupDiscoveryError } from './discovery/group-resources.js';
export type { UnavailableGroup } from './discovery/group-resources.js';
export { createHttpClient } from './http-client.js';
export type { HttpClient, HttpClientOptions } from './http-client.js';
export { isServed, serverHealth, serverVersion } from './discovery/server-facts.js';
export type { ServerHealth, ServerVersion } from './discovery/server-facts.js';
export { listContexts, loadConnection } from './connection/load-connection.js';
export type { RateLimit } from './transport/rate-limiter.js';
export { withRequestOptions } from './request-options.js';
export type { RequestOptions, ResponseFacts } from './request-options.js';
export { createRestMapper } from './discovery/rest-mapper.js';
export type { KindName, ResolvedKind, ResourceName, RestMapper, RestMapperOptions } from './discovery/rest-mapper.js';
export { createTransport } from './transport/transport.js';
export type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport/transport.js';
export type { WarnedRequest } from './transport/warnings.js';
export type { UserAgentFacts } from './transport/user-agent.js';
export type { ServerWarning } from './transport/warnings.js';
