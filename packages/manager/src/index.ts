/**
 * Starts, gates, watches over and stops everything a controller process runs.
 *
 * @packageDocumentation
 */
export type { AccessFilterHandler, AccessFilterOptions } from './access-filter.js';
export { createAccessFilter } from './access-filter.js';
export type { Cluster, ClusterFactories, ClusterParts, EventSink, InformerReport, ManagedCache } from './cluster.js';
export { createCluster } from './cluster.js';
export type { ConverterRegistry } from './converter-registry.js';
export { createManager } from './create-manager.js';
export type { Elector, ElectorFactory, ElectorRequest, LeaderElectionOptions, OnLost } from './elector.js';
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
export type { HttpHandler, HttpHandlerContext, HttpServer, HttpServerOptions, ServerTls } from './http-server.js';
export { createHttpServer } from './http-server.js';
export type {
  ControllerDefaults,
  HealthOptions,
  Manager,
  ManagerDependencies,
  ManagerOptions,
  RunnableHandle,
} from './manager.js';
export type { MetricsExporter, MetricsServerOptions } from './metrics-server.js';
export type {
  Runnable,
  RunnableDefaults,
  RunnableFunction,
  RunnableGroupName,
  RunnableRunOptions,
  RunnableSource,
} from './runnable.js';
export type { ScheduleContext, ScheduleOptions, ScheduleOverlap, ScheduleStore } from './schedule/schedule.js';
export type { ProfilingOptions } from './profiling.js';
export type { CertificateFiles, ServingCertificate, ServingPair } from './serving-certificate.js';
export type { SignalProcess, StopSignal } from './signals.js';
export { stopOnSignals } from './signals.js';
