import { portForward, type ReadPod } from '@kctl/pods';
import { messageOf } from '@kctl/telemetry/internal';
import { openClient, type OpenCluster } from '../cluster.js';
import { formatReport } from '../inspect/format-report.js';
import { findPods, targetOf } from '../inspect/find-pods.js';
import {
  askState,
  inspectionPath,
  inspectionPortOf,
  inspectionUrl,
  type InspectionState,
} from '../inspect/inspection-endpoint.js';
import { inspectionReport, withInspection } from '../inspect/inspection-report.js';
import { parseSamples } from '../inspect/metric-samples.js';
import { reportOf, type ReplicaReport } from '../inspect/replica-report.js';
import type { InspectionOptions } from '../inspect/on-inspections.js';
import type { CliIo } from '../io.js';
import { readUrl } from '../read-url.js';
import { ownCommand } from '../own-command.js';

/** State reported by a replica, or why it reports none. */
export type InspectedReplica =
  | ({ readonly pod: string; readonly error?: undefined } & ReplicaReport)
  | { readonly pod: string; readonly error: string };

/** Formats replicas, those with problems first. */
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
/** Longest answer of a probe or of the metrics, in bytes. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Requests the state of each replica of an operator, over a connection through the API server. */
export async function inspect(io: CliIo, options: InspectionOptions): Promise<readonly InspectedReplica[]> {
  if (options.url !== undefined) {
    const base = inspectionUrl(options.url);
    return [{ pod: new URL(base).host, ...inspectionReport(await askState(io, base)) }];
  }
  const target = await targetOf(io, options);
  await using cluster = await openClient(io, options);
  const running = await findPods(io, cluster, target);
  return await Promise.all(running.map((pod) => inspectPod(io, cluster, pod)));
}

async function inspectPod(io: CliIo, { client }: OpenCluster, pod: ReadPod): Promise<InspectedReplica> {
  const { name } = pod.metadata;
  try {
    const ports = pod.spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
    const remote = ['metrics', 'health'].filter((each) => ports.some((port) => port.name === each));
    const inspectionPort = inspectionPortOf(pod);
    if (!remote.includes('metrics') && inspectionPort === undefined)
      return {
        pod: name,
        error: `it has no port named metrics: set metricsBindAddress, and deploy what ${ownCommand('generate')} writes`,
      };
    await using forward = await portForward(client, pod, {
      ports: [...remote, ...(inspectionPort === undefined ? [] : [inspectionPort])].map((each) => ({
        remote: each,
        local: 0,
      })),
      signal: io.signal,
    });
    const addresses = forward.ports.map(({ address, local }) => `http://${address}:${local}`);
    const addressOf = (port: string): string | undefined => addresses[remote.indexOf(port)];
    const inspection = inspectionPort === undefined ? undefined : addresses.at(-1);
    const [metrics, health, state] = await Promise.all([
      ask(io, addressOf('metrics'), '/metrics'),
      ask(io, addressOf('health'), '/readyz?verbose'),
      inspection === undefined ? undefined : stateOf(io, `${inspection}${inspectionPath}`),
    ]);
    const report = metrics?.status === 200 ? reportOf(parseSamples(metrics.text), health?.text) : undefined;
    if (typeof state === 'object') return { pod: name, ...withInspection(report ?? reportOf([], health?.text), state) };
    const unanswered = state === undefined ? [] : [state];
    if (report !== undefined) return { pod: name, ...report, problems: [...unanswered, ...report.problems] };
    const [
      error = `its metrics answer ${metrics?.status}: are they protected? Ask them with a token that may read them`,
    ] = unanswered;
    return { pod: name, error };
  } catch (error) {
    if (io.signal.aborted) throw error;
    return { pod: name, error: `it does not answer: ${messageOf(error)}` };
  }
}

/** State from a replica's inspection, or why there is no state. */
async function stateOf(io: CliIo, base: string): Promise<InspectionState | string> {
  try {
    return await askState(io, base);
  } catch (error) {
    if (io.signal.aborted) throw error;
    return `its inspection does not answer: ${messageOf(error)}`;
  }
}

async function ask(
  { signal }: CliIo,
  address: string | undefined,
  path: string,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  if (address === undefined) return undefined;
  return await readUrl(`${address}${path}`, { maxBytes: maxAnswerBytes, timeoutMs: answerMs, signal });
}
