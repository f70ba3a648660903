import { formatKey } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { EventTraits } from '@kctl/delivery';
import type { CreateEvent, ObjectEvent, UpdateEvent } from '../event/object-event.js';

/** How events of one object merge if more of them wait than are kept. Of generic events, the newest one is kept. */
export function objectEventTraits<T>(
  identify: (event: ObjectEvent<T>) => string | undefined,
): EventTraits<ObjectEvent<T>> {
  return {
    keyOf: identify,
    typeOf: ({ type }) => (type === 'create' ? 'add' : type === 'delete' ? 'delete' : 'update'),
    // A replay is an event like any other, so its requests are to be queued.
    isResync: () => false,
    mergeAdd: (add, latest) => (add.type === 'create' ? new MergedCreate(add, latest) : latest),
    mergeUpdate: (first, latest) =>
      first.type === 'update' && latest.type === 'update' ? new MergedUpdate(first, latest) : latest,
  };
}

/** Objects that have not been decoded stay so. */
class MergedCreate<T> implements CreateEvent<T> {
  readonly type = 'create';
  readonly isInInitialList: boolean;
  readonly header: ObjectHeader | undefined;
  readonly #latest: ObjectEvent<T>;

  constructor(create: CreateEvent<T>, latest: ObjectEvent<T>) {
    this.isInInitialList = create.isInInitialList;
    this.header = latest.header;
    this.#latest = latest;
  }

  get object(): T {
    return this.#latest.object;
  }
}

class MergedUpdate<T> implements UpdateEvent<T> {
  readonly type = 'update';
  readonly header: ObjectHeader | undefined;
  readonly oldHeader: ObjectHeader | undefined;
  readonly #first: UpdateEvent<T>;
  readonly #latest: UpdateEvent<T>;

  constructor(first: UpdateEvent<T>, latest: UpdateEvent<T>) {
    this.header = latest.header;
    this.oldHeader = first.oldHeader;
    this.#first = first;
    this.#latest = latest;
  }

  get object(): T {
    return this.#latest.object;
  }

  get oldObject(): T {
    return this.#first.oldObject;
  }
}

/** `namespace/name` of a Kubernetes object; undefined for anything else. Decodes no object whose header is there. */
export function nameOfEvent<T>(event: ObjectEvent<T>): string | undefined {
  const { header } = event;
  if (header !== undefined) return header.namespace === '' ? header.name : `${header.namespace}/${header.name}`;
  const { object } = event; // a getter that may decode it
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return undefined;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return undefined;
  const { name } = metadata;
  if (typeof name !== 'string') return undefined;
  const namespace = 'namespace' in metadata && typeof metadata.namespace === 'string' ? metadata.namespace : '';
  return formatKey({ namespace, name });
}
