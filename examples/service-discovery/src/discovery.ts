import { readFile, rename, writeFile } from 'node:fs/promises';
import { Node, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  enqueueRequestsFromMapFunc,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';
import { targetsOf } from './targets.js';

/** Everything leads to the one file, so there is one key. */
const theFile = { name: 'targets' };

/**
 * Watches Pods, Services and Nodes and keeps a Prometheus file_sd file: a controller whose result is outside of the
 * cluster, and which reads nothing but its caches. A thousand events lead to as many writes as are needed, because all
 * of them queue the same key.
 */
export async function createServiceDiscovery(options: RuntimeManagerOptions, file: string): Promise<RuntimeManager> {
  const manager = await createManager(options);
  const { client } = manager;
  controllerManagedBy(manager)
    .named('service-discovery')
    .watches(
      Service,
      enqueueRequestsFromMapFunc(() => [theFile]),
    )
    .watches(
      Pod,
      enqueueRequestsFromMapFunc(() => [theFile]),
    )
    .watches(
      Node,
      enqueueRequestsFromMapFunc(() => [theFile]),
    )
    .withOptions({ needLeaderElection: false })
    // A function on keys: all changes lead to one request, for the file.
    .complete(async (_request, { signal, logger }) => {
      const [services, pods, nodes] = await Promise.all([
        client.list(Service, { signal }),
        client.list(Pod, { signal }),
        client.list(Node, { signal }),
      ]);
      const targets = targetsOf({ services: services.items, pods: pods.items, nodes: nodes.items });
      if (await writeIfChanged(file, `${JSON.stringify(targets, undefined, 2)}\n`))
        logger.info('wrote targets', { targets: targets.length });
    });
  return manager;
}

/** Replaces the file as a whole: Prometheus must never read half of it. */
async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present === text) return false;
  await writeFile(`${file}.tmp`, text);
  await rename(`${file}.tmp`, file);
  return true;
}
