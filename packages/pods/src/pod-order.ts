import type { ReadPod } from './read-pod.js';

/** Purpose of a chosen pod, which is `logs`, or a `connection` such as exec and port-forward. */
export type PodUse = 'logs' | 'connection';

/**
 * kubectl's orders of pods, the best one first. Both prefer a pod that is on a node, runs, is ready, is ready for
 * longest, is oldest. For logs, more restarts come first (`podutils.ByLogging`), because their logs are of interest.
 * For a connection (the reverse of `podutils.ActivePods`), pods that are not being deleted, and fewer restarts come
 * first.
 */
export function podOrder(use: PodUse): (a: ReadPod, b: ReadPod) => number {
  const forLogs = use === 'logs';
  // Completed pods have kubectl's rank 0, which is that of Running for logs, and of Pending for a connection.
  const rank = ({ status }: ReadPod): number => ranks[status?.phase ?? ''] ?? (forLogs ? 0 : 2);
  return (a, b) =>
    Number(isAssigned(b)) - Number(isAssigned(a)) ||
    rank(a) - rank(b) ||
    Number(isReady(b)) - Number(isReady(a)) ||
    (forLogs ? 0 : compareDeletion(a, b)) ||
    compareTimes(readyTime(a), readyTime(b)) ||
    (forLogs ? compareRestarts(b, a) : compareRestarts(a, b)) ||
    compareTimes(a.metadata.creationTimestamp, b.metadata.creationTimestamp);
}

const ranks: Readonly<Record<string, number>> = { Running: 0, Unknown: 1, Pending: 2 };

function isAssigned({ spec }: ReadPod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

function isReady(pod: ReadPod): boolean {
  return readyCondition(pod)?.status === 'True';
}

function readyTime(pod: ReadPod): string | undefined {
  return isReady(pod) ? readyCondition(pod)?.lastTransitionTime : undefined;
}

function readyCondition({
  status,
}: ReadPod): { readonly status: string; readonly lastTransitionTime?: string } | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Pods that are not being deleted come first, then those deleted last. */
function compareDeletion(a: ReadPod, b: ReadPod): number {
  // JSON may have null for an absent value.
  const [left, right] = [a.metadata.deletionTimestamp ?? undefined, b.metadata.deletionTimestamp ?? undefined];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return compareTimes(right, left);
}

/** Fewer restarts of a container first; if equal, of a sidecar. */
function compareRestarts(a: ReadPod, b: ReadPod): number {
  return containerRestarts(a) - containerRestarts(b) || sidecarRestarts(a) - sidecarRestarts(b);
}

function containerRestarts({ status }: ReadPod): number {
  return mostRestarts(status?.containerStatuses ?? []);
}

function sidecarRestarts({ spec, status }: ReadPod): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = new Set(sidecars.map(({ name }) => name));
  return mostRestarts((status?.initContainerStatuses ?? []).filter(({ name }) => names.has(name)));
}

function mostRestarts(statuses: readonly { readonly restartCount: number }[]): number {
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}

/** Earlier first; no time comes last. */
function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return Date.parse(a) - Date.parse(b);
}
