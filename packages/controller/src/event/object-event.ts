import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';

/** What events carry: a Kubernetes object that nobody may change. */
export type EventObject = DeepReadonly<KubeObject>;

/** An object came into view: it was created, or it was there when the watch began. Mirrors `event.CreateEvent`. */
export interface CreateEvent<T = EventObject> {
  readonly type: 'create';
  readonly object: T;
  /** Whether the object was part of the initial list, and so is probably not new. */
  readonly isInInitialList: boolean;
}

/** An object changed, or was replayed by a resync (then both have the same resourceVersion). Mirrors `event.UpdateEvent`. */
export interface UpdateEvent<T = EventObject> {
  readonly type: 'update';
  readonly oldObject: T;
  /** The state after the change. */
  readonly object: T;
}

/** An object is gone. Mirrors `event.DeleteEvent`. */
export interface DeleteEvent<T = EventObject> {
  readonly type: 'delete';
  /** The last state that was seen. */
  readonly object: T;
  /** Whether the deletion itself was missed: `object` may be older than the object's last state. */
  readonly deleteStateUnknown: boolean;
}

/** Something outside the cluster concerns an object. Mirrors `event.GenericEvent`. */
export interface GenericEvent<T = EventObject> {
  readonly type: 'generic';
  readonly object: T;
}

/** Anything that a watch can report. A discriminated union: `switch (event.type)` is exhaustive. */
export type ObjectEvent<T = EventObject> = CreateEvent<T> | UpdateEvent<T> | DeleteEvent<T> | GenericEvent<T>;

/** The verbs of {@link ObjectEvent}. */
export type ObjectEventType = ObjectEvent['type'];
