import { compareResourceVersions, isNotFound } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  createOrUpdate,
  ignoreNotFound,
  setControllerReference,
} from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions } from '@kctl/simulation';
import { namespace, Widget, widgetOperator } from '../broken/widget.js';

/** Our own stack, asked whether it keeps its promises: reads after writes, and no key lost. */
export function probeOperator(): SimulateOptions {
  return {
    ...widgetOperator(() => ({})),
    replicas: 3,
    operator: createProbe,
    settled: async ({ client }) => {
      for (const { metadata, spec } of (await client.list(Widget, { namespace })).items) {
        const child = await client.get(ConfigMap, metadata);
        if (child.data?.['size'] !== String(spec.size)) throw new Error(`${metadata.name}: the child does not follow`);
      }
    },
  };
}

async function createProbe(world: ReplicaWorld) {
  const { violate } = world;
  const manager = await createManager({
    ...world.options,
    health: { port: 8081 },
    leaderElection: { name: 'probe', namespace: 'default' },
  });
  const { client } = manager;
  controllerManagedBy(manager)
    .for(Widget)
    .owns(ConfigMap)
    .complete(async (key, { signal }) => {
      const widget = await ignoreNotFound(client.get(Widget, key, { signal }));
      if (widget === undefined) return;
      const object = `configmaps ${key.namespace}/${key.name}`;
      const written = await createOrUpdate(client, ConfigMap, key, {
        mutate: (draft) => {
          draft.data = { size: String(widget.spec.size) };
          setControllerReference(widget, Widget, draft);
        },
        signal,
      });
      const { resourceVersion, uid } = written.object.metadata;
      const isOld = (found: string): boolean => compareResourceVersions(found, resourceVersion) === 'older';
      const read = await client.get(ConfigMap, key, { signal }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      // Deleted by another and seen to be: nothing older than the write is read.
      if (read !== undefined && read.metadata.uid === uid && isOld(read.metadata.resourceVersion))
        violate(
          'reads-behind-own-writes',
          `get is at ${read.metadata.resourceVersion}, written was ${resourceVersion}`,
          object,
        );
      const { items } = await client.list(ConfigMap, { namespace: key.namespace, signal });
      const listed = items.find(({ metadata }) => metadata.name === key.name);
      if (listed !== undefined && listed.metadata.uid === uid && isOld(listed.metadata.resourceVersion))
        violate(
          'reads-behind-own-writes',
          `list is at ${listed.metadata.resourceVersion}, written was ${resourceVersion}`,
          object,
        );
      if (listed === undefined && read !== undefined)
        violate('reads-behind-own-writes', `list lacks what get has at ${read.metadata.resourceVersion}`, object);
    });
  return manager;
}
