/**
 * Reflector and shared informer. Provides an exact local copy of a kind that cannot hang, and parses only objects that
 * are read.
 *
 * @packageDocumentation
 */
export type { CompactStorageOptions, ObjectStorage } from './bytes/storage.js';
export { listerWatcherFor } from './client-lister-watcher.js';
export type { InformerClient, ListerWatcherScope } from './client-lister-watcher.js';
export {
  IdleWatchError,
  InformerStartedError,
  InformerStoppedError,
  InitialEventsError,
  isIdleWatch,
  isInformerStarted,
  isInformerStopped,
  isInitialEvents,
  isObjectDecodeError,
  isShortWatch,
  isSyncError,
  ObjectDecodeError,
  ShortWatchError,
  SyncError,
} from './errors.js';
export type {
  AddInfo,
  DeleteInfo,
  EventFilters,
  EventHandlerOptions,
  HandlerRegistration,
  InformerEvent,
  InformerEventHandler,
  UpdateInfo,
} from './handlers/event.js';
export { filterEvents } from './handlers/filter-events.js';
export type { ObjectVersion } from './handlers/filter-events.js';
export type { InformerState, InformerTrouble, TroubleReason } from './informer-state.js';
export type { FailedEvent, HandlerErrorHook, SharedInformer, SharedInformerOptions } from './informer.js';
export type { WatchErrorDecision, WatchErrorHandler } from './reflector/watch-error-decision.js';
export type { InformerWaitOptions } from './waiters.js';
export type { FrameListerWatcher, ListCall, ListerWatcher, ObjectListerWatcher, WatchCall } from './list-watcher.js';
export { createSharedInformer } from './shared-informer.js';
export { createDeltaController } from './fifo/delta-controller.js';
export type { BatchControllerOptions, DeltaController, DeltaControllerOptions } from './fifo/delta-controller.js';
export { createDeltaFifo } from './fifo/delta-fifo.js';
export type { DeltaFifo, DeltaFifoOptions, ProcessDeltas } from './fifo/delta-fifo.js';
export type { KnownObjects } from './fifo/known-objects.js';
export { createRealFifo } from './fifo/real-fifo.js';
export type { RealFifo, RealFifoOptions } from './fifo/real-fifo.js';
export type { BatchInfo, PopBatchOptions, PopInfo, PopOptions, Queue, QueueWithBatch } from './fifo/queue.js';
export { isTombstone } from './fifo/delta.js';
export type {
  AtomicDelta,
  BookmarkDelta,
  DeletedDelta,
  Delta,
  Deltas,
  DeltaType,
  PresentDelta,
  ReplacedAllDelta,
  SyncAllDelta,
  Tombstone,
} from './fifo/delta.js';
export { FifoClosedError, isFifoClosed, isRequeueError, RequeueError } from './fifo/errors.js';
export { createReflector } from './reflector/create-reflector.js';
export type { Reflector, ReflectorOptions } from './reflector/create-reflector.js';
export type { ReflectorBackoff, ReflectorConfigOptions } from './reflector/reflector-config.js';
export type { ReflectorStore } from './reflector/reflector-store.js';
export { createEventStream } from './stream/event-stream.js';
export type { EventStream, EventStreamOptions } from './stream/event-stream.js';
export { waitForEventWithSync } from './stream/wait-for-event-with-sync.js';
export type { WaitForEventWithSyncOptions } from './stream/wait-for-event-with-sync.js';
export { checkConsistency } from './sync/check-consistency.js';
export type { CheckConsistencyOptions, ConsistencyReport } from './sync/check-consistency.js';
export { createLazy } from './sync/lazy.js';
export type { Lazy } from './sync/lazy.js';
export { waitForSync } from './sync/wait-for-sync.js';
export type { Synced } from './sync/wait-for-sync.js';
export { createAsyncTracker, createSingleFileTracker } from './sync/sync-trackers.js';
export type { AsyncTracker, SingleFileTracker, SyncTracker } from './sync/sync-trackers.js';
