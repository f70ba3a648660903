import { at, objectsOf, stringOf } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import { crdTable, type Backend } from '../handlers/call.js';
import type { StoreEvent } from '../storage/table.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

const apiServices = 'apiregistration.k8s.io/apiservices';
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';

/** Keeps an APIService for each group version that CustomResourceDefinitions serve, as kube-apiserver does. */
export function createApiServiceController({ store, clock, newUid }: Backend): InnerController {
  const work = createWorkSet<true>();

  /** By name of the APIService. */
  const served = (): Map<string, { readonly group: string; readonly version: string }> => {
    const found = new Map<string, { group: string; version: string }>();
    for (const [, { object }] of store.table(crdTable).scan({})) {
      const group = stringOf(at(object, 'spec', 'group'));
      for (const each of objectsOf(at(object, 'spec', 'versions'))) {
        const version = stringOf(each['name']);
        if (each['served'] === true) found.set(`${version}.${group}`, { group, version });
      }
    }
    return found;
  };

  const create = (name: string, { group, version }: { readonly group: string; readonly version: string }): void => {
    const now = formatTime(clock.now());
    store.commit({
      table: apiServices,
      key: name,
      expected: 0,
      object: {
        kind: 'APIService',
        apiVersion: 'apiregistration.k8s.io/v1',
        metadata: { name, uid: newUid(), creationTimestamp: now, labels: { [managedLabel]: 'true' } },
        spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 100 },
        status: {
          conditions: [
            {
              type: 'Available',
              status: 'True',
              lastTransitionTime: now,
              reason: 'Local',
              message: 'Local APIServices are always available',
            },
          ],
        },
      },
    });
  };

  return {
    observe: ({ table }: StoreEvent) => {
      if (table === crdTable) work.add(true);
    },
    resync: () => work.add(true),
    step() {
      if (work.take() === undefined) return false;
      const wanted = served();
      for (const [name, groupVersion] of wanted)
        if (store.table(apiServices).get(name) === undefined) create(name, groupVersion);
      for (const [key, { object, revision }] of [...store.table(apiServices).scan({})])
        if (object.metadata.labels?.[managedLabel] === 'true' && !wanted.has(key))
          store.commit({ table: apiServices, key, expected: revision });
      return true;
    },
  };
}
