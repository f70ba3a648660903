import type { UntypedObject } from '@kctl/apimachinery';
import type { Store } from './storage/store.js';

/** One change of one object, as it takes effect. */
export interface Commit {
  readonly revision: number;
  /** `<group>/<plural>`; `/pods` for the core group. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As stored; of a deletion its last state. Frozen. */
  readonly object: UntypedObject;
  /** Its state before; absent if it was created. Frozen. */
  readonly previous: UntypedObject | undefined;
}

/** Calls back for every commit, synchronously, in order. Returns the function that ends it. */
export function subscribeCommits(store: Store, listener: (commit: Commit) => void): () => void {
  return store.subscribe(({ revision, table, key, type, current, previous }) => {
    const slash = key.indexOf('/');
    listener({
      revision,
      resource: table,
      namespace: slash < 0 ? '' : key.slice(0, slash),
      name: key.slice(slash + 1),
      change: type,
      object: current.object,
      previous: previous?.object,
    });
  });
}
