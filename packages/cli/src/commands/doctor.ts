import { serverVersion } from '@kctl/client-http';
import type { OperatorGraph } from '@kctl/operator';
import { booleanOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { messageOf } from '@kctl/telemetry/internal';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { crdFindings } from '../doctor/crd-findings.js';
import { fileFindings } from '../doctor/file-findings.js';
import type { Finding } from '../doctor/finding.js';
import { memoryFindings } from '../doctor/memory-findings.js';
import { rightFindings } from '../doctor/right-findings.js';
import { servedFindings } from '../doctor/served-findings.js';
import { webhookFindings } from '../doctor/webhook-findings.js';
import { explain } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject } from '../project.js';

/** Options of {@link doctor}. */
export interface DoctorOptions extends ClusterOptions {
  readonly main?: string;
  /** Checks the rights of the operator's service account, not those of the user. @default false */
  readonly asOperator?: boolean;
}

const optionNames: OptionNames<DoctorOptions> = {
  kubeconfig: textOption,
  context: textOption,
  main: textOption,
  asOperator: booleanOption,
};

/**
 * Looks at everything that an operator needs: Node, the project and its generated files, the cluster, the kinds, other
 * resources, webhooks, rights, memory. A check that fails is a finding, and the others go on.
 */
export async function doctor(io: CliIo, options: DoctorOptions): Promise<readonly Finding[]> {
  requireOptions('doctor', options, optionNames);
  const findings: Finding[] = [{ check: 'node', status: 'ok', message: process.versions.node }];
  let graph: OperatorGraph;
  try {
    const project = readProject(io.cwd, options);
    graph = await (await loadOperator(project)).graph();
    findings.push({ check: 'operator', status: 'ok', message: `${graph.name} can be loaded` });
    findings.push(...fileFindings(project, graph));
  } catch (error) {
    return [...findings, { check: 'operator', status: 'problem', message: explain(error) }];
  }
  try {
    await using cluster = await openClient(io, options);
    const { gitVersion } = await serverVersion(cluster.client.transport, { signal: io.signal });
    findings.push({ check: 'cluster', status: 'ok', message: `${cluster.client.transport.server} ${gitVersion}` });
    const checks: readonly (readonly [name: string, look: Look])[] = [
      ['crd', crdFindings],
      ['api', servedFindings],
      ['webhook', webhookFindings],
      ['rights', async (...parts) => await rightFindings(...parts, options.asOperator === true)],
      ['memory', memoryFindings],
    ];
    for (const [check, look] of checks) {
      try {
        findings.push(...(await look(io, cluster, graph)));
      } catch (error) {
        if (io.signal.aborted) throw error;
        findings.push({ check, status: 'problem', message: `it cannot be looked at: ${messageOf(error)}` });
      }
    }
  } catch (error) {
    if (io.signal.aborted) throw error;
    findings.push({ check: 'cluster', status: 'problem', message: explain(error) });
  }
  return findings;
}

type Look = (io: CliIo, cluster: OpenCluster, graph: OperatorGraph) => Promise<Finding[]>;
