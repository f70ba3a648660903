import { findCondition } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { ConditionList } from '@kctl/apimachinery';
import { isKubeObject, isSet, metadataOf } from './kube-object.js';

/** Whether the object is there. For {@link waitFor}. */
export function exists(): (object: unknown) => boolean {
  return (object) => object !== undefined;
}

/**
 * Reports whether the object is gone, that is, it does not exist, or, if a uid is given, another object has its name.
 * For {@link waitFor}.
 */
export function isDeleted(uid?: string): (object: unknown) => boolean {
  return (object) => object === undefined || (uid !== undefined && metadataOf(object).uid !== uid);
}

/**
 * Reports whether the object has a condition of this type and status that was computed from its present generation.
 * Conditions of an older generation do not count. For {@link waitFor}.
 *
 * @param status @default 'True'
 */
export function hasCondition(type: string, status = 'True'): (object: unknown) => boolean {
  return (object) => {
    const present = isKubeObject(object) ? findCondition(conditionsOf(object), type) : undefined;
    return present?.status === status && isCurrent(object, present);
  };
}

/**
 * Returns a condition of an object by its type, without regard to letter case, if it was computed from the present
 * generation.
 */
export function findConditionOf(object: unknown, type: string): StatusCondition | undefined {
  const present = conditionsOf(object).find((condition) => condition.type.toLowerCase() === type.toLowerCase());
  return present !== undefined && isCurrent(object, present) ? present : undefined;
}

/** How far along an object is. */
export interface Readiness {
  readonly state: 'ready' | 'progressing' | 'failed';
  /** CamelCase, for programs. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

const ready: Readiness = { state: 'ready', reason: 'Ready', message: '' };

/**
 * How far along an object of any kind is, by the conventions that built-in and well-behaved custom kinds follow:
 * `observedGeneration`, the conditions Ready, Available, Complete, Established, Failed, Stalled and Reconciling, the
 * replica counts of workloads, and the phase of Pods and claims. An object without any of them is ready.
 */
export function readiness(object: unknown): Readiness {
  const { deletionTimestamp, generation } = metadataOf(object);
  const status = member(object, 'status');
  if (isSet(deletionTimestamp)) return progressing('Terminating', 'the object is being deleted');
  const observed = number(status, 'observedGeneration');
  if (observed !== undefined && observed < (generation ?? 0))
    return progressing('StaleStatus', `the status is of generation ${observed}, not ${generation ?? 0}`);
  const byCounts = saysByConditionsAlone(object, status) ? undefined : byReplicas(object, status);
  return byFailure(object) ?? byCounts ?? byPhase(status) ?? byReadyCondition(object) ?? ready;
}

/** {@link readiness} as a condition for {@link waitFor}. */
export function isReady(): (object: unknown) => boolean {
  return (object) => object !== undefined && readiness(object).state === 'ready';
}

/** One entry of `status.conditions`. */
export type StatusCondition = NonNullable<ConditionList>[number] & {
  readonly reason?: unknown;
  readonly message?: unknown;
};

/** The conditions of an object that have a type and a status. */
export function conditionsOf(object: unknown): readonly StatusCondition[] {
  const conditions = isJsonObject(member(object, 'status'))
    ? member(member(object, 'status'), 'conditions')
    : undefined;
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is StatusCondition {
  return isJsonObject(value) && typeof value['type'] === 'string' && typeof value['status'] === 'string';
}

function isCurrent(object: unknown, condition: StatusCondition): boolean {
  const { generation } = metadataOf(object);
  const observed = number(condition, 'observedGeneration') ?? number(member(object, 'status'), 'observedGeneration');
  return generation === undefined || observed === undefined || observed >= generation;
}

function byFailure(object: unknown): Readiness | undefined {
  const conditions = conditionsOf(object);
  const bad = (type: string): StatusCondition | undefined =>
    conditions.find(
      (condition) => condition.type === type && condition.status === 'True' && isCurrent(object, condition),
    );
  const failed = bad('Failed') ?? bad('Stalled') ?? bad('ReplicaFailure');
  if (failed !== undefined) return { state: 'failed', ...say(failed) };
  const progress = conditions.find(({ type }) => type === 'Progressing');
  if (progress?.status === 'False' && progress.reason === 'ProgressDeadlineExceeded')
    return { state: 'failed', ...say(progress) };
  const reconciling = bad('Reconciling');
  return reconciling === undefined ? undefined : { state: 'progressing', ...say(reconciling) };
}

/** The counts of replicas in a status, by which built-in workloads report their state. */
const replicaCounts = ['updatedReplicas', 'availableReplicas', 'readyReplicas', 'desiredNumberScheduled'];

/**
 * Reports whether a custom resource with replicas reports its state by a condition and counts none, so that nothing is
 * known of its replicas. Workloads omit a count of 0.
 */
function saysByConditionsAlone(object: unknown, status: unknown): boolean {
  const apiVersion = member(object, 'apiVersion');
  const isCustom = typeof apiVersion === 'string' && apiVersion.includes('.');
  if (!isCustom || replicaCounts.some((name) => number(status, name) !== undefined)) return false;
  return conditionsOf(object).some(({ type }) => type === 'Ready' || type === 'Available');
}

/** Deployments, StatefulSets, ReplicaSets and DaemonSets whose replicas are all present, up to date and ready. */
function byReplicas(object: unknown, status: unknown): Readiness | undefined {
  const desired = number(status, 'desiredNumberScheduled') ?? number(member(object, 'spec'), 'replicas');
  if (desired === undefined || !isJsonObject(status)) return undefined;
  const isDaemon = 'desiredNumberScheduled' in status;
  const updated = isDaemon ? number(status, 'updatedNumberScheduled') : number(status, 'updatedReplicas');
  const available = isDaemon
    ? number(status, 'numberAvailable')
    : (number(status, 'availableReplicas') ?? number(status, 'readyReplicas'));
  const total = number(status, 'replicas') ?? 0;
  if (!isDaemon && updated === undefined && available === undefined && desired > 0)
    return progressing('ReplicasMissing', `0 of ${desired} replicas are available`);
  if (updated !== undefined && updated < desired)
    return progressing('ReplicasOutdated', `${updated} of ${desired} replicas are up to date`);
  if (!isDaemon && total > desired)
    return progressing('ReplicasSurplus', `${total - desired} old replicas are still there`);
  if ((available ?? 0) < desired)
    return progressing('ReplicasUnavailable', `${available ?? 0} of ${desired} replicas are available`);
  return ready;
}

/** Pods, namespaces and claims. */
function byPhase(status: unknown): Readiness | undefined {
  switch (member(status, 'phase')) {
    case 'Failed':
    case 'Lost':
      return {
        state: 'failed',
        reason: text(member(status, 'reason'), 'Failed'),
        message: text(member(status, 'message'), ''),
      };
    case 'Pending':
      return progressing('Pending', text(member(status, 'message'), 'the phase is Pending'));
    case 'Succeeded':
    case 'Bound':
      return ready;
    default:
      return undefined;
  }
}

function byReadyCondition(object: unknown): Readiness | undefined {
  const conditions = conditionsOf(object);
  for (const type of ['Ready', 'Available', 'Complete', 'Established']) {
    const condition = conditions.find((other) => other.type === type);
    if (condition === undefined) continue;
    if (condition.status === 'True' && isCurrent(object, condition)) return ready;
    return { state: 'progressing', ...say(condition) };
  }
  return undefined;
}

function progressing(reason: string, message: string): Readiness {
  return { state: 'progressing', reason, message };
}

function say({ type, reason, message }: StatusCondition): { readonly reason: string; readonly message: string } {
  return { reason: text(reason, type), message: text(message, '') };
}

const member = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
const text = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;

function number(value: unknown, name: string): number | undefined {
  const found = member(value, name);
  return typeof found === 'number' ? found : undefined;
}
