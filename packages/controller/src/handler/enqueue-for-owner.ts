import { booleanOption, requireOptions } from '@kctl/options';
import { requireKind } from '@kctl/client/internal';
import type { Kind, ObjectKey, OwnerReference } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import { groupOfApiVersion } from '@kctl/apimachinery/internal';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { Logger } from '@kctl/telemetry';
import type { EventObject, ObjectEvent } from '../event/object-event.js';
import { headerOfEvent, oldHeaderOfEvent } from '../event/object-event.js';
import type { EventHandler } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

/** Options of {@link enqueueRequestForOwner}. */
export interface EnqueueForOwnerOptions {
  /** Only the managing controller (the first reference with `controller: true`) counts as owner. @default false */
  readonly onlyControllerOwner?: boolean;
}

/**
 * Queues the owners of kind `owner` that the event's object names in its owner references; for an update the union of
 * the old and the new object's owners, each once. Group and kind are compared, the version is not. The namespace of the
 * request is the dependent's, and none if the owner is cluster-scoped. Mirrors `handler.EnqueueRequestForOwner`; the
 * scope comes with the kind token, so no mapper is needed. A reference whose apiVersion is not well-formed is logged
 * and ignored by itself; upstream it drops the event.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { controllerManagedBy } from '@kctl/builder';
 * import { enqueueRequestForOwner } from '@kctl/controller';
 *
 * controllerManagedBy(manager)
 *   .for(Deployment)
 *   .watches(ConfigMap, enqueueRequestForOwner(Deployment)) // also owners that do not control it
 *   .reconcile(async () => {});
 * ```
 */
export function enqueueRequestForOwner(
  owner: Kind,
  options: EnqueueForOwnerOptions = {},
): EventHandler<EventObject, ObjectKey> {
  requireKind('enqueueRequestForOwner', owner);
  requireOptions('enqueueRequestForOwner', options, { onlyControllerOwner: booleanOption });
  const { onlyControllerOwner = false } = options;
  const collect = (header: ObjectHeader, into: Map<string, ObjectKey>, logger: Logger): void => {
    for (const reference of references(header, onlyControllerOwner)) {
      if (reference.kind !== owner.kind) continue;
      const group = groupOfApiVersion(reference.apiVersion);
      if (group === undefined || typeof reference.name !== 'string' || reference.name === '') {
        const { namespace, name } = header;
        logger.error('an owner reference is not valid, it is ignored: it needs an apiVersion and a name', {
          namespace,
          name,
          reference,
        });
        continue;
      }
      if (group !== owner.group) continue;
      const key = requestFor(owner, reference.name, header.namespace);
      into.set(formatKey(key), key);
    }
  };
  return withLowPriorityWhenUnchanged((event: ObjectEvent, queue, { logger }) => {
    const owners = new Map<string, ObjectKey>();
    if (event.type === 'update') collect(oldHeaderOfEvent(event), owners, logger);
    collect(headerOfEvent(event), owners, logger);
    for (const key of owners.values()) queue.add(key);
    return undefined;
  });
}

function references(
  { ownerReferences }: ObjectHeader,
  onlyControllerOwner: boolean,
): readonly Readonly<OwnerReference>[] {
  if (!onlyControllerOwner) return ownerReferences;
  const managing = ownerReferences.find((reference) => reference.controller === true);
  return managing === undefined ? [] : [managing];
}

function requestFor(owner: Kind, name: string, namespace: string): ObjectKey {
  return owner.scope === 'Namespaced' && namespace !== '' ? { namespace, name } : { name };
}
