import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';
import type { StoreEvent } from '../storage/table.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

const namespaces = '/namespaces';
const serviceAccounts = '/serviceaccounts';
const name = 'default';

/** Keeps the service account `default` in every namespace, as kube-controller-manager does. */
export function createServiceAccountController(backend: Backend): InnerController {
  const { store, clock, newUid } = backend;
  const work = createWorkSet<string>();
  return {
    observe({ table, key, type }: StoreEvent) {
      if (table === namespaces && type !== 'DELETED') work.add(key);
      if (table === serviceAccounts && type === 'DELETED' && key.endsWith(`/${name}`))
        work.add(key.slice(0, -name.length - 1));
    },
    resync() {
      for (const [key] of store.table(namespaces).scan({})) work.add(key);
    },
    step() {
      const namespace = work.take();
      if (namespace === undefined) return false;
      const holder = store.table(namespaces).get(namespace);
      const key = `${namespace}/${name}`;
      if (holder?.object.metadata.deletionTimestamp !== undefined || holder === undefined) return true;
      if (store.table(serviceAccounts).get(key) !== undefined) return true;
      const creationTimestamp = formatTime(clock.now());
      store.commit({
        table: serviceAccounts,
        key,
        expected: 0,
        object: {
          kind: 'ServiceAccount',
          apiVersion: 'v1',
          metadata: { name, namespace, uid: newUid(), creationTimestamp },
        },
      });
      return true;
    },
  };
}
