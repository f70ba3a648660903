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
  DispatchedRequest,
  ExecEnvironment,
  ExecPlugin,
  Impersonation,
  InClusterOptions,
  KubeConfigCluster,
  KubeConfigLike,
  KubeConfigUser,
  LoadConnectionOptions,
  OidcRefresh,
  Pem,
  ProxyUser,
  RequestDispatcher,
  UserConnection,
} from '@kctl/client/connection';
export {
  connectionFromKubeConfig,
  inClusterConnection,
  isKubeConfigError,
  KubeConfigError,
} from '@kctl/client/connection';
export type { ApiGroup, ApiResource, ApiVersion } from './discovery.js';
export {
  CredentialsError,
  DecodeError,
  isCredentialsError,
  isDecodeError,
  isTransportError,
  TransportError,
} from './errors.js';
export type { TransportErrorFields, TransportFailure } from './errors.js';
export { GroupDiscoveryError, isGroupDiscoveryError } from './group-resources.js';
export type { UnavailableGroup } from './group-resources.js';
export { createHttpClient } from './http-client.js';
export type { HttpClient, HttpClientOptions } from './http-client.js';
export { loadConnection } from './load-connection.js';
export type { RateLimit } from './rate-limiter.js';
export { createRestMapper } from './rest-mapper.js';
export type { KindName, ResourceName, RestMapper, RestMapperOptions } from './rest-mapper.js';
export { createTransport } from './transport.js';
export type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport.js';
export { defaultUserAgent } from './user-agent.js';
export type { UserAgentFacts } from './user-agent.js';
export type { ServerWarning } from './warnings.js';
