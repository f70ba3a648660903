import type { DeepReadonly, Kind, ObjectKey, OwnerReference } from '@kctl/apimachinery';
import { formatKey, parseApiVersion } from '@kctl/apimachinery';
import type { EventObject, ObjectEvent } from '../event/object-event.js';
import type { EventHandler } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

/** Options of {@link enqueueRequestForOwner}. */
export interface EnqueueForOwnerOptions {
  /** Only the managing controller (the first reference with `controller: true`) counts as owner. @default false */
  readonly onlyControllerOwner?: boolean;
}

/**
 * Queues the owners of kind `owner` that the event's object names in its owner references; for an update the union of
 * the old and the new object's owners, each once. Group and kind are compared, the version is not. The namespace of
 * the request is the dependent's, and none where the owner is cluster-scoped. Mirrors `handler.EnqueueRequestForOwner`;
 * the scope comes with the kind token, so no mapper is needed.
 */
export function enqueueRequestForOwner(
  owner: Kind,
  options: EnqueueForOwnerOptions = {},
): EventHandler<EventObject, ObjectKey> {
  const { onlyControllerOwner = false } = options;
  const collect = (object: EventObject, into: Map<string, ObjectKey>): void => {
    for (const reference of references(object, onlyControllerOwner)) {
      if (reference.kind !== owner.kind || parseApiVersion(reference.apiVersion).group !== owner.group) continue;
      const key = requestFor(owner, reference.name, object.metadata.namespace);
      into.set(formatKey(key), key);
    }
  };
  return withLowPriorityWhenUnchanged((event: ObjectEvent, queue) => {
    const owners = new Map<string, ObjectKey>();
    if (event.type === 'update') collect(event.oldObject, owners);
    collect(event.object, owners);
    for (const key of owners.values()) queue.add(key);
    return undefined;
  });
}

function references(object: EventObject, onlyControllerOwner: boolean): readonly DeepReadonly<OwnerReference>[] {
  const all = object.metadata.ownerReferences ?? [];
  if (!onlyControllerOwner) return all;
  const managing = all.find((reference) => reference.controller === true);
  return managing === undefined ? [] : [managing];
}

function requestFor(owner: Kind, name: string, namespace: string | undefined): ObjectKey {
  return owner.scope === 'Namespaced' && namespace !== undefined ? { namespace, name } : { name };
}
