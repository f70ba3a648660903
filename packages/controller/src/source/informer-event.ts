import { shownArgument } from '@kctl/options';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { InformerEvent } from './informer-provider.js';
import type { CreateEvent, DeleteEvent, ObjectEvent, UpdateEvent } from '../event/object-event.js';

/** An informer's event as ours; the objects are decoded when they are read. */
export function eventFrom<T>(event: InformerEvent<T>): ObjectEvent<T> {
  switch (event.type) {
    case 'add':
      return new InformerCreate(event);
    case 'update':
      return new InformerUpdate(event);
    case 'delete':
      return new InformerDelete(event);
  }
}

/**
 * Returns the event of a controller for that of an informer, for a source of your own over something that reports like
 * an informer. Undefined for an object that still exists and whose namespace is no longer watched, because it was not
 * deleted and the cache does not have it. The objects are decoded when they are read.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { objectEventOf, type InformerEvent } from '@kctl/controller';
 *
 * export function logEvent(event: InformerEvent<ConfigMap>): void {
 *   const change = objectEventOf(event);
 *   if (change !== undefined) console.log(change.type, change.object.metadata.name);
 * }
 * ```
 */
export function objectEventOf<T>(event: InformerEvent<T>): ObjectEvent<T> | undefined {
  const given: unknown = event;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`objectEventOf: the event is ${shownArgument(given)}: expected an event of an informer`);
  return event.leftScope === true ? undefined : eventFrom(event);
}

class InformerBacked<T> {
  readonly header: ObjectHeader;
  protected readonly event: InformerEvent<T>;

  constructor(event: InformerEvent<T>) {
    this.event = event;
    this.header = event.header;
  }

  get object(): T {
    return this.event.object;
  }
}

class InformerCreate<T> extends InformerBacked<T> implements CreateEvent<T> {
  readonly type = 'create';

  get isInInitialList(): boolean {
    return this.event.isInInitialList;
  }
}

class InformerUpdate<T> extends InformerBacked<T> implements UpdateEvent<T> {
  readonly type = 'update';

  get oldHeader(): ObjectHeader | undefined {
    return this.event.oldHeader;
  }

  get oldObject(): T {
    return this.event.oldObject ?? this.event.object;
  }
}

class InformerDelete<T> extends InformerBacked<T> implements DeleteEvent<T> {
  readonly type = 'delete';

  get deleteStateUnknown(): boolean {
    return this.event.finalStateUnknown;
  }
}
