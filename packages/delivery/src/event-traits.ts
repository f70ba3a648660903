/** What an event says about its object. */
export type EventType = 'add' | 'update' | 'delete';

/**
 * How the engine reads and merges the events of one kind of source. All functions are pure and do not throw; the engine
 * calls none of them for an event that is delivered at once.
 */
export interface EventTraits<E> {
  /** Identity of the object. undefined: the event merges with no other one and keeps its place in the order. */
  keyOf(event: E): string | undefined;
  typeOf(event: E): EventType;
  /** Whether nothing changed: an event that a waiting one of the same object makes needless. */
  isResync(event: E): boolean;
  /** An add that waits, and what changed since: an add of the newest state. */
  mergeAdd(add: E, latest: E): E;
  /** Two updates that follow one another: one from the state before the first to the state after the last. */
  mergeUpdate(first: E, latest: E): E;
}
