/**
 * Starts, gates, watches over and stops everything a controller process runs.
 *
 * @packageDocumentation
 */
export type { Cluster, ClusterFactories, ClusterParts, EventSink, ManagedCache } from './cluster.js';
export { createCluster } from './cluster.js';
export { createManager } from './create-manager.js';
export type { Elector, ElectorFactory, ElectorRequest, LeaderElectionOptions } from './elector.js';
export {
  isLeaderElectionLostError,
  isManagerError,
  isRunnableError,
  isStopTimeoutError,
  LeaderElectionLostError,
  ManagerError,
  RunnableError,
  StopTimeoutError,
} from './errors.js';
export type { Straggler } from './errors.js';
export type { HealthCheck } from './health.js';
export { ping } from './health.js';
export type { HttpHandler, HttpServer, HttpServerOptions, ServerTls } from './http-server.js';
export { createHttpServer } from './http-server.js';
export type { ControllerDefaults, HealthOptions, Manager, ManagerOptions, RunnableHandle } from './manager.js';
export type { MetricsExporter, MetricsServerOptions } from './metrics-server.js';
export type { Runnable, RunnableFunction, RunnableGroupName } from './runnable.js';
