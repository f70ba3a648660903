import { numberOption, objectOption, requireOptions, type OptionNames } from '@kctl/options';
import type { EventTraits } from './event-traits.js';

/**
 * Adds an event to the waiting events of the same object. The first `keep` are kept as they are, a resync only if
 * nothing else waits; a later one merges with the last, so that at most `keep + 1` wait. The remainder is a legal
 * history for a handler that has seen the previous events (an add before updates, each update from the state before it,
 * a delete of a seen object). Nothing remains of an object that came and went unseen.
 */
export function coalesce<E>(waiting: E[], event: E, options: CoalesceOptions<E>): void {
  requireOptions('coalesce', options, optionNames);
  mergeEvent(waiting, event, options);
}

/** {@link coalesce}, with options that were checked. */
export function mergeEvent<E>(waiting: E[], event: E, { keep, traits }: CoalesceOptions<E>): void {
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
      // Both stay, because the object is another one. A second delete is the newer report of the same end.
      if (type === 'delete') waiting.pop();
      waiting.push(event);
      break;
  }
}

/** How {@link coalesce} merges. */
export interface CoalesceOptions<E> {
  /** Maximum number of unmerged events of an object, an integer ≥ 1. */
  readonly keep: number;
  readonly traits: EventTraits<E>;
}

const optionNames: OptionNames<CoalesceOptions<unknown>> = {
  keep: numberOption({ least: 1, integer: true }),
  traits: objectOption('the traits of events'),
};
