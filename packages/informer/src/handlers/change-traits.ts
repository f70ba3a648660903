import type { KubeObject } from '@kctl/apimachinery';
import type { EventTraits } from '@kctl/delivery';
import { Change } from './change.js';

/** How changes of one object that wait for a handler merge. The handler receives each state once. */
export function latestChanges<T extends KubeObject>(): EventTraits<Change<T>> {
  return {
    keyOf: ({ key }) => key,
    typeOf: ({ type }) => type,
    isResync: ({ isResync }) => isResync,
    mergeAdd: ({ isInInitialList }, { current }) => new Change('add', current, undefined, { isInInitialList }),
    mergeUpdate: ({ previous }, { current, isResync }) => new Change('update', current, previous, { isResync }),
  };
}

/** Changes that are all delivered, in the order of the server. */
export function allChanges<T extends KubeObject>(): EventTraits<Change<T>> {
  return { ...latestChanges<T>(), keyOf: () => undefined };
}
