import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { HeaderSource, ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { headerOf } from '@kctl/apimachinery/internal/wire';

/** The object of an event, a readonly Kubernetes object. */
export type EventObject = DeepReadonly<KubeObject>;

/** Fields common to all events. */
interface EventBase<T> {
  /**
   * The object in its state after the change; for a delete the last known state. Reading it may decode it, which is
   * most of the cost of an event; {@link headerOfEvent} is free.
   */
  readonly object: T;
  /** Identity, version, labels and owners of `object`, if the source has them without decoding the object. */
  readonly header?: ObjectHeader | undefined;
}

/**
 * An object came into view, either because it was created or because it existed when the watch began. Mirrors
 * `event.CreateEvent`.
 */
export interface CreateEvent<T = EventObject> extends EventBase<T> {
  readonly type: 'create';
  /** Whether the object was part of the initial list, and so is probably not new. */
  readonly isInInitialList: boolean;
}

/** An object changed, or was replayed by a resync (then both have the same resourceVersion). Mirrors `event.UpdateEvent`. */
export interface UpdateEvent<T = EventObject> extends EventBase<T> {
  readonly type: 'update';
  readonly oldObject: T;
  readonly oldHeader?: ObjectHeader | undefined;
}

/** An object is gone. Mirrors `event.DeleteEvent`. */
export interface DeleteEvent<T = EventObject> extends EventBase<T> {
  readonly type: 'delete';
  /** Whether the deletion itself was missed: `object` may be older than the object's last state. */
  readonly deleteStateUnknown: boolean;
}

/** Something outside the cluster concerns an object. Mirrors `event.GenericEvent`. */
export interface GenericEvent<T = EventObject> extends EventBase<T> {
  readonly type: 'generic';
}

/** Anything that a watch can report. A discriminated union: `switch (event.type)` is exhaustive. */
export type ObjectEvent<T = EventObject> = CreateEvent<T> | UpdateEvent<T> | DeleteEvent<T> | GenericEvent<T>;

/** The verbs of {@link ObjectEvent}. */
export type ObjectEventType = ObjectEvent['type'];

/**
 * Identity, version, labels and owners of the event's object; decodes the object only if the source already did. For an
 * object without metadata, a header without a name.
 */
export function headerOfEvent(event: ObjectEvent<HeaderSource>): ObjectHeader {
  return event.header ?? headerIn(event.object);
}

/** The same of the state before an update. */
export function oldHeaderOfEvent(event: UpdateEvent<HeaderSource>): ObjectHeader {
  return event.oldHeader ?? headerIn(event.oldObject);
}

/** Whether a value has metadata to make a header of. */
export function isHeaderSource(object: unknown): object is HeaderSource {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return false;
  return typeof object.metadata === 'object' && object.metadata !== null;
}

const noHeader = headerOf({ metadata: {} });

function headerIn(object: unknown): ObjectHeader {
  return isHeaderSource(object) ? headerOf(object) : noHeader;
}
