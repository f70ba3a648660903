import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import type { Series } from '@kctl/delivery';
import { Change } from './change.js';

/** The content of a store at one moment, as adds for a handler that joins or as resyncs for one that knows it. */
export function contentOf<T extends KubeObject>(
  versions: readonly StoredObject<T>[],
  as: 'initial' | 'resync',
): Series<Change<T>> {
  let next = 0;
  return {
    get left() {
      return versions.length - next;
    },
    next: () => {
      const version = versions[next++];
      if (version === undefined) return undefined;
      return as === 'initial'
        ? new Change('add', version, undefined, { isInInitialList: true })
        : new Change('update', version, version, { isResync: true });
    },
  };
}

/** What a resync needs of the store while it goes on. */
export interface ResyncSource<T extends KubeObject> {
  /** Whether the store is ahead of what was offered to the handlers. */
  readonly isAhead: boolean;
  present(version: StoredObject<T>): StoredObject<T> | undefined;
}

/**
 * Hands out the objects of `versions` again, each in its newest version, between the changes that wait. An object with a
 * change that waits is skipped: the change says more. It pauses while the store is ahead of the handlers.
 */
export function resyncOf<T extends KubeObject>(
  versions: readonly StoredObject<T>[],
  source: ResyncSource<T>,
  keyOf: (version: StoredObject<T>) => string,
): Series<Change<T>> {
  let next = 0;
  return {
    get left() {
      return versions.length - next;
    },
    get isPaused() {
      return source.isAhead;
    },
    next: (isWaiting) => {
      const version = versions[next++];
      if (version === undefined || isWaiting(keyOf(version))) return undefined;
      const present = source.present(version);
      return present === undefined ? undefined : new Change('update', present, present, { isResync: true });
    },
  };
}
