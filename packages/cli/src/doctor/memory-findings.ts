import { isNotFound, quantityToNumber } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import type { OperatorGraph } from '@kctl/operator';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { defaultResources } from '../manifests/manager.js';
import type { Finding } from './finding.js';
import { ownCommand } from '../own-command.js';

const check = 'memory';
const mebibyte = 1024 * 1024;
/** An operator without objects: Node, its code, its connections. */
const baseBytes = 100 * mebibyte;
/** Memory of a cached object as a multiple of its JSON, once as bytes and once more when it is read. */
const perByte = 2;
/** How many objects of a kind are read to know how large they are. */
const sampleSize = 50;
/** How much of the limit is left to the garbage collector and to peaks. */
const headroom = 0.8;

/** Whether the memory limit of the deployed operator, else that of its manifests, fits what its cache will hold. */
export async function memoryFindings(io: CliIo, cluster: OpenCluster, graph: OperatorGraph): Promise<Finding[]> {
  const { bytes, objects } = await cacheSize(io, cluster, graph);
  const expected = baseBytes + perByte * bytes;
  const { limit, of } = await limitOf(io, cluster, graph);
  const about = `about ${Math.ceil(expected / mebibyte)} MiB for ${objects} watched objects`;
  if (limit === undefined)
    return [
      {
        check,
        status: 'warning',
        message: `${of} has no memory limit; it needs ${about}: set resources.limits.memory`,
      },
    ];
  const has = `${of} has a memory limit of ${Math.floor(limit / mebibyte)} MiB`;
  if (expected <= headroom * limit) return [{ check, status: 'ok', message: `${has}, and needs ${about}` }];
  const wanted = `${Math.ceil(expected / headroom / mebibyte)}Mi`;
  return [
    {
      check,
      status: expected > limit ? 'problem' : 'warning',
      message: `${has}, and needs ${about}: set resources.limits.memory to ${wanted}, or watch fewer objects (watchNamespaces, selectors of the cache)`,
    },
  ];
}

/** Size of watched objects, by their JSON. Objects that the user may not list are left out. */
async function cacheSize(
  { signal }: CliIo,
  { client, mapper }: OpenCluster,
  { accessNeeds }: OperatorGraph,
): Promise<{ readonly bytes: number; readonly objects: number }> {
  let bytes = 0;
  let objects = 0;
  const asked = new Set<string>();
  for (const { group, resource, verbs, namespaces = [undefined], names } of accessNeeds) {
    if (!verbs.includes('watch') || !verbs.includes('list') || names !== undefined || resource.includes('/')) continue;
    for (const namespace of namespaces) {
      const id = `${group}/${resource}/${namespace ?? ''}`;
      if (asked.has(id)) continue;
      asked.add(id);
      try {
        const kind = await mapper.kindForResource(group === '' ? resource : `${resource}.${group}`, { signal });
        const scope = namespace === undefined ? {} : { namespace };
        const { items, metadata } = await client.list(kind, { ...scope, limit: sampleSize, signal });
        const count = items.length + (metadata.remainingItemCount ?? 0);
        objects += count;
        if (items.length > 0) bytes += (JSON.stringify(items).length / items.length) * count;
      } catch (error) {
        // It is not installed, or may not be listed. Other checks report both.
        if (signal.aborted) throw error;
      }
    }
  }
  return { bytes, objects };
}

async function limitOf(
  { signal }: CliIo,
  { client }: OpenCluster,
  { name, namespace }: OperatorGraph,
): Promise<{ readonly limit: number | undefined; readonly of: string }> {
  try {
    const { spec } = await client.get(Deployment, { namespace, name }, { signal });
    const containers = spec?.template.spec?.containers ?? [];
    const container = containers.find((each) => each.name === 'operator') ?? containers[0];
    const limit = container?.resources?.limits?.['memory'];
    return {
      limit: limit === undefined ? undefined : quantityToNumber(limit),
      of: `deployment/${name} in ${namespace}`,
    };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return {
      limit: quantityToNumber(defaultResources.limits.memory),
      of: `the Deployment that ${ownCommand('deploy')} applies`,
    };
  }
}
