import { isNoKindMatch } from '@kctl/apimachinery';
import type { OperatorGraph } from '@kctl/operator';
import { messageOf } from '@kctl/telemetry';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import type { Finding } from './finding.js';

const check = 'api';

/** Whether the server has what the operator works with and does not bring: an informer of what it lacks never syncs. */
export async function servedFindings(
  { signal }: CliIo,
  { mapper }: OpenCluster,
  graph: OperatorGraph,
): Promise<Finding[]> {
  const own = new Set(graph.resources.map(({ manifest }) => manifest.metadata.name));
  const findings: Finding[] = [];
  const asked = new Set<string>();
  for (const { group, resource: whole, reason } of graph.accessNeeds) {
    const [resource = ''] = whole.split('/');
    const name = group === '' ? resource : `${resource}.${group}`;
    if (asked.has(name) || own.has(name)) continue;
    asked.add(name);
    try {
      await mapper.kindForResource(name, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      const message = isNoKindMatch(error)
        ? `the server has no ${name}, which ${reason} needs: install what brings it`
        : `the server does not say whether it has ${name}, which ${reason} needs: ${messageOf(error)}`;
      findings.push({ check, status: isNoKindMatch(error) ? 'problem' : 'warning', message });
    }
  }
  if (findings.length === 0 && asked.size > 0)
    findings.push({ check, status: 'ok', message: `the server has the ${asked.size} other resources that are needed` });
  return findings;
}
