import { portForward, type ReadPod } from '@kctl/pods';
import { messageOf } from '@kctl/telemetry/internal';
import { openClient, type OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import { findPods, targetOf, type WorkloadOptions } from './find-pods.js';
import { inspectionPath, inspectionPortOf, inspectionUrl } from './inspection-endpoint.js';
import type { CliIo } from '../io.js';

/** Selects the inspections to query. */
export interface InspectionOptions extends WorkloadOptions {
  /** Address of an inspection that this machine reaches, such as that of `kctl dev`. @default the pods of the operator */
  readonly url?: string;
}

/**
 * Handles an inspection, by the name of its replica and its address. Resolves with whether to query the others, too.
 */
type Use = (replica: string, base: string) => Promise<boolean>;

/**
 * Calls `use` with each inspection of an operator, one after another. A replica that does not respond is reported on
 * `err`, and left out.
 *
 * @throws CliError if no replica serves one, or none responds
 */
export async function onInspections(io: CliIo, options: InspectionOptions, use: Use): Promise<void> {
  const { url } = options;
  if (url !== undefined) {
    const base = inspectionUrl(url);
    await use(new URL(base).host, base);
    return;
  }
  const target = await targetOf(io, options);
  await using cluster = await openClient(io, options);
  const serving = (await findPods(io, cluster, target)).flatMap((pod) => {
    const port = inspectionPortOf(pod);
    return port === undefined ? [] : [{ pod, port }];
  });
  if (serving.length === 0)
    throw new CliError(
      'no replica serves an inspection: set inspectionBindAddress, such as INSPECTION_BIND_ADDRESS=127.0.0.1:8082 in the environment of its container; for kctl dev give the address that it prints by --url. One that is served behind the metrics is not found: read /debug/kctl/ at their port, with a token',
    );
  let answers = 0;
  for (const { pod, port } of serving) {
    const { name } = pod.metadata;
    try {
      const goesOn = await forwarded(io, cluster, { pod, port, use });
      answers++;
      if (!goesOn) return;
    } catch (error) {
      if (io.signal.aborted) throw error;
      io.err(`${name} does not answer: ${messageOf(error)}\n`);
    }
  }
  if (answers === 0) throw new CliError('no replica answers: is the operator running? See kubectl describe pod');
}

async function forwarded(
  io: CliIo,
  { client }: OpenCluster,
  { pod, port, use }: { readonly pod: ReadPod; readonly port: number; readonly use: Use },
): Promise<boolean> {
  await using forward = await portForward(client, pod, { ports: [{ remote: port, local: 0 }], signal: io.signal });
  const [at] = forward.ports;
  if (at === undefined) throw new TypeError('unreachable: a forward of one port has an address');
  return await use(pod.metadata.name, `http://${at.address}:${at.local}${inspectionPath}`);
}
