import { metricsOption } from '@kctl/telemetry/internal';
import type { Kind } from '@kctl/apimachinery';
import { hasFinalizer, isConflict, isDeleting, isInvalid, isNotFound, keyOf } from '@kctl/apimachinery';
import { requireKind, requireList } from '@kctl/client/internal';
import type { JsonPatchOperation, ReadObject, Writer } from '@kctl/client';
import type { OptionNames } from '@kctl/options';
import {
  clockOption,
  functionOption,
  listOption,
  numberOption,
  optionWithMethods,
  requireOptions,
  shownType,
} from '@kctl/options';
import { asksForAnotherRun } from '../retry/outcome.js';
import { keyFor } from '../reconciler/key-for.js';
import { requireFunction } from '../event/required.js';
import type { ReconcileContext, ReconcileResult } from '../reconciler/reconciler.js';
import type { StuckCleanupOptions } from './stuck-cleanup.js';
import { StuckCleanups } from './stuck-cleanup.js';

/** Work on an object, inside a reconcile. */
export type ObjectStep<K extends Kind, C extends ReconcileContext = ReconcileContext> = (
  object: ReadObject<K>,
  context: C,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- as in ReconcileFunction
) => Promise<ReconcileResult | void>;

/** One finalizer of an object. `C`: the context of its clean-up, which is that of the reconcile. */
export interface Finalizer<K extends Kind, C extends ReconcileContext = ReconcileContext> {
  /** Qualified, e.g. `example.com/bucket`. */
  readonly name: string;
  /**
   * Undoes what `apply` did outside of the object. It may run several times, also after it succeeded. Returning a
   * result that requests another run (`requeueAfterMs`, also of zero or less, or `backoff`) means that it is not done
   * yet, so the finalizer stays. It also stays after an invalid result, which is a failure.
   */
  readonly cleanup: ObjectStep<K, C>;
  /**
   * Whether this object, as it was read, needs the finalizer. If an object that has the finalizer no longer needs it,
   * its clean-up runs before `apply`, and the finalizer is removed when the clean-up is done. @default always
   */
  readonly isNeeded?: (object: ReadObject<K>) => boolean | Promise<boolean>;
}

/** Options of {@link finalizing}. */
export interface FinalizingOptions<K extends Kind, C extends ReconcileContext = ReconcileContext>
  extends StuckCleanupOptions<K> {
  readonly client: Pick<Writer, 'patch'>;
  readonly kind: K;
  /** Cleaned up in this order; each is removed when its clean-up is done. Each name once. */
  readonly finalizers: readonly Finalizer<K, C>[];
  /** Reconciles an object that is not being deleted. */
  readonly apply: ObjectStep<K, C>;
}

const expectedFinalizers = 'a list of finalizers, each { name, cleanup }';

/** A check of finalizers for unique names, each with its clean-up. */
export function finalizersOption(name: string, value: unknown): string | undefined {
  const names = new Set<unknown>();
  return listOption(expectedFinalizers, (where, each) => {
    if (typeof each !== 'object' || each === null) return `${where} is ${shownType(each)}: expected { name, cleanup }`;
    const { name: finalizer, cleanup }: { name?: unknown; cleanup?: unknown } = each;
    if (typeof finalizer !== 'string' || finalizer === '')
      return `${where}.name is not set: expected a qualified name such as "example.com/bucket"`;
    if (typeof cleanup !== 'function') return `${where}.cleanup is ${shownType(cleanup)}: expected a function`;
    if (names.has(finalizer))
      return `${where}.name ${JSON.stringify(finalizer)} is there twice: the second would never clean up`;
    names.add(finalizer);
    return undefined;
  })(name, value);
}

const optionNames: OptionNames<FinalizingOptions<never>> = {
  client: optionWithMethods(['patch'], 'a client, such as manager.client'),
  kind: true,
  finalizers: finalizersOption,
  apply: true,
  stuckAfterMs: numberOption({ orInfinity: true }),
  onStuck: functionOption,
  metrics: metricsOption,
  clock: clockOption,
};

/**
 * Reconciles an object with finalizers, so that nothing outside of it is left behind:
 *
 * - `apply` runs only when every needed finalizer is persisted on the object, and never after its deletion began.
 * - While one of our finalizers is there, a deleted object is kept, and `cleanup` runs until it has succeeded.
 * - A finalizer that the object no longer needs (`isNeeded`) is cleaned up and removed while the object stays.
 * - A clean-up that succeeded runs again if removing its finalizer failed, so it has to be idempotent.
 * - A clean-up that is not done 10 minutes after the deletion began is logged, counted and passed to `onStuck`, at each run.
 *
 * Finalizers of others are never touched. The patches name the object by its uid and ours by position and value, and fail if
 * the list has changed meanwhile, or if another object has the name; then the reconcile is repeated. `apply` follows on the same run in which a finalizer was added (kube-rs
 * waits for the event, which a predicate on the generation would swallow).
 *
 * @throws TypeError when an option is not valid; of two finalizers with one name, the second would never clean up
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { asReconciler, finalizing } from '@kctl/controller';
 *
 * const reconcile = asReconciler({
 *   client,
 *   kind: ConfigMap,
 *   reconcile: finalizing({
 *     client,
 *     kind: ConfigMap,
 *     finalizers: [{ name: 'example.com/bucket', cleanup: async ({ metadata }) => console.log('delete', metadata.name) }],
 *     apply: async ({ metadata }) => console.log('create', metadata.name),
 *   }),
 * });
 * ```
 */
export function finalizing<K extends Kind, C extends ReconcileContext = ReconcileContext>(
  options: FinalizingOptions<K, C>,
): ObjectStep<K, C> {
  requireOptions('finalizing', options, optionNames);
  requireKind('finalizing', options.kind);
  requireList('finalizing', 'finalizers', options.finalizers, expectedFinalizers);
  requireFunction('finalizing', 'apply', options.apply);
  const stuck = new StuckCleanups(options.kind, options);
  return async (object, context) => {
    try {
      return isDeleting(object)
        ? await cleanUp({ ...options, stuck }, object, context)
        : await applyGuarded(options, object, context);
    } catch (error) {
      if (error instanceof PatchLost) return { backoff: true };
      throw error;
    }
  };
}

/** The object has changed since it was read. */
class PatchLost extends Error {}

async function applyGuarded<K extends Kind, C extends ReconcileContext>(
  options: FinalizingOptions<K, C>,
  object: ReadObject<K>,
  context: C,
): Promise<ReconcileResult> {
  let current = object;
  let pending: ReconcileResult = {};
  for (const finalizer of options.finalizers) {
    const { name, isNeeded } = finalizer;
    const isThere = hasFinalizer(current, name);
    const isWanted = (await isNeeded?.(current)) !== false;
    if (isThere === isWanted) continue;
    if (isThere) {
      const result = await finalizer.cleanup(current, context);
      if (asksForAnotherRun(result)) {
        pending = soonest(pending, result);
        continue;
      }
    }
    const operations = isThere ? removeOperations(current, name) : addOperations(current, name);
    const changed = await patch(options, current, { operations, context });
    if (changed === undefined) return {};
    current = changed;
  }
  const result: unknown = await options.apply(current, context);
  return asksForAnotherRun(result) ? soonest(result, pending) : pending;
}

/** Of two results, the one that requests the earlier run. */
function soonest(one: ReconcileResult, other: ReconcileResult): ReconcileResult {
  const timeOf = (result: ReconcileResult): number =>
    asksForAnotherRun(result) ? Math.max(0, result.requeueAfterMs ?? 0) : Infinity;
  return timeOf(other) < timeOf(one) ? other : one;
}

async function cleanUp<K extends Kind, C extends ReconcileContext>(
  options: FinalizingOptions<K, C> & { readonly stuck: StuckCleanups<K> },
  object: ReadObject<K>,
  context: C,
): Promise<ReconcileResult> {
  let current = object;
  for (const { name, cleanup } of options.finalizers) {
    if (!hasFinalizer(current, name)) continue;
    let more: ReconcileResult | undefined;
    try {
      const result = await cleanup(current, context);
      if (asksForAnotherRun(result)) more = result;
    } catch (error) {
      await options.stuck.undone(current, { finalizer: name, error }, context);
      throw error;
    }
    if (more !== undefined) {
      await options.stuck.undone(current, { finalizer: name }, context);
      return more;
    }
    const left = await patch(options, current, { operations: removeOperations(current, name), context });
    if (left === undefined) return {};
    current = left;
  }
  return {};
}

/** @returns the object as it is now, undefined when it is gone */
async function patch<K extends Kind>(
  { client, kind }: Pick<FinalizingOptions<K>, 'client' | 'kind'>,
  object: ReadObject<K>,
  change: { readonly operations: readonly JsonPatchOperation[]; readonly context: ReconcileContext },
): Promise<ReadObject<K> | undefined> {
  const { operations, context } = change;
  try {
    const patched = await client.patch(
      kind,
      keyFor(kind, keyOf(object)),
      { type: 'json', operations },
      { signal: context.signal },
    );
    return patched as ReadObject<K>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isConflict(error) || isFailedTest(error))
      throw new PatchLost('the object has changed since it was read', { cause: error });
    throw error;
  }
}

/**
 * Whether a test of the patch has failed, which is a 422 without a cause. A 422 with causes reports an error of the
 * object (the finalizer's name, a rule of the CRD), which does not go away by itself.
 */
function isFailedTest(error: unknown): boolean {
  return isInvalid(error) && (error.status.details?.causes ?? []).length === 0;
}

/** A test for this very object: another one of its name may have the same finalizer, and needs it. */
function sameObject({ metadata: { uid } }: ReadObject<Kind>): JsonPatchOperation[] {
  return uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: uid }];
}

function addOperations(object: ReadObject<Kind>, name: string): JsonPatchOperation[] {
  const { resourceVersion } = object.metadata;
  const guard: JsonPatchOperation[] =
    resourceVersion === undefined
      ? sameObject(object)
      : [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }];
  const hasList = (object.metadata.finalizers?.length ?? 0) > 0;
  return hasList
    ? [...guard, { op: 'add', path: '/metadata/finalizers/-', value: name }]
    : [...guard, { op: 'add', path: '/metadata/finalizers', value: [name] }];
}

function removeOperations(object: ReadObject<Kind>, name: string): JsonPatchOperation[] {
  const index = object.metadata.finalizers?.indexOf(name) ?? -1;
  const path = `/metadata/finalizers/${index}`;
  return [...sameObject(object), { op: 'test', path, value: name }, { op: 'remove', path }];
}
