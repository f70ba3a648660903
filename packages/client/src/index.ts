/**
 * The contracts of a Kubernetes client, and the functions that need nothing else, such as wrappers, patches,
 * create-or-update, server-side apply, guarded finalizers and waiting. No I/O; `@kctl/client-http` and
 * `@kctl/client-delegating` implement the contracts.
 *
 * @packageDocumentation
 */
export { apply, ApplyConflictError, applyStatus, applySubResource, isApplyConflict } from './apply.js';
export type { ApplyConfiguration, ApplyFields, ApplyOptions, ApplySubResourceOptions, FieldConflict } from './apply.js';
export { applyIfChanged, createApplyMemo } from './apply-if-changed.js';
export type {
  ApplyIfChangedOptions,
  ApplyMemo,
  ApplyMemoOptions,
  ApplyReason,
  ApplyResult,
} from './apply-if-changed.js';
export type { DifferenceReason, FieldDifference, FieldEquality } from './apply-match.js';
export type {
  Client,
  DeletedCollection,
  FrameOptions,
  FrameReader,
  FrameStream,
  KindResolver,
  ListFrames,
  Reader,
  ReadObject,
  StatusClient,
  SubResourceBodies,
  SubResourceClient,
  SubResources,
  Watcher,
  WatchEvent,
  WatchingClient,
  WatchStream,
  WriteObject,
  Writer,
} from './client.js';
export { exists, hasCondition, isDeleted, isReady, readiness } from './conditions.js';
export type { Readiness } from './conditions.js';
export { createOrPatch, createOrUpdate } from './create-or-update.js';
export type { CreateOrUpdateOptions, CreateOrUpdateResult, OperationResult } from './create-or-update.js';
export { describeObject } from './describe-object.js';
export type { DescribeOptions, ObjectDescription } from './describe-object.js';
export { extractApplied } from './extract-applied.js';
export type { AppliedFieldsOf, ExtractOptions, NamedObject } from './extract-applied.js';
export { addFinalizer, isObjectDeleting, ObjectDeletingError, removeFinalizer } from './finalizer.js';
export type { FinalizerOptions } from './finalizer.js';
export { ignoreAlreadyExists, ignoreNotFound } from './ignore.js';
export { intercept } from './intercept.js';
export type { Interceptor, SubResourceHooks } from './intercept.js';
export { listAll } from './list-all.js';
export type { ListAllOptions } from './list-all.js';
export { inNamespace, isNamespaceMismatch, NamespaceMismatchError } from './namespaced.js';
export type { NamespacedClient, NamespacedStatusClient, NamespacedSubResourceClient } from './namespaced.js';
export { withDryRun, withFieldOwner, withFieldValidation } from './option-wrappers.js';
export type {
  AbortOptions,
  CreateOptions,
  DeleteAllOfOptions,
  DeleteOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  PatchOptions,
  Preconditions,
  PropagationPolicy,
  ResourceVersionMatch,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.js';
export { applyPatch, isEmptyPatch, jsonPatch, jsonPatchFrom, mergeFrom, mergePatch, strategicPatch } from './patch.js';
export type {
  JsonPatchOperation,
  MergeFromOptions,
  MergePatchBody,
  Patch,
  StrategicDirectives,
  StrategicPatchBody,
} from './patch.js';
export { record } from './record.js';
export type { CallRecorder, ClientVerb, RecordedCall } from './record.js';
export { defaultBackoff, defaultRetry, retryOnConflict } from './retry-on-conflict.js';
export type { ConflictRetry, RetryOnConflictOptions } from './retry-on-conflict.js';
export { strategicMergeFrom } from './strategic-merge-from.js';
export type { StrategicMergeFromOptions } from './strategic-merge-from.js';
export { waitFor } from './wait-for.js';
export type { NotOfErrors, WaitCondition, WaitForOptions } from './wait-for.js';
export type { WaitTarget } from './wait-target.js';
export { isWatchClosed, WatchClosedError } from './watching/errors.js';
export { createRetryWatcher } from './watching/retry-watcher.js';
export type { RetryEvent, RetryWatcher, RetryWatcherOptions } from './watching/retry-watcher.js';
export { waitForEvent } from './watching/wait-for-event.js';
export type { EventCondition, WaitForEventOptions } from './watching/wait-for-event.js';
