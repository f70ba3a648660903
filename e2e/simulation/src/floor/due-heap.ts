/** What is due at a time; of the same time, what was added first. */
export interface Due {
  readonly at: number;
  readonly order: number;
  /** Undefined once it was cancelled. */
  run: (() => void) | undefined;
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Adds to a heap. */
export function push<T extends Due>(heap: T[], task: T): void {
  let place = heap.push(task) - 1;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(task, parent)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = task;
}

/** Takes what is due first; undefined for an empty heap. */
export function pop<T extends Due>(heap: T[]): T | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child++;
    const lower = heap[child];
    if (lower === undefined || !isBefore(lower, last)) break;
    heap[place] = lower;
    place = child;
  }
  heap[place] = last;
  return first;
}
