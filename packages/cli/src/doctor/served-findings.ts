import { isNoKindMatch } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { serverVersion } from '@kctl/client-http';
import type { OperatorGraph } from '@kctl/operator';
import { messageOf } from '@kctl/telemetry/internal';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import type { Finding } from './finding.js';
import { lifecycles } from './generated/lifecycles.js';

const check = 'api';

/** A resource that the operator works with and does not bring. */
export interface UsedResource {
  readonly group: string;
  /** Undefined if not set in code. */
  readonly version: string | undefined;
  readonly plural: string;
  readonly reason: string;
}

/**
 * Checks whether the server has the resources that the operator uses and does not install, in the version of the code.
 * An informer of a missing resource never syncs. Versions that are deprecated, or that a later release does not serve,
 * are reported before that.
 */
export async function servedFindings(
  { signal }: CliIo,
  cluster: OpenCluster,
  graph: OperatorGraph,
): Promise<Finding[]> {
  const { gitVersion } = await serverVersion(cluster.client.transport, { signal });
  const minor = Number(/^v?1\.(\d+)/.exec(gitVersion)?.[1] ?? 0);
  const used = usedResources(graph);
  const findings: Finding[] = [];
  for (const each of used) {
    const lacking = await findLacking(cluster, each, signal);
    findings.push(...(lacking ?? deprecationsOf(each, minor)));
    if (lacking === undefined) findings.push(...(await deprecatedDefinition(cluster, each, signal)));
  }
  if (findings.length === 0 && used.length > 0)
    findings.push({
      check,
      status: 'ok',
      message: `the server has the ${used.length} other resources that are needed`,
    });
  return findings;
}

function usedResources({ resources, accessNeeds }: OperatorGraph): readonly UsedResource[] {
  const own = new Set(resources.map(({ manifest }) => manifest.metadata.name));
  const used = new Map<string, UsedResource>();
  for (const { group, resource, version, reason } of accessNeeds) {
    const [plural = ''] = resource.split('/');
    if (own.has(nameOf({ group, plural }))) continue;
    const id = nameOf({ group, plural, version });
    if (!used.has(id)) used.set(id, { group, version, plural, reason });
  }
  return [...used.values()];
}

/** `cronjobs.batch`, or with the version `cronjobs.v1.batch`. */
function nameOf({ group, plural, version }: { group: string; plural: string; version?: string | undefined }): string {
  return [plural, version ?? '', group].filter((part) => part !== '').join('.');
}

/** Why it cannot be used on this server; undefined if it can. */
async function findLacking(
  { mapper }: OpenCluster,
  { reason, ...resource }: UsedResource,
  signal: AbortSignal,
): Promise<readonly Finding[] | undefined> {
  const plain = nameOf({ ...resource, version: undefined });
  try {
    await mapper.kindForResource(nameOf(resource), { signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isNoKindMatch(error)) {
      const message = `the server does not say whether it has ${plain}, which ${reason} needs: ${messageOf(error)}`;
      return [{ check, status: 'warning', message }];
    }
  }
  const other = await mapper.kindForResource(plain, { signal }).catch(() => undefined);
  const use = lifecycleOf(resource)?.[5] ?? '';
  const message =
    other === undefined
      ? `the server has no ${plain}, which ${reason} needs: install what brings it`
      : `the server has ${plain} in ${other.version}, and not in ${resource.version ?? ''}, which ${reason} needs: ${use === '' ? `use ${other.apiVersion} ${other.kind}` : `use ${use}`}`;
  return [{ check, status: 'problem', message }];
}

/** Deprecation by Kubernetes releases of a built-in kind that this server still has. */
export function deprecationsOf(resource: UsedResource, minor: number): Finding[] {
  const found = lifecycleOf(resource);
  if (found === undefined) return [];
  const [group, version, kind, deprecated, removed, replacement] = found;
  if (deprecated > minor) return [];
  const end = removed === 0 ? '' : `, and not served from 1.${removed} on`;
  const remedy = replacement === '' ? 'use a newer version' : `use ${replacement}`;
  const message = `${group}/${version} ${kind}, which ${resource.reason} needs, is deprecated since 1.${deprecated}${end}: ${remedy}`;
  return [{ check, status: 'warning', message }];
}

function lifecycleOf({
  group,
  version,
  plural,
}: Omit<UsedResource, 'reason'>): (typeof lifecycles)[number] | undefined {
  return lifecycles.find(([its, one, kind]) => its === group && one === version && pluralOf(kind) === plural);
}

/** As the API server makes it of the name of a built-in kind. */
function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith('endpoints')) return word;
  if (word.endsWith('s')) return `${word}es`;
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** Deprecation of the used version in the definition of another operator's kind. */
async function deprecatedDefinition(
  { client }: OpenCluster,
  { group, version, plural, reason }: UsedResource,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (!group.includes('.') || version === undefined || group.endsWith('.k8s.io')) return [];
  const name = nameOf({ group, plural });
  // Unknown, since it is served by another server, or may not be read.
  const found = await client.get(CustomResourceDefinition, { name }, { signal }).catch(() => undefined);
  const its = found?.spec.versions.find((each) => each.name === version);
  if (its?.deprecated !== true) return [];
  const remedy = its.deprecationWarning ?? 'use a newer version';
  const message = `${version} of ${name}, which ${reason} needs, is deprecated: ${remedy}`;
  return [{ check, status: 'warning', message }];
}
