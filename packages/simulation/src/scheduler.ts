import { AsyncResource } from 'node:async_hooks';
import type { Scope } from './scope.js';

/** The real event loop, because the globals are replaced while a world runs. */
const nextTurn: (callback: () => void) => unknown = globalThis.setImmediate;

/** Something to do at a time of the world. */
export interface Task {
  at: number;
  /** When it was first due. A stall delays it, and its order among others stays. */
  readonly due: number;
  readonly sequence: number;
  readonly scope: Scope;
  /** undefined if cancelled. Its function is released at once, not when it is due. */
  run: (() => void) | undefined;
}

/** Cancels a task. Does nothing if it has run. */
export function cancel(task: Task): void {
  task.run = undefined;
}

/** How many tasks run in one turn of the real event loop; promise callbacks run between any two of them. */
const tasksPerTurn = 128;

/**
 * All time of a world, as one heap of tasks due later, and one queue of tasks due now. Tasks run one at a time. After
 * each, Node runs every promise callback and `nextTick` that became ready before it calls the next task, so time
 * advances only when the code has nothing left to do.
 */
export class Scheduler {
  /** ms since the world began. */
  now = 0;
  /** Tasks that have run. */
  steps = 0;
  /** Whose task ran last. */
  current: Scope | undefined;
  readonly #onError: (error: unknown, scope: Scope) => void;
  readonly #heap: Task[] = [];
  #ready: Task[] = [];
  #head = 0;
  #sequence = 0;
  readonly #outside = new AsyncResource('simulation');

  constructor(onError: (error: unknown, scope: Scope) => void) {
    this.#onError = onError;
  }

  /** Calls it in the asynchronous context in which the world was made, whatever that of the caller is. */
  outside<T>(work: () => T): T {
    return this.#outside.runInAsyncScope(work);
  }

  /** Tasks that wait, those of dead scopes and cancelled ones included. */
  get size(): number {
    return this.#heap.length + this.#ready.length - this.#head;
  }

  /** Runs it after what is due now. */
  post(scope: Scope, run: () => void): Task {
    const task: Task = { at: this.now, due: this.now, sequence: this.#sequence++, scope, run };
    this.#ready.push(task);
    return task;
  }

  /** Runs it once the time has come. */
  after(scope: Scope, delayMs: number, run: () => void): Task {
    const at = this.now + delayMs;
    const task: Task = { at, due: at, sequence: this.#sequence++, scope, run };
    push(this.#heap, task);
    return task;
  }

  /** Runs tasks until `isDone` returns true, which is checked between two tasks, or nothing is left to run. */
  drive(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      let queued = 0;
      let isOver = false;
      const step = (): void => {
        queued--;
        if (isOver) return;
        const task = isDone() ? undefined : this.#take();
        if (task === undefined) {
          isOver = true;
          this.current = undefined;
          resolve();
          return;
        }
        this.steps++;
        this.current = task.scope;
        try {
          task.run?.();
        } catch (error) {
          this.#onError(error, task.scope);
        }
        if (queued === 0) refill();
      };
      const refill = (): void => {
        for (; queued < tasksPerTurn; queued++) nextTurn(step);
      };
      refill();
    });
  }

  #take(): Task | undefined {
    for (;;) {
      const task = this.#next();
      if (task === undefined || this.#mayRun(task)) return task;
    }
  }

  #next(): Task | undefined {
    const ready = this.#ready[this.#head];
    if (ready !== undefined) {
      this.#head++;
      if (this.#head === this.#ready.length) {
        this.#ready = [];
        this.#head = 0;
      }
      return ready;
    }
    const first = pop(this.#heap);
    if (first !== undefined && first.at > this.now && first.run !== undefined && !first.scope.isDead)
      this.now = first.at;
    return first;
  }

  #mayRun(task: Task): boolean {
    const { scope } = task;
    if (task.run === undefined || scope.isDead) return false;
    if (scope.stalledUntil <= this.now) return true;
    task.at = scope.stalledUntil;
    push(this.#heap, task);
    return false;
  }
}

function isBefore(a: Task, b: Task): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.due < b.due || (a.due === b.due && a.sequence < b.sequence);
}

function push(heap: Task[], task: Task): void {
  let place = heap.length;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(task, parent)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = task;
}

function pop(heap: Task[]): Task | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let below = 2 * place + 1;
    let child = heap[below];
    if (child === undefined) break;
    const right = heap[below + 1];
    if (right !== undefined && isBefore(right, child)) {
      child = right;
      below++;
    }
    if (!isBefore(child, last)) break;
    heap[place] = child;
    place = below;
  }
  heap[place] = last;
  return first;
}
