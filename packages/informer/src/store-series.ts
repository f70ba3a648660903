import type { KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import type { Series } from '@kctl/delivery';
import { KeyMap } from '@kctl/delivery';
import { Change } from './change.js';

/** A store that is read step by step while it changes. */
export interface SeriesSource<T extends KubeObject> {
  readonly size: number;
  /** Whether the store is ahead of what was offered to the handlers. */
  readonly isAhead: boolean;
  /** Everything that is stored, in no order, one by one. */
  versions(): Iterable<StoredObject<T>>;
  present(version: StoredObject<T>): StoredObject<T> | undefined;
}

/** A walk through a store. */
class Walk<T extends KubeObject> {
  readonly #versions: Iterator<StoredObject<T>>;
  #left: number;
  #isDone: boolean;

  constructor(source: SeriesSource<T>) {
    this.#versions = source.versions()[Symbol.iterator]();
    this.#left = source.size;
    this.#isDone = source.size === 0;
  }

  /** At least 1 until the end is found. */
  get left(): number {
    return this.#isDone ? 0 : Math.max(1, this.#left);
  }

  next(): StoredObject<T> | undefined {
    const result = this.#versions.next();
    this.#left--;
    if (result.done !== true) return result.value;
    this.#isDone = true;
    return undefined;
  }
}

/**
 * Delivers what is stored at a moment, step by step while the store changes. Where an object changes before its turn, the
 * version before the change is kept. It retains that, and the keys that were delivered, while it lasts.
 */
export class StoreSeries<T extends KubeObject> implements Series<Change<T>> {
  readonly #walk: Walk<T>;
  readonly #make: (version: StoredObject<T>) => Change<T>;
  readonly #told = new KeyMap<true>();
  /** By key, what was stored at that moment; undefined where nothing was. */
  readonly #before = new KeyMap<StoredObject<T> | undefined>();
  #gone: Iterator<[string, StoredObject<T> | undefined]> | undefined;
  #isDone = false;

  constructor(source: SeriesSource<T>, make: (version: StoredObject<T>) => Change<T>) {
    this.#make = make;
    this.#walk = new Walk(source);
    this.#isDone = this.#walk.left === 0;
  }

  get left(): number {
    return this.#isDone ? 0 : Math.max(1, this.#walk.left);
  }

  /** A change that is offered to the handler: it follows the version from which it starts. */
  note({ type, key, previous }: Change<T>): void {
    if (!this.#told.has(key) && !this.#before.has(key)) this.#before.set(key, type === 'add' ? undefined : previous);
  }

  next(): Change<T> | undefined {
    const version = this.#walk.next();
    if (version === undefined) return this.#nextGone();
    const key = formatKey(version);
    return this.#tell(key, this.#before.has(key) ? this.#before.get(key) : version);
  }

  /** Of objects that were deleted before the walk came to them. */
  #nextGone(): Change<T> | undefined {
    this.#gone ??= this.#before.entries();
    const result = this.#gone.next();
    this.#isDone = result.done === true;
    return result.done === true ? undefined : this.#tell(...result.value);
  }

  #tell(key: string, version: StoredObject<T> | undefined): Change<T> | undefined {
    if (this.#told.has(key)) return undefined;
    this.#told.set(key, true);
    return version === undefined ? undefined : this.#make(version);
  }
}

/** For a handler that joins. */
export function initialAdd<T extends KubeObject>(version: StoredObject<T>): Change<T> {
  return new Change('add', version, undefined, initialFlags);
}

const initialFlags = { isInInitialList: true };

/**
 * Hands out the objects of a store again, each in its newest version, between the changes that wait. An object with a
 * change that waits is skipped: the change says more. It pauses while the store is ahead of the handlers.
 */
export function resyncOf<T extends KubeObject>(source: SeriesSource<T>): Series<Change<T>> {
  const walk = new Walk(source);
  return {
    get left() {
      return walk.left;
    },
    get isPaused() {
      return source.isAhead;
    },
    next: (isWaiting) => {
      const version = walk.next();
      if (version === undefined || isWaiting(formatKey(version))) return undefined;
      const present = source.present(version);
      return present === undefined ? undefined : resync(present);
    },
  };
}

/** For a handler that has the version. */
export function resync<T extends KubeObject>(version: StoredObject<T>): Change<T> {
  return new Change('update', version, version, { isResync: true });
}
