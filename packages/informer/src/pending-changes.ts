import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { Change } from './change.js';

/** What waits for a handler, of one object: what it saw last, and what there is now. */
interface PendingRecord<T extends KubeObject> {
  /** The version that the handler saw last; undefined where it knows of no such object. */
  seen: StoredObject<T> | undefined;
  /** The deletion that it has not heard of, where it saw an object that is gone. */
  deletion: Change<T> | undefined;
  /** The newest change that leaves an object. */
  latest: Change<T> | undefined;
  /** Whether an initial add is among what was merged. */
  isInitial: boolean;
}

/** Changes that wait for a handler, in order of their first arrival. */
export interface PendingChanges<T extends KubeObject> {
  readonly size: number;
  add(change: Change<T>): void;
  /** The next changes to deliver (of one object, one or two); undefined where nothing waits. */
  take(): PendingBatch<T> | undefined;
  clear(): void;
}

/** What `take` hands out. */
export interface PendingBatch<T extends KubeObject> {
  readonly changes: readonly Change<T>[];
  /** How many initial adds this settles. */
  readonly initial: number;
}

/**
 * Merges the changes of each object, so that what waits is bounded by the number of objects. Whatever is merged, the
 * handler sees a legal history: add before update, update from what it saw, a delete for each object that it saw go.
 */
export class CoalescedChanges<T extends KubeObject> implements PendingChanges<T> {
  readonly #records = new Map<string, PendingRecord<T>>();
  /** Initial adds whose objects were gone before the handler heard of them. */
  #settled = 0;

  get size(): number {
    return this.#records.size;
  }

  add(change: Change<T>): void {
    const { key } = change;
    let record = this.#records.get(key);
    if (record === undefined) {
      const seen = change.type === 'add' ? undefined : (change.previous ?? change.current);
      record = { seen, deletion: undefined, latest: undefined, isInitial: false };
      this.#records.set(key, record);
    }
    if (change.type === 'delete') {
      if (record.seen !== undefined) record.deletion ??= change;
      // An object that came back and went again, unseen: the deletion that waits is the one to tell, with its newest state.
      if (record.latest === undefined && record.seen !== undefined) record.deletion = change;
      record.latest = undefined;
      if (record.seen === undefined) {
        if (record.isInitial) this.#settled++;
        this.#records.delete(key);
      }
    } else {
      if (change.isInInitialList) {
        // It came again behind a delete that still waits: what is told once settles both.
        if (record.isInitial) this.#settled++;
        record.isInitial = true;
      }
      // A resync says nothing new to somebody who still has the change itself before him.
      if (!(change.isResync && record.latest !== undefined)) record.latest = change;
    }
  }

  take(): PendingBatch<T> | undefined {
    for (const [key, record] of this.#records) {
      this.#records.delete(key);
      const initial = (record.isInitial ? 1 : 0) + this.#takeSettled();
      return { changes: changesOf(record), initial };
    }
    const settled = this.#takeSettled();
    return settled === 0 ? undefined : { changes: [], initial: settled };
  }

  clear(): void {
    this.#records.clear();
    this.#settled = 0;
  }

  #takeSettled(): number {
    const settled = this.#settled;
    this.#settled = 0;
    return settled;
  }
}

function changesOf<T extends KubeObject>({ seen, deletion, latest, isInitial }: PendingRecord<T>): Change<T>[] {
  if (deletion !== undefined) {
    if (latest === undefined) return [deletion];
    return [deletion, new Change('add', latest.current, undefined, { isInInitialList: isInitial })];
  }
  if (latest === undefined) return [];
  if (seen === undefined)
    return [
      latest.type === 'add' && latest.isInInitialList === isInitial
        ? latest
        : new Change('add', latest.current, undefined, { isInInitialList: isInitial }),
    ];
  return [
    latest.type === 'update' && latest.previous === seen
      ? latest
      : new Change('update', latest.current, seen, { isResync: latest.isResync }),
  ];
}

/** Keeps every change, in order of arrival: unbounded, for handlers that ask for it. */
export class QueuedChanges<T extends KubeObject> implements PendingChanges<T> {
  #queue: Change<T>[] = [];
  #head = 0;

  get size(): number {
    return this.#queue.length - this.#head;
  }

  add(change: Change<T>): void {
    this.#queue.push(change);
  }

  take(): PendingBatch<T> | undefined {
    const change = this.#queue[this.#head];
    if (change === undefined) return undefined;
    this.#head++;
    if (this.#head * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return { changes: [change], initial: change.isInInitialList ? 1 : 0 };
  }

  clear(): void {
    this.#queue = [];
    this.#head = 0;
  }
}
