import type { EventTraits } from './event-traits.js';

/**
 * Adds an event to those of the same object that wait. The first `keep` are kept as they are, a resync only where
 * nothing else waits; a later one merges with the last, so that at most `keep + 1` wait. What remains is a legal history
 * for a handler that has seen what came before: an add before updates, each update from the state before it, a delete of
 * what was seen. Nothing remains of an object that came and went unseen.
 */
export function coalesce<E>(waiting: E[], event: E, { keep, traits }: CoalesceOptions<E>): void {
  const last = waiting.at(-1);
  if (last === undefined) {
    waiting.push(event);
    return;
  }
  if (traits.isResync(event)) return;
  if (waiting.length < keep) {
    waiting.push(event);
    return;
  }
  const type = traits.typeOf(event);
  switch (traits.typeOf(last)) {
    case 'add':
      waiting.pop();
      if (type !== 'delete') waiting.push(traits.mergeAdd(last, event));
      break;
    case 'update':
      waiting.pop();
      waiting.push(type === 'update' ? traits.mergeUpdate(last, event) : event);
      break;
    case 'delete':
      // Both stay: the object is another one. A second delete is the newer account of the same end.
      if (type === 'delete') waiting.pop();
      waiting.push(event);
      break;
  }
}

/** How {@link coalesce} merges. */
export interface CoalesceOptions<E> {
  /** How many events of an object wait unmerged: an integer ≥ 1. */
  readonly keep: number;
  readonly traits: EventTraits<E>;
}
