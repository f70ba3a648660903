import { labelSelectorFrom } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, LabelSelector, NamespacedKey } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { AbortOptions } from '@kctl/client';
import { requireOptions, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { PodsClient } from './client.js';
import { PodTargetError } from './errors.js';
import { podOrder } from './pod-order.js';
import type { PodUse } from './pod-order.js';
import type { ReadPod } from './read-pod.js';
import { requireTarget } from './require-target.js';

/** A workload or a Service, of which the best pod is used. */
export interface WorkloadTarget extends NamespacedKey {
  /** `Deployment`, `StatefulSet`, `ReplicaSet`, `DaemonSet`, `Job`, `ReplicationController` or `Service`. */
  readonly kind: Kind;
}

/** A pod, by its key, as it was read, or as an object that has pods. */
export type PodTarget = NamespacedKey | ReadPod | WorkloadTarget;

/** Options of {@link resolvePod} and {@link resolvePods}. */
export interface ResolvePodOptions extends AbortOptions {
  /**
   * Purpose of the pod. kubectl has an order for logs, in which restarts come first, and one for connections such as
   * exec and port-forward, in which pods that are being deleted come last.
   *
   * @default 'connection'
   */
  readonly use?: PodUse;
}

const uses: readonly unknown[] = ['logs', 'connection'] satisfies PodUse[];
const optionNames: OptionNames<ResolvePodOptions> = {
  use: (name: string, value: unknown) =>
    uses.includes(value) ? undefined : `${name} ${JSON.stringify(value)} is not valid: expected "logs" or "connection"`,
  signal: signalOption,
};

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
 * The pod of a target. Of the pods of a workload or Service it is the one that kubectl uses, which is assigned to a
 * node, running, ready, ready for longest, the oldest; see {@link ResolvePodOptions.use}.
 *
 * @throws PodTargetError if the workload has no pods; StatusError, a 404 if there is no such object
 */
export async function resolvePod(
  client: Pick<PodsClient, 'get' | 'list'>,
  target: PodTarget,
  options: ResolvePodOptions = {},
): Promise<ReadPod> {
  requireTarget('resolvePod', client, target);
  requireOptions('resolvePod', options, optionNames);
  // Of metadata alone, or what a cache has stripped, no container can be chosen.
  if ('metadata' in target && (target.spec?.containers ?? []).length > 0) return target;
  const key = podKeyOf(target);
  if (key !== undefined) return await client.get(Pod, key, readOptions(options));
  const [first] = await resolvePods(client, target, options);
  if (first === undefined) throw new PodTargetError(`${describeTarget(target)} has no pods`);
  return first;
}

/** All pods that a target means, the best one first; see {@link resolvePod}. */
export async function resolvePods(
  client: Pick<PodsClient, 'get' | 'list'>,
  target: PodTarget,
  options: ResolvePodOptions = {},
): Promise<readonly ReadPod[]> {
  requireTarget('resolvePods', client, target);
  requireOptions('resolvePods', options, optionNames);
  const key = podKeyOf(target);
  if (key !== undefined || 'metadata' in target || !('kind' in target))
    return [await resolvePod(client, target, options)];
  const { namespace, name } = target;
  const object = await client.get(target.kind, { namespace, name }, readOptions(options));
  const selector = selectorOf(object);
  if (selector === undefined) throw new PodTargetError(`${describeTarget(target)} has no selector: name a pod`);
  const labelSelector = labelSelectorFrom(selector);
  // It would be all pods of the namespace.
  if (labelSelector.isEmpty) throw new PodTargetError(`${describeTarget(target)} has an empty selector: name a pod`);
  const { items } = await client.list(Pod, { namespace, labelSelector, ...readOptions(options) });
  return items.toSorted(podOrder(options.use ?? 'connection'));
}

function readOptions({ signal }: ResolvePodOptions): AbortOptions & { readonly live: true } {
  return signal === undefined ? { live: true } : { live: true, signal };
}

/** The selector of a workload, or of a Service, whose selector is a plain map of labels. */
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
