import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { Reader } from '@kctl/client';

/** A state, one line for each fact, without what differs from run to run: uids, versions, times, addresses. */
export async function readState(
  reader: Reader,
  namespace: string,
  { kinds, directory }: { readonly kinds: readonly Kind[]; readonly directory: ReadonlyMap<string, string> },
): Promise<string[]> {
  const objects: [Kind, KubeObject][] = [];
  for (const kind of kinds)
    for (const item of (await reader.list(kind, { namespace })).items)
      if (!isOfServer(kind, item as KubeObject)) objects.push([kind, item as KubeObject]);
  const living = new Set(objects.map(([, { metadata }]) => metadata.uid));
  const lines = objects.map(([kind, object]) => {
    const { name = '', generation } = object.metadata;
    return `${kind.kind}/${name} ${JSON.stringify(clean(object, '', { living, generation }))}`;
  });
  return [...lines, ...[...directory].map(([name, address]) => `entry ${name} ${address}`)].sort();
}

/** The Service `default/kubernetes`: every API server has it. */
function isOfServer(kind: Kind, { metadata }: KubeObject): boolean {
  return kind.kind === 'Service' && metadata.namespace === 'default' && metadata.name === 'kubernetes';
}

interface Frame {
  readonly living: ReadonlySet<string | undefined>;
  readonly generation: number | undefined;
}

const dropped = new Set(['resourceVersion', 'creationTimestamp', 'managedFields', 'generation', 'apiVersion', 'kind']);
const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function clean(value: unknown, field: string, frame: Frame): unknown {
  if (Array.isArray(value)) return value.map((item) => clean(item, field, frame));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !dropped.has(name) && !(field === 'metadata' && name === 'uid'))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, clean(inner, name, frame)]),
    );
  if (field === 'uid') return frame.living.has(String(value)) ? '(living)' : '(gone)';
  if (field === 'observedGeneration') return value === frame.generation ? '(current)' : '(stale)';
  if ((field === 'clusterIP' || field === 'clusterIPs') && value !== 'None') return '(address)';
  return typeof value === 'string' && time.test(value) ? '(time)' : value;
}
