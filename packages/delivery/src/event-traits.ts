/** Traits of an event about its object. */
export type EventType = 'add' | 'update' | 'delete';

/**
 * How the engine reads and merges the events of one kind of source. All functions are pure and do not throw; the engine
 * calls none of them for an event that is delivered at once.
 */
export interface EventTraits<E> {
  /** Identity of the object. If undefined, the event merges with no other one and keeps its place in the order. */
  keyOf(event: E): string | undefined;
  typeOf(event: E): EventType;
  /** Whether nothing changed, so that a waiting event of the same object makes this one needless. */
  isResync(event: E): boolean;
  /** Merges a waiting add and later changes into an add of the newest state. */
  mergeAdd(add: E, latest: E): E;
  /** Merges two consecutive updates into one from the state before the first to the state after the last. */
  mergeUpdate(first: E, latest: E): E;
}
