import type { DeepReadonly } from './object.js';
import { requireObjects, requireRecord } from './arguments/require-arguments.js';

/** Status of a condition. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/**
 * `metav1.Condition`: one aspect of an object's state; its `type` is unique in the list.
 *
 * @example
 * ```ts
 * import { findCondition, type Condition } from '@kctl/apimachinery';
 *
 * const conditions: Condition[] = [
 *   { type: 'Ready', status: 'True', reason: 'Served', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
 * ];
 * console.log(findCondition(conditions, 'Ready')?.reason);
 * ```
 */
export interface Condition {
  type: string;
  status: ConditionStatus;
  /** The `metadata.generation` that the condition was computed from. */
  observedGeneration?: number;
  /** When `status` last changed: RFC 3339, to the second. */
  lastTransitionTime: string;
  /** CamelCase, for programs. */
  reason: string;
  /** For people. */
  message: string;
}

/** Input of {@link setCondition}. The time is filled in if it is missing. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'> & { lastTransitionTime?: string };

/** Options of {@link setCondition}. */
export interface SetConditionOptions {
  /** Wall-clock time in ms since the Unix epoch, e.g. `clock.now()`: the transition time if the status changes. */
  readonly now: number;
}

/**
 * Adds or updates the condition of its type **in the given list** and reports whether anything changed.
 *
 * `lastTransitionTime` moves only when `status` changes, so that setting the same condition again changes nothing and
 * causes no write. Mirrors `meta.SetStatusCondition`; unlike it, an update computed from an older generation
 * (`observedGeneration` below the present one) is ignored, because a slow reconcile must not undo a newer one.
 *
 * @example
 * ```ts
 * import { setCondition, type Condition } from '@kctl/apimachinery';
 *
 * const conditions: Condition[] = [];
 * setCondition(conditions, { type: 'Ready', status: 'False', reason: 'Pulling', message: '' }, { now: Date.now() });
 * // true: the list has changed
 * ```
 */
export function setCondition(conditions: Condition[], update: ConditionUpdate, options: SetConditionOptions): boolean {
  requireObjects(
    'setCondition',
    'conditions',
    conditions,
    'a list of conditions: initialize status.conditions first (status.conditions ??= [])',
  );
  requireRecord('setCondition', 'condition', update, 'an object with type and status');
  const present = conditions.find((condition) => condition.type === update.type);
  requireRecord('setCondition', 'options', options, '{ now }, in ms since 1970');
  const time = update.lastTransitionTime ?? formatTime(options.now);
  if (present === undefined) {
    conditions.push({ ...update, lastTransitionTime: time });
    return true;
  }
  if (isOlder(update.observedGeneration, present.observedGeneration)) return false;
  const next: Condition = {
    ...present,
    ...update,
    lastTransitionTime: present.status === update.status ? present.lastTransitionTime : time,
  };
  const isChanged =
    next.status !== present.status ||
    next.reason !== present.reason ||
    next.message !== present.message ||
    next.observedGeneration !== present.observedGeneration;
  if (isChanged) Object.assign(present, next);
  return isChanged;
}

/** Removes the condition of a type from the given list and reports whether it was present. */
export function removeCondition(conditions: Condition[], type: string): boolean {
  requireObjects(
    'removeCondition',
    'conditions',
    conditions,
    'a list of conditions: initialize status.conditions first (status.conditions ??= [])',
  );
  const index = conditions.findIndex((condition) => condition.type === type);
  if (index >= 0) conditions.splice(index, 1);
  return index >= 0;
}

/** The condition of a type. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | null | undefined,
  type: string,
): C | undefined {
  requireConditions(conditions);
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Whether the condition of a type is there with status True.
 *
 * @example
 * ```ts
 * import { isConditionTrue } from '@kctl/apimachinery';
 *
 * console.log(isConditionTrue(pod.status?.conditions ?? [], 'Ready'));
 * ```
 */
export function isConditionTrue(conditions: ConditionList, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Whether the condition of a type is there with status False. */
export function isConditionFalse(conditions: ConditionList, type: string): boolean {
  return findCondition(conditions, type)?.status === 'False';
}

/** Conditions of any kind. Those of Pods, Nodes and Deployments have the same core. */
export type ConditionList = DeepReadonly<{ type: string; status: string }[]> | null | undefined;

function isOlder(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

/** RFC 3339 with seconds precision, as `metav1.Time` is written. */
function formatTime(ms: number): string {
  if (!(typeof ms === 'number' && Math.abs(ms) <= 8.64e15))
    throw new TypeError(`setCondition: now ${String(ms)} is not a time: expected ms since 1970, such as clock.now()`);
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Conditions to read; null and undefined are allowed. */
function requireConditions(conditions: unknown): void {
  if (conditions !== undefined && conditions !== null)
    requireObjects('findCondition', 'conditions', conditions, 'a list of conditions');
}
