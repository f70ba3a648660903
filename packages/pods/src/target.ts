import { labelSelectorFrom } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, LabelSelector, NamespacedKey } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { AbortOptions, ReadObject } from '@kctl/client';
import type { PodsClient } from './client.js';
import { PodTargetError } from './errors.js';

/** A pod as a read returns it. */
export type ReadPod = ReadObject<typeof Pod>;

/** A workload or a Service: the best of its pods is meant. */
export interface WorkloadTarget extends NamespacedKey {
  /** `Deployment`, `StatefulSet`, `ReplicaSet`, `DaemonSet`, `Job`, `ReplicationController` or `Service`. */
  readonly kind: Kind;
}

/** Which pod: its key, the pod as it was read, or something that has pods. */
export type PodTarget = NamespacedKey | ReadPod | WorkloadTarget;

/** The name of a target, for errors. */
export function describeTarget(target: PodTarget): string {
  if ('metadata' in target) return `Pod ${target.metadata.namespace}/${target.metadata.name}`;
  const kind = 'kind' in target ? target.kind.kind : 'Pod';
  return `${kind} ${target.namespace}/${target.name}`;
}

/** The key of a target that is a pod; undefined for a workload. */
export function podKeyOf(target: PodTarget): NamespacedKey | undefined {
  if ('metadata' in target) return { namespace: target.metadata.namespace, name: target.metadata.name };
  if ('kind' in target && target.kind.kind !== 'Pod') return undefined;
  return { namespace: target.namespace, name: target.name };
}

/**
 * The pod that a target means. Of the pods of a workload or Service it is the one that kubectl takes: assigned to a node,
 * running, ready, ready for longest, with the fewest restarts, the oldest.
 *
 * @throws PodTargetError when the workload has no pods; StatusError, a 404 where there is no such object
 */
export async function resolvePod(
  client: Pick<PodsClient, 'get' | 'list'>,
  target: PodTarget,
  options: AbortOptions = {},
): Promise<ReadPod> {
  if ('metadata' in target) return target;
  const key = podKeyOf(target);
  if (key !== undefined) return await client.get(Pod, key, { live: true, ...options });
  const [first] = await resolvePods(client, target, options);
  if (first === undefined) throw new PodTargetError(`${describeTarget(target)} has no pods`);
  return first;
}

/** All pods that a target means, the best one first; see {@link resolvePod}. */
export async function resolvePods(
  client: Pick<PodsClient, 'get' | 'list'>,
  target: PodTarget,
  options: AbortOptions = {},
): Promise<readonly ReadPod[]> {
  const key = podKeyOf(target);
  if (key !== undefined || 'metadata' in target || !('kind' in target))
    return [await resolvePod(client, target, options)];
  const { namespace, name } = target;
  const object = await client.get(target.kind, { namespace, name }, { live: true, ...options });
  const selector = selectorOf(object);
  if (selector === undefined) throw new PodTargetError(`${describeTarget(target)} has no selector: name a pod`);
  const labelSelector = labelSelectorFrom(selector);
  const { items } = await client.list(Pod, { namespace, labelSelector, live: true, ...options });
  return items.toSorted(comparePods);
}

/** The selector of a workload, or of a Service, where it is a plain table of labels. */
function selectorOf(object: DeepReadonly<object>): LabelSelector | undefined {
  const selector = memberOf(memberOf(object, 'spec'), 'selector');
  if (typeof selector !== 'object' || selector === null || Object.keys(selector).length === 0) return undefined;
  if (isLabelSelector(selector)) return selector;
  return { matchLabels: Object.fromEntries(Object.entries(selector).map(([key, value]) => [key, String(value)])) };
}

function isLabelSelector(selector: object): selector is LabelSelector {
  return 'matchLabels' in selector || 'matchExpressions' in selector;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

const phases = ['Running', 'Unknown', 'Pending'];

/** kubectl's order (`podutils.ByLogging`): the best pod first. */
function comparePods(a: ReadPod, b: ReadPod): number {
  return (
    Number(b.spec?.nodeName !== undefined) - Number(a.spec?.nodeName !== undefined) ||
    rank(a) - rank(b) ||
    readyTime(a).localeCompare(readyTime(b)) ||
    restarts(a) - restarts(b) ||
    (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '')
  );
}

function rank({ status }: ReadPod): number {
  const index = phases.indexOf(status?.phase ?? '');
  return index < 0 ? phases.length : index;
}

/** When a pod became ready; what is not ready comes after all times. */
function readyTime({ status }: ReadPod): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? (ready.lastTransitionTime ?? '9') : '~';
}

function restarts({ status }: ReadPod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
