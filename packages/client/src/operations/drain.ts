import { controllerOf, isForbidden, isNotFound, isStatusError, isTooManyRequests } from '@kctl/apimachinery';
import type { LabelSelector, Selector } from '@kctl/apimachinery';
import { DaemonSet } from '@kctl/apimachinery/kinds/apps/v1';
import { Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { booleanOption, clockOption, functionOption, numberProblem, requireOptions, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { anySignal, sleep, systemClock, withDeadline } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { requireListAnswer, requireObjectAnswer } from '../checks/answers.js';
import type { Client, ReadObject } from '../client.js';
import type { AbortOptions } from '../options.js';
import { evict } from './evict.js';
import { isSet } from '../kube-object.js';
import { requireClient, requireName, requireOptionsObject } from '../checks/require-arguments.js';

/** Options of {@link cordon} and {@link uncordon}. */
export interface CordonOptions extends AbortOptions {
  readonly dryRun?: boolean;
}

const cordonOptionNames: OptionNames<CordonOptions> = { dryRun: booleanOption, signal: signalOption };

/** Marks a node so that no further pod is scheduled to it. @returns whether that changed anything */
export function cordon(client: Client, node: string, options: CordonOptions = {}): Promise<boolean> {
  return setUnschedulable(client, node, true, options);
}

/** Takes the mark of {@link cordon} off again. @returns whether that changed anything */
export function uncordon(client: Client, node: string, options: CordonOptions = {}): Promise<boolean> {
  return setUnschedulable(client, node, false, options);
}

async function setUnschedulable(
  client: Client,
  name: string,
  unschedulable: boolean,
  options: CordonOptions,
): Promise<boolean> {
  const what = unschedulable ? 'cordon' : 'uncordon';
  requireClient(what, client, ['get', 'patch']);
  requireName(what, 'node', name);
  requireOptionsObject(what, options);
  requireOptions(what, options, cordonOptionNames);
  const { spec } = requireObjectAnswer(what, await client.get(Node, { name }, { live: true, ...signalOf(options) }));
  if ((spec?.unschedulable ?? false) === unschedulable) return false;
  // null removes it, as kubectl does.
  const body = { spec: { unschedulable: unschedulable ? true : null } };
  await client.patch(Node, { name }, { type: 'merge', body }, options);
  return true;
}

/** A pod, and what a drain does with it. */
export interface DrainedPod {
  readonly namespace: string;
  readonly name: string;
  /** `gone`: it ended, or was deleted by others meanwhile. `skipped`: it stays, see `reason`. */
  readonly outcome: 'gone' | 'skipped';
  /** Why a pod was skipped. */
  readonly reason?: 'mirror pod' | 'managed by a DaemonSet';
}

/** Something that a drain does, for a program that shows its progress. */
export type DrainProgress =
  | { readonly type: 'cordoned'; readonly node: string }
  | { readonly type: 'evicting' | 'gone'; readonly namespace: string; readonly name: string }
  /** A PodDisruptionBudget does not allow the eviction yet, so it is tried again. */
  | { readonly type: 'refused'; readonly namespace: string; readonly name: string; readonly error: unknown };

/** Options of {@link drain}. */
export interface DrainOptions extends AbortOptions {
  /** Keeps pods of DaemonSets, instead of refusing to drain. @default false */
  readonly ignoreDaemonSets?: boolean;
  /** Evicts pods with emptyDir volumes, whose data are lost. @default false */
  readonly deleteEmptyDirData?: boolean;
  /** Evicts pods without a controller, which nothing makes anew. @default false */
  readonly force?: boolean;
  /** Only pods that match. @default all */
  readonly podSelector?: Selector | LabelSelector | Readonly<Record<string, string>> | string;
  /** Grace period of each pod, in seconds. @default that of the pod */
  readonly gracePeriodSeconds?: number;
  /** For the whole drain, in ms. @default Infinity */
  readonly timeoutMs?: number;
  /** Between two attempts at an eviction that a budget refuses, in ms. @default 5_000 */
  readonly retryMs?: number;
  /** Between two looks at a pod that ends, in ms. @default 1_000 */
  readonly pollMs?: number;
  readonly onProgress?: (progress: DrainProgress) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<DrainOptions> = {
  ignoreDaemonSets: true,
  deleteEmptyDirData: true,
  force: true,
  podSelector: true,
  gracePeriodSeconds: true,
  timeoutMs: true,
  retryMs: true,
  pollMs: true,
  onProgress: functionOption,
  clock: clockOption,
  signal: signalOption,
};

const code = 'KCTL_DRAIN_REFUSED';

/** Thrown when pods of a node must not be evicted as the options are. Nothing was evicted. */
export class DrainRefusedError extends Error {
  override readonly name = 'DrainRefusedError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_DRAIN_REFUSED' = code;
  /** The pods, with the reason and the option that allows it. */
  readonly pods: readonly { readonly namespace: string; readonly name: string; readonly reason: string }[];

  constructor(node: string, pods: DrainRefusedError['pods']) {
    const list = pods.map(({ namespace, name, reason }) => `${namespace}/${name} (${reason})`).join(', ');
    super(`node ${node} cannot be drained: ${list}`);
    this.pods = pods;
  }
}

/** Whether an error is a {@link DrainRefusedError}, also one of another copy of this package. */
export function isDrainRefused(error: unknown): error is DrainRefusedError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Empties a node for maintenance, that is, cordons it, evicts its pods and waits until they are gone. Mirrors
 * `kubectl drain`, with its rules. Mirror pods stay; pods of DaemonSets, pods without a controller and pods with
 * emptyDir data need an option. Unlike kubectl it checks the pods before it cordons, so that a refused drain changes
 * nothing. An eviction that a PodDisruptionBudget refuses is tried again until `timeoutMs`. The first pod whose
 * eviction fails otherwise ends the drain, and with it the attempts for the others; kubectl continues with those.
 *
 * @returns what became of each pod
 * @throws DrainRefusedError naming the pods and the options to set; DeadlineExceededError after `timeoutMs` (the node
 * stays cordoned); the signal's reason; errors of the client, such as a 404 if the node does not exist
 */
export async function drain(client: Client, node: string, options: DrainOptions = {}): Promise<DrainedPod[]> {
  requireClient('drain', client, ['get', 'list', 'patch']);
  requireName('drain', 'node', node);
  requireOptions('drain', options, optionNames);
  const { timeoutMs = Infinity, retryMs = 5_000, pollMs = 1_000, clock = systemClock, onProgress } = options;
  const problem =
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true }) ??
    numberProblem('retryMs', retryMs) ??
    numberProblem('pollMs', pollMs) ??
    numberProblem('gracePeriodSeconds', options.gracePeriodSeconds ?? 0, { integer: true });
  if (problem !== undefined) throw new TypeError(`drain: ${problem}`);
  return await withDeadline(
    async (signal) => {
      await judgePods(client, node, { ...options, signal });
      if (await cordon(client, node, { signal })) onProgress?.({ type: 'cordoned', node });
      const { evicted, skipped } = await judgePods(client, node, { ...options, signal });
      // A failure ends the drain, and with it the attempts for the others, so nothing goes on after it has rejected.
      const left = new AbortController();
      using link = anySignal([signal, left.signal]);
      const within = { ...options, signal: link.signal, retryMs, pollMs, clock };
      const gone = evicted.map(async (pod): Promise<DrainedPod> => {
        const { namespace, name } = pod.metadata;
        onProgress?.({ type: 'evicting', namespace, name });
        await removePod(client, pod, within);
        onProgress?.({ type: 'gone', namespace, name });
        return { namespace, name, outcome: 'gone' };
      });
      try {
        return [...skipped, ...(await Promise.all(gone))];
      } finally {
        left.abort();
      }
    },
    {
      timeoutMs,
      clock,
      message: `node ${node} was not drained within ${timeoutMs} ms; it stays cordoned`,
      ...signalOf(options),
    },
  );
}

type ReadPod = ReadObject<typeof Pod>;

async function judgePods(
  client: Client,
  node: string,
  options: DrainOptions & { readonly signal: AbortSignal },
): Promise<{ readonly evicted: ReadPod[]; readonly skipped: DrainedPod[] }> {
  const { podSelector, signal } = options;
  const { items } = requireListAnswer(
    'drain',
    await client.list(Pod, {
      live: true,
      signal,
      fieldSelector: { 'spec.nodeName': node },
      ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
    }),
  );
  const evicted: ReadPod[] = [];
  const skipped: DrainedPod[] = [];
  const refused: DrainRefusedError['pods'][number][] = [];
  for (const pod of items) {
    const { namespace, name } = pod.metadata;
    const verdict = await judge(client, pod, options);
    if (verdict === 'evict') evicted.push(pod);
    else if ('skip' in verdict) skipped.push({ namespace, name, outcome: 'skipped', reason: verdict.skip });
    else refused.push({ namespace, name, reason: verdict.refuse });
  }
  if (refused.length > 0) throw new DrainRefusedError(node, refused);
  return { evicted, skipped };
}

type Verdict = 'evict' | { readonly skip: NonNullable<DrainedPod['reason']> } | { readonly refuse: string };

/** kubectl's filters, in its order. */
async function judge(
  client: Client,
  pod: ReadPod,
  options: DrainOptions & { readonly signal: AbortSignal },
): Promise<Verdict> {
  const { metadata, spec, status } = pod;
  if (metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return { skip: 'mirror pod' };
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const controller = controllerOf(pod);
  if (controller?.kind === 'DaemonSet' && !hasEnded) {
    if (await isServed(client, { namespace: metadata.namespace, name: controller.name }, options.signal))
      return options.ignoreDaemonSets === true
        ? { skip: 'managed by a DaemonSet' }
        : { refuse: 'managed by a DaemonSet: set ignoreDaemonSets to leave it' };
    if (options.force !== true) return { refuse: 'its DaemonSet does not exist: set force to evict it' };
  }
  if (hasEnded) return 'evict';
  const hasLocalData = spec?.volumes?.some(({ emptyDir }) => isSet(emptyDir)) === true;
  if (hasLocalData && options.deleteEmptyDirData !== true)
    return { refuse: 'has emptyDir data, which are lost: set deleteEmptyDirData to evict it' };
  if (controller === undefined && options.force !== true)
    return { refuse: 'has no controller that makes it anew: set force to evict it' };
  return 'evict';
}

async function isServed(
  client: Client,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.get(DaemonSet, key, { live: true, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function removePod(
  client: Client,
  pod: ReadPod,
  options: DrainOptions & {
    readonly signal: AbortSignal;
    readonly retryMs: number;
    readonly pollMs: number;
    readonly clock: Clock;
  },
): Promise<void> {
  const { signal, retryMs, pollMs, clock, gracePeriodSeconds, onProgress } = options;
  const { namespace, name, uid } = pod.metadata;
  for (;;) {
    try {
      await evict(client, pod, { signal, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) });
      break;
    } catch (error) {
      // A conflict means that it is another pod by now.
      if (isNotFound(error) || isOtherPod(error)) return;
      // In a namespace that is being deleted the pod ends by itself.
      if (isForbidden(error) && isTerminating(error)) break;
      if (!isTooManyRequests(error)) throw error;
      onProgress?.({ type: 'refused', namespace, name, error });
      await sleep(retryMs, { clock, signal });
    }
  }
  for (;;) {
    try {
      const present = requireObjectAnswer('drain', await client.get(Pod, { namespace, name }, { live: true, signal }));
      if (present.metadata.uid !== uid) return;
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await sleep(pollMs, { clock, signal });
  }
}

function isOtherPod(error: unknown): boolean {
  return isStatusError(error) && error.status.reason === 'Conflict';
}

function isTerminating(error: unknown): boolean {
  const causes = isStatusError(error) ? error.status.details?.causes : undefined;
  return causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

function signalOf({ signal }: AbortOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
