import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { portForward, resolvePods, type ReadPod, type WorkloadTarget } from '@kctl/pods';
import { messageOf } from '@kctl/telemetry';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import { formatReport } from '../inspect/format-report.js';
import { parseSamples } from '../inspect/metric-samples.js';
import { reportOf, type ReplicaReport } from '../inspect/replica-report.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject } from '../project.js';

/** Options of {@link inspect}. */
export interface InspectOptions extends ClusterOptions {
  readonly main?: string;
  /** Such as `deployment/websites`. @default the Deployment of the project's operator */
  readonly target?: string;
  /** Of the target. @default that of the operator */
  readonly namespace?: string;
}

/** What a replica says of itself, or why it says nothing. */
export type InspectedReplica =
  | ({ readonly pod: string; readonly error?: undefined } & ReplicaReport)
  | { readonly pod: string; readonly error: string };

/** Replicas as text: what is wrong first. */
export function formatReplicas(replicas: readonly InspectedReplica[]): string {
  return replicas
    .map((replica) =>
      replica.error === undefined
        ? formatReport(replica.pod, replica)
        : `${replica.pod}\n  problem  ${replica.error}\n`,
    )
    .join('\n');
}

/** How long a replica may take to answer, in ms. */
const answerMs = 10_000;

const kinds = [Deployment, StatefulSet, ReplicaSet, DaemonSet, Pod];

/** Asks each replica of an operator for its state, over a connection through the API server. */
export async function inspect(io: CliIo, options: InspectOptions): Promise<readonly InspectedReplica[]> {
  const target = await targetOf(io, options);
  await using cluster = await openClient(io, options);
  const pods = await resolvePods(cluster.client, target, { signal: io.signal });
  const running = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (running.length === 0)
    throw new CliError(
      `${target.kind.kind.toLowerCase()}/${target.name} in ${target.namespace} has no pods: is it deployed? See kctl deploy, or kubectl describe`,
    );
  return await Promise.all(running.map((pod) => inspectPod(io, cluster, pod)));
}

/** `deployment/websites`, `deploy/websites`, or a name alone, which is that of a Deployment. */
export function parseTarget(text: string, namespace: string): WorkloadTarget {
  const [first = '', second] = text.split('/');
  const [word, name] = second === undefined ? ['deployment', first] : [first.toLowerCase(), second];
  const kind = kinds.find((each) => [each.kind.toLowerCase(), each.plural, shortNames[each.kind]].includes(word));
  if (kind === undefined || name === '')
    throw new CliError(
      `${JSON.stringify(text)} is not a workload: expected ${kinds.map((each) => each.kind.toLowerCase()).join(', ')}, a slash and a name, such as deployment/websites`,
      { exitCode: 2 },
    );
  return { kind, namespace, name };
}

const shortNames: Readonly<Record<string, string>> = {
  Deployment: 'deploy',
  StatefulSet: 'sts',
  ReplicaSet: 'rs',
  DaemonSet: 'ds',
  Pod: 'po',
};

async function targetOf(io: CliIo, { target, namespace, main }: InspectOptions): Promise<WorkloadTarget> {
  if (target !== undefined && namespace !== undefined) return parseTarget(target, namespace);
  const operator = await loadOperator(readProject(io.cwd, main === undefined ? {} : { main }));
  return parseTarget(target ?? operator.name, namespace ?? operator.namespace);
}

async function inspectPod(io: CliIo, { client }: OpenCluster, pod: ReadPod): Promise<InspectedReplica> {
  const { name } = pod.metadata;
  try {
    const ports = pod.spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
    const remote = ['metrics', 'health'].filter((each) => ports.some((port) => port.name === each));
    if (!remote.includes('metrics'))
      return {
        pod: name,
        error: 'it has no port named metrics: set metricsBindAddress, and deploy what kctl generate writes',
      };
    await using forward = await portForward(client, pod, {
      ports: remote.map((each) => ({ remote: each, local: 0 })),
      signal: io.signal,
    });
    const [metrics, health] = await Promise.all(
      forward.ports.map(
        async ({ address, local }, index) =>
          await ask(io, `http://${address}:${local}${remote[index] === 'metrics' ? '/metrics' : '/readyz?verbose'}`),
      ),
    );
    if (metrics?.status !== 200)
      return {
        pod: name,
        error: `its metrics answer ${metrics?.status}: are they protected? Ask them with a token that may read them`,
      };
    return { pod: name, ...reportOf(parseSamples(metrics.text), health?.text) };
  } catch (error) {
    if (io.signal.aborted) throw error;
    return { pod: name, error: `it does not answer: ${messageOf(error)}` };
  }
}

async function ask({ signal }: CliIo, url: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) });
  return { status: response.status, text: await response.text() };
}
