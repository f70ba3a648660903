import type { KubeObject } from '@kctl/apimachinery';
import { coalesce } from '@kctl/delivery';
import type { EventTraits } from '@kctl/delivery';
import type { InformerEvent } from '../handlers/event.js';

/**
 * Events that wait for a reader, in the order in which their objects were first touched. Those of one object merge, so
 * that what waits is bounded by the number of objects; with `delivery: 'every'`, each waits alone.
 */
export class PendingEvents<T extends KubeObject> {
  readonly #waiting = new Map<unknown, InformerEvent<T>[]>();
  readonly #isMerging: boolean;
  readonly #traits = mergingTraits<T>();

  constructor(delivery: 'latest' | 'every' = 'latest') {
    this.#isMerging = delivery === 'latest';
  }

  put(event: InformerEvent<T>): void {
    // A unique identity, which merges with no other one.
    const id = this.#isMerging ? event.key : Symbol(event.key);
    const events = this.#waiting.get(id) ?? [];
    coalesce(events, event, { keep: 1, traits: this.#traits });
    if (events.length === 0) this.#waiting.delete(id);
    else this.#waiting.set(id, events);
  }

  /** Takes the events of one object (empty if it came and went). */
  takeAll(key: string): readonly InformerEvent<T>[] {
    const events = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    return events;
  }

  /** Takes the next event. */
  take(): InformerEvent<T> | undefined {
    const next = this.#waiting.entries().next();
    if (next.done === true) return undefined;
    const [id, events] = next.value;
    const event = events.shift();
    if (events.length === 0) this.#waiting.delete(id);
    return event;
  }
}

function mergingTraits<T extends KubeObject>(): EventTraits<InformerEvent<T>> {
  return {
    keyOf: ({ key }) => key,
    typeOf: ({ type }) => type,
    isResync: ({ isResync }) => isResync,
    mergeAdd: (add, latest) => merged('add', add, latest),
    mergeUpdate: (first, latest) => merged('update', first, latest),
  };
}

/** One event for two of an object; it parses what is read of it, as they do. */
function merged<T extends KubeObject>(
  type: 'add' | 'update',
  first: InformerEvent<T>,
  latest: InformerEvent<T>,
): InformerEvent<T> {
  const isAdd = type === 'add';
  return {
    type,
    key: latest.key,
    header: latest.header,
    oldHeader: isAdd ? undefined : first.oldHeader,
    get object() {
      return latest.object;
    },
    get oldObject() {
      return isAdd ? undefined : first.oldObject;
    },
    isInInitialList: isAdd && first.isInInitialList,
    finalStateUnknown: false,
    leftScope: false,
    isResync: !isAdd && latest.isResync,
  };
}
