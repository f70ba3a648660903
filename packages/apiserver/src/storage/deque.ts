/** A queue that grows at the tail, shrinks at the head and can be read by index, all in constant time on average. */
export interface Deque<T> {
  readonly length: number;
  /** The item at `index`, counted from the current head. */
  at(index: number): T | undefined;
  push(item: T): void;
  shift(): T | undefined;
  clear(): void;
}

/** How many dead slots at the head are tolerated before the array is cut. */
const slack = 1024;

export function createDeque<T>(): Deque<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get length() {
      return items.length - head;
    },
    at: (index) => items[head + index],
    push(item) {
      items.push(item);
    },
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head] = undefined;
      head++;
      if (head > slack && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    clear() {
      items = [];
      head = 0;
    },
  };
}
