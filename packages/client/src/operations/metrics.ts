import { addQuantities, defineKind, quantityToNumber } from '@kctl/apimachinery';
import type { Kind, KubeObject, NamespacedKey, Quantity } from '@kctl/apimachinery';
import { requireListAnswer } from '../checks/answers.js';
import type { Reader } from '../client.js';
import type { AbortOptions, ListOptions } from '../options.js';
import { requireClient, requireList, requireOptionsObject } from '../checks/require-arguments.js';

/** The usage of each resource. */
interface Usage {
  readonly cpu?: Quantity;
  readonly memory?: Quantity;
}

/** The usage of a node, as reported by `metrics.k8s.io/v1beta1`. */
export interface NodeMetrics extends KubeObject {
  readonly timestamp?: string;
  /** The time over which it was measured, such as `30s`. */
  readonly window?: string;
  /** null if nothing was measured. */
  readonly usage?: Usage | null;
}

/** The usage of the containers of a pod, as reported by `metrics.k8s.io/v1beta1`. */
export interface PodMetrics extends KubeObject {
  readonly timestamp?: string;
  readonly window?: string;
  /** null if nothing was measured. */
  readonly containers?: readonly { readonly name: string; readonly usage?: Usage | null }[] | null;
}

const group = { group: 'metrics.k8s.io', version: 'v1beta1' } as const;
/** The token of {@link NodeMetrics}, for a client of your own. */
export const NodeMetrics: Kind<NodeMetrics, 'Cluster'> = defineKind<NodeMetrics>()({
  ...group,
  kind: 'NodeMetrics',
  plural: 'nodes',
  scope: 'Cluster',
});
/** The token of {@link PodMetrics}. */
export const PodMetrics: Kind<PodMetrics, 'Namespaced'> = defineKind<PodMetrics>()({
  ...group,
  kind: 'PodMetrics',
  plural: 'pods',
  scope: 'Namespaced',
});

/** CPU and memory, as quantities and as numbers. */
export interface ResourceUsage {
  /** `250m`. */
  readonly cpu: string;
  /** `128Mi`. */
  readonly memory: string;
  /** 0.25. */
  readonly cpuCores: number;
  readonly memoryBytes: number;
}

/** The usage of a node. */
export interface NodeUsage extends ResourceUsage {
  readonly name: string;
  /** When it was measured, RFC 3339. */
  readonly timestamp: string | undefined;
}

/** The usage of a pod, as the sum of its containers. */
export interface PodUsage extends ResourceUsage, NamespacedKey {
  readonly timestamp: string | undefined;
  readonly containers: readonly (ResourceUsage & { readonly name: string })[];
}

/** Options of {@link topNodes}. */
export interface TopNodesOptions extends AbortOptions {
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
}

/** Options of {@link topPods}. */
export interface TopPodsOptions extends TopNodesOptions {
  /** @default all namespaces */
  readonly namespace?: string;
}

/**
 * Returns the usage of nodes, the largest use of CPU first. Mirrors `kubectl top nodes`; the cluster needs the metrics
 * server.
 *
 * @throws NoKindMatchError if there is no metrics server; errors of the client
 */
export async function topNodes(
  client: Pick<Reader, 'list'>,
  options: TopNodesOptions = {},
): Promise<readonly NodeUsage[]> {
  requireClient('topNodes', client, ['list']);
  requireOptionsObject('topNodes', options);
  const { items } = requireListAnswer('metrics', await client.list(NodeMetrics, { ...options, live: true }));
  return sorted(
    items.map(({ metadata, timestamp, usage }) => ({ name: metadata.name, timestamp, ...usageOf([usage ?? {}]) })),
  );
}

/**
 * Returns the usage of pods, as the sum of their containers, the largest use of CPU first. Mirrors
 * `kubectl top pods --containers`; the cluster needs the metrics server.
 *
 * @throws NoKindMatchError if there is no metrics server; errors of the client
 *
 * @example
 * ```ts
 * import { topPods, totalUsage } from '@kctl/client/operations';
 *
 * const pods = await topPods(client, { namespace: 'shop', labelSelector: 'app=web' });
 * for (const { name, cpu, memory } of pods) console.log(name, cpu, memory);
 * console.log(totalUsage(pods).memoryBytes);
 * ```
 */
export async function topPods(
  client: Pick<Reader, 'list'>,
  options: TopPodsOptions = {},
): Promise<readonly PodUsage[]> {
  requireClient('topPods', client, ['list']);
  requireOptionsObject('topPods', options);
  const { items } = requireListAnswer('metrics', await client.list(PodMetrics, { ...options, live: true }));
  return sorted(
    items.map(({ metadata, timestamp, containers }) => {
      const measured = containers ?? []; // the server writes null if nothing was measured
      return {
        namespace: metadata.namespace,
        name: metadata.name,
        timestamp,
        ...usageOf(measured.map(({ usage }) => usage ?? {})),
        containers: measured.map(({ name, usage }) => ({ name, ...usageOf([usage ?? {}]) })),
      };
    }),
  );
}

/** The total usage of all of these. */
export function totalUsage(usages: readonly Usage[]): ResourceUsage {
  requireList('totalUsage', 'usages', usages, 'what topNodes or topPods returns');
  for (const usage of usages) requireOptionsObject('totalUsage', usage, 'what topNodes or topPods returns');
  return usageOf(usages);
}

function usageOf(usages: readonly Usage[]): ResourceUsage {
  const sum = (resource: keyof Usage): string =>
    usages.reduce((total, usage) => addQuantities(total, usage[resource] ?? '0'), '0');
  const [cpu, memory] = [sum('cpu'), sum('memory')];
  return { cpu, memory, cpuCores: quantityToNumber(cpu), memoryBytes: quantityToNumber(memory) };
}

function sorted<T extends ResourceUsage>(usages: readonly T[]): readonly T[] {
  return usages.toSorted((a, b) => b.cpuCores - a.cpuCores || b.memoryBytes - a.memoryBytes);
}
