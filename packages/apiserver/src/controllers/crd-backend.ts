import type { CrdBackend } from '../crd/crd-backend.js';
import { crdTable, liveObjects, type Backend } from '../handlers/call.js';
import { commitInternal } from '../handlers/commit.js';
import { plainDeletion } from '../handlers/delete-options.js';
import { deleteStored } from '../handlers/deletion.js';

/** The store as the CRD controller sees it. */
export function createCrdBackend(backend: Backend): CrdBackend {
  const { store, registry } = backend;
  return {
    get: (name) => store.table(crdTable).get(name)?.object,
    list: () => liveObjects(store, crdTable),
    update(name, mutate) {
      const present = store.table(crdTable).get(name);
      if (present === undefined) return;
      const next = mutate(present.object);
      if (next !== present.object) commitInternal(backend, { table: crdTable, key: name }, { present, next });
    },
    deleteInstances(storageKey) {
      const [definition] = registry.ofStorage(storageKey);
      if (definition === undefined) return;
      for (const [, present] of [...store.table(storageKey).scan({})]) {
        if (present.object.metadata.deletionTimestamp === undefined)
          deleteStored(backend, definition, { present, options: { ...plainDeletion, policy: 'Background' } });
      }
    },
    countInstances: (storageKey) => store.table(storageKey).size,
  };
}
