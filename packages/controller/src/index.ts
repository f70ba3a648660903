/**
 * The reconcile loop (sources, handlers, predicates, one worker per key).
 *
 * @packageDocumentation
 */
export type {
  AdoptOptions,
  Controller,
  ControllerPhase,
  RunOptions,
  SourcePhase,
  SourceStatus,
  WatchHandle,
  WatchOptions,
} from './controller.js';
export type { ControllerOptions, ControllerSettings } from './controller-options.js';
export type { SafetyInterval } from './policy/safety-interval.js';
export { controllerDefaults } from './controller-options.js';
export { createController } from './create-controller.js';
export {
  ControllerError,
  isControllerError,
  isReconcilePanicError,
  isReconcileTimeoutError,
  isSourceError,
  isTerminalError,
  ReconcilePanicError,
  ReconcileTimeoutError,
  SourceError,
  terminalError,
  TerminalError,
} from './reconciler/errors.js';
export type {
  CreateEvent,
  DeleteEvent,
  EventObject,
  GenericEvent,
  ObjectEvent,
  ObjectEventType,
  UpdateEvent,
} from './event/object-event.js';
export type { Plan, PlannedChange, PlannedField, PlannedObstacle, Planner } from './plan.js';
export { finalizing } from './finalizer/finalizing.js';
export type { Finalizer, FinalizingOptions, ObjectStep } from './finalizer/finalizing.js';
export type { StuckCleanup, StuckCleanupOptions } from './finalizer/stuck-cleanup.js';
export { enqueueRequestForObject } from './handler/enqueue-for-object.js';
export { enqueueRequestForOwner, type EnqueueForOwnerOptions } from './handler/enqueue-for-owner.js';
export { enqueueRequestsFromMapFunc, type MapContext, type MapFunction } from './handler/enqueue-from-map.js';
export type {
  EnqueueOptions,
  EventHandler,
  HandlerContext,
  RequestQueue,
} from './handler/event-handler.js';
export { handlerFuncs, type HandlerFuncs } from './handler/handler-funcs.js';
export { withLowPriorityWhenUnchanged } from './handler/low-priority.js';
export type { HotLoopOptions } from './policy/hot-loop.js';
export { inject, isInjectable, isMissingDependencyError, MissingDependencyError, provide } from './object/inject.js';
export type { Injectable } from './object/inject.js';
export { asReconciler, type ObjectReconcilerOptions } from './object/object-reconciler.js';
export { reconcileObject } from './object/reconcile-object.js';
export { writeStatus } from './object/write-status.js';
export type { StatusTarget } from './object/write-status.js';
export type {
  ApplyChildOptions,
  ChildConfiguration,
  ObjectContext,
  ObjectReconcileFunction,
  ObjectReconcileSettings,
  ObjectResult,
  ReconcileObjectOptions,
  StatusOf,
} from './object/reconcile-object.js';
export {
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelectorMatches,
  projectionChanged,
  resourceVersionChanged,
} from './predicate/changed.js';
export {
  and,
  not,
  objectPredicate,
  or,
  type Predicate,
  predicateFuncs,
  type PredicateFuncs,
} from './predicate/predicate.js';
export type { ReconcileObserver, SettledRun } from './observer.js';
export type { QueueFactory, QueueFactoryOptions, ReconcileQueue } from './queue/reconcile-queue.js';
export type {
  ReconcileContext,
  ReconcileErrorHook,
  ReconcileFailure,
  ReconcileFunction,
  Reconciler,
  ReconcilerObject,
  ReconcileRequest,
  ReconcileResult,
  RetryDecision,
} from './reconciler/reconciler.js';
export { lowPriority } from '@kctl/workqueue';
export { createRetryPolicy } from './retry/retry-policy.js';
export type { RetryInput, RetryPolicy, RetryPolicyOptions } from './retry/retry-policy.js';
export type { RunLimit } from './policy/run-limit.js';
export { channelSource, type ChannelSourceOptions } from './source/channel-source.js';
export { cronSource, type CronSourceOptions } from './source/cron-source.js';
export { createEventChannel, type EventChannel, type EventChannelOptions } from './source/event-channel.js';
export { funcSource, type SourceFunction } from './source/func-source.js';
export type {
  EventInformer,
  InformerEvent,
  InformerEventHandler,
  InformerLoan,
  InformerProvider,
  InformerRegistration,
} from './source/informer-provider.js';
export { objectEventOf } from './source/informer-event.js';
export { informerSource, type InformerSourceOptions } from './source/informer-source.js';
export { kindSource, type KindSourceOptions } from './source/kind-source.js';
export { pollEachSource, type PollEachSource, type PollEachSourceOptions } from './source/poll-each-source.js';
export { type PollingSource, pollingSource, type PollingSourceOptions } from './source/polling-source.js';
export type {
  EnqueueCause,
  Source,
  SourceContext,
  SourceEnqueueOptions,
  SourceQueue,
  StartedSource,
} from './source/source.js';
export { createWebhookReceiver, type WebhookReceiver, type WebhookReceiverOptions } from './source/webhook-receiver.js';
