interface Place<E> {
  readonly element: E;
  after: Place<E> | undefined;
}

/**
 * First in, first out. A linked list, so each operation costs O(1) regardless of the length. The first entry of a `Map`
 * whose first entries were deleted costs one step for each of them.
 */
export class Line<E> {
  #first: Place<E> | undefined;
  #last: Place<E> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(element: E): void {
    const place: Place<E> = { element, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#length++;
  }

  shift(): E | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    this.#first = first.after;
    if (this.#first === undefined) this.#last = undefined;
    this.#length--;
    return first.element;
  }

  *[Symbol.iterator](): Generator<E, void> {
    for (let place = this.#first; place !== undefined; place = place.after) yield place.element;
  }
}
