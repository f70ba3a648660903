/** Consumer of events. It neither waits nor throws when it takes one. */
export interface Listener<E> {
  offer(event: E): void;
}

/** The events of one move of a store, for those who listened when it moved. */
export interface Publication<E> {
  readonly offer: (event: E) => void;
}

/**
 * The listeners of one store. To keep each history legal, whenever a listener joins, the store moves first, then its
 * events are published to the listeners of that moment. A listener that joins later, also within a callback, takes the
 * store as it is, and none of these events.
 */
export class Audience<E, L extends Listener<E>> {
  #members: readonly L[] = [];

  get members(): readonly L[] {
    return this.#members;
  }

  join(member: L): void {
    this.#members = [...this.#members, member];
  }

  leave(member: L): void {
    this.#members = this.#members.filter((other) => other !== member);
  }

  /** Publishes one event of a move. */
  publish(event: E): void {
    for (const member of this.#members) member.offer(event);
  }

  /** Begins to publish the events of a move that has more than one, also step by step over several turns. */
  begin(): Publication<E> & { readonly members: readonly L[] } {
    const members = this.#members;
    return {
      members,
      offer: (event) => {
        for (const member of members) member.offer(event);
      },
    };
  }
}
