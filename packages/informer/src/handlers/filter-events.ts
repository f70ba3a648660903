import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { callHandler } from './call-handler.js';
import type { InformerEvent, InformerEventHandler } from './event.js';
import { filterAnswer } from './filter-answer.js';
import { requireHandler } from './handler-options.js';
import { requireThat } from '../required.js';

/** One version of an object, as a filter sees it. Reading `object` parses it; the header is there. */
export interface ObjectVersion<T extends KubeObject> {
  readonly header: ObjectHeader;
  readonly object: DeepReadonly<T>;
}

/**
 * A handler that receives some objects only. A newly accepted object is an add; an object that is no longer accepted is
 * a delete with its last accepted state. It remembers the objects that the handler has received, so add it to one
 * informer, once. Mirrors `cache.FilteringResourceEventHandler`.
 *
 * @throws TypeError when it is given no function, or no handler
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSharedInformer, filterEvents, listerWatcherFor } from '@kctl/informer';
 *
 * const informer = createSharedInformer({ kind: Pod, listerWatcher: listerWatcherFor(client, Pod) });
 * const onEvent = ({ type, key }: { readonly type: string; readonly key: string }): void => console.log(type, key);
 * informer.addEventHandler(filterEvents(({ object }) => object.status?.phase === 'Running', { onEvent }));
 * ```
 */
export function filterEvents<T extends KubeObject>(
  accepts: (version: ObjectVersion<T>) => boolean,
  handler: InformerEventHandler<T>,
): InformerEventHandler<T> {
  requireThat(typeof accepts === 'function', 'filterEvents: accepts', {
    value: accepts,
    expected: 'a function of an object',
  });
  requireHandler('filterEvents', handler);
  const known = new Set<string>();
  return {
    onEvent: (event) => {
      const passed = filtered(event, accepts, known);
      if (passed === undefined) return undefined;
      return callHandler(handler, passed);
    },
  };
}

function filtered<T extends KubeObject>(
  event: InformerEvent<T>,
  accepts: (version: ObjectVersion<T>) => boolean,
  known: Set<string>,
): InformerEvent<T> | undefined {
  const { key } = event;
  if (event.type === 'delete') return known.delete(key) ? event : undefined;
  if (!filterAnswer('filterEvents: accepts', accepts(event)))
    return known.delete(key) ? alone('delete', key, oldVersionOf(event)) : undefined;
  const isNew = !known.has(key);
  known.add(key);
  return isNew && event.type === 'update' ? alone('add', key, event) : event;
}

function oldVersionOf<T extends KubeObject>(event: InformerEvent<T>): ObjectVersion<T> {
  return {
    header: event.oldHeader ?? event.header,
    get object() {
      return event.oldObject ?? event.object;
    },
  };
}

/** The event of a version that comes into sight or leaves it. */
function alone<T extends KubeObject>(type: 'add' | 'delete', key: string, version: ObjectVersion<T>): InformerEvent<T> {
  const { header } = version;
  return {
    type,
    key,
    header,
    oldHeader: type === 'add' ? undefined : header,
    get object() {
      return version.object;
    },
    get oldObject() {
      return type === 'add' ? undefined : version.object;
    },
    isInInitialList: false,
    finalStateUnknown: false,
    leftScope: false,
    isResync: false,
  };
}
