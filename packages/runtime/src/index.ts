/**
 * The full stack behind one import, which is everything that an operator's author needs, and `createManager`, which
 * puts it together. Every name comes from a package that can be used alone; the rarer ones are exported only there.
 *
 * @packageDocumentation
 */
export { createManager } from './create-manager.js';
export type {
  ConnectionOptions,
  CoordinatedElectionOptions,
  ElectionLease,
  LockParts,
  RuntimeDependencies,
  RuntimeLeaderElectionOptions,
  RuntimeInspectionOptions,
  RuntimeManager,
  RuntimeManagerOptions,
  RuntimeWebhookOptions,
} from './runtime-options.js';
export { createLeaseScheduleStore } from './lease-schedule-store.js';
export type { LeaseScheduleStoreOptions } from './lease-schedule-store.js';
export { setupSignalHandler } from './setup-signal-handler.js';
export { keepYoungGenerationSmall } from './young-generation.js';

// Kinds, objects, keys, selectors, status errors
export {
  defineKind,
  formatKey,
  keyOf,
  labelSelectorFrom,
  metadataOnly,
  mutableCopy,
  parseKey,
  stripped,
  untyped,
} from '@kctl/apimachinery';
export {
  findCondition,
  hasFinalizer,
  isConditionTrue,
  isDeleting,
  removeCondition,
  setCondition,
} from '@kctl/apimachinery';
export {
  hasControllerReference,
  hasOwnerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from '@kctl/apimachinery';
export {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNoKindMatch,
  isNotFound,
  isStatusError,
  isTooManyRequests,
} from '@kctl/apimachinery';
export type {
  Condition,
  DeepReadonly,
  Kind,
  KubeList,
  KubeObject,
  ObjectKey,
  ObjectMeta,
  ObjectOf,
  OwnerReference,
  Status,
  Stripped,
} from '@kctl/apimachinery';

// Clients
export {
  addFinalizer,
  apply,
  applyIfChanged,
  createOrPatch,
  createOrUpdate,
  ignoreAlreadyExists,
  ignoreNotFound,
  listAll,
} from '@kctl/client';
export {
  jsonPatch,
  mergeFrom,
  mergePatch,
  removeFinalizer,
  retryOnConflict,
  strategicMergeFrom,
  strategicPatch,
  waitFor,
} from '@kctl/client';
export type {
  Client,
  ListOptions,
  Patch,
  Reader,
  ReadObject,
  SubResourceClient,
  Watcher,
  WatchEvent,
  Writer,
} from '@kctl/client';
export { createHttpClient, isTransportError, listContexts, loadConnection } from '@kctl/client-http';
export type { Connection, HttpClient } from '@kctl/client-http';
export { createDelegatingClient, createOwnEvents } from '@kctl/client-delegating';
export type { OwnEvents } from '@kctl/client-delegating';

// Caches and queues
export { createCache } from '@kctl/cache';
export type { Cache, CacheOptions } from '@kctl/cache';
export { createIndexer } from '@kctl/cache-index';
export { createSharedInformer, listerWatcherFor } from '@kctl/informer';
export type { SharedInformer } from '@kctl/informer';
export { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';

// Controllers
export { controllerManagedBy, webhookManagedBy } from '@kctl/builder';
export { dependents, notYet } from '@kctl/dependents';
export type { Dependents, DependentsResult } from '@kctl/dependents';
export { asReconciler, createController, finalizing, reconcileObject, terminalError } from '@kctl/controller';
export {
  channelSource,
  createEventChannel,
  cronSource,
  createWebhookReceiver,
  funcSource,
  informerSource,
  kindSource,
  pollingSource,
} from '@kctl/controller';
export {
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMapFunc,
  handlerFuncs,
  withLowPriorityWhenUnchanged,
} from '@kctl/controller';
export {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelectorMatches,
  not,
  or,
  predicateFuncs,
  resourceVersionChanged,
} from '@kctl/controller';
export type {
  Controller,
  ApplyChildOptions,
  ChildConfiguration,
  Finalizer,
  ObjectContext,
  ObjectReconcileFunction,
  ObjectReconcileSettings,
  ObjectResult,
  ReconcileContext,
  ReconcileFunction,
  Reconciler,
  ReconcileRequest,
  ReconcileResult,
} from '@kctl/controller';

// Processes
export { createEventBroadcaster } from '@kctl/events';
export type { EventRecorder } from '@kctl/events';
export { createLeaderElector, createLeaseLock, fencedClient } from '@kctl/leader-election';
export { createCluster, ping } from '@kctl/manager';
export type { Cluster, Manager, Runnable, ScheduleContext, ScheduleOptions, ScheduleStore } from '@kctl/manager';
export { createPrometheusMetrics } from '@kctl/metrics';
export { createConsoleLogger, noopLogger } from '@kctl/telemetry';
export type { Logger, Metrics, Tracer } from '@kctl/telemetry';
export {
  admissionWebhook,
  allowed,
  applyWebhookManifests,
  certificateRules,
  chainDefaulters,
  chainValidators,
  conversionWebhook,
  createSelfManagedCertificates,
  createWebhookServer,
  defaultingWebhook,
  denied,
  errored,
  forbiddenField,
  hubSpokeConverter,
  invalidError,
  invalidField,
  patched,
  printManifests,
  requiredField,
  spoke,
  tokenReviewWebhook,
  unsupportedField,
  validatingWebhook,
  webhookConfigurations,
  withConversion,
  withWarnings,
} from '@kctl/webhook';
export type { AdmissionContext, AdmissionHandler, Converter, Defaulter, FieldError, Validator } from '@kctl/webhook';
