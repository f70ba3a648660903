import type { KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import type { Series } from '@kctl/delivery';
import { KeyMap } from '@kctl/delivery/internal';
import { Change } from './change.js';

/** Versions that are read one by one, in no order. */
export interface Content<T extends KubeObject> {
  readonly size: number;
  values(): Iterable<StoredObject<T>>;
}

/** A store that is read step by step while it changes. */
export interface SeriesSource<T extends KubeObject> extends Content<T> {
  /** Whether the store is ahead of what was offered to the handlers. */
  readonly isAhead: boolean;
  present(version: StoredObject<T>): StoredObject<T> | undefined;
}

/** A walk through a store, or what was one. */
class Walk<T extends KubeObject> {
  readonly #versions: Iterator<StoredObject<T>>;
  #left: number;
  #isDone: boolean;

  constructor(content: Content<T>) {
    this.#versions = content.values()[Symbol.iterator]();
    this.#left = content.size;
    this.#isDone = content.size === 0;
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
 * Delivers the objects stored at a moment, step by step while the store changes. If an object changes before its turn,
 * the version before the change is kept. While it lasts, it retains these versions and the names of delivered objects.
 */
export class StoreSeries<T extends KubeObject> implements Series<Change<T>> {
  readonly #walk: Walk<T>;
  readonly #make: (version: StoredObject<T>) => Change<T>;
  readonly #delivered = new NamedObjects();
  /** The content of that moment for objects that have changed since. */
  readonly #before = new KeyMap<Noted<T>>();
  #gone: Iterator<[string, Noted<T>]> | undefined;
  #isDone = false;

  constructor(content: Content<T>, make: (version: StoredObject<T>) => Change<T>) {
    this.#make = make;
    this.#walk = new Walk(content);
    this.#isDone = this.#walk.left === 0;
  }

  get left(): number {
    return this.#isDone ? 0 : Math.max(1, this.#walk.left);
  }

  /** A change that is offered to the handler; it follows the version from which it starts. */
  note({ key, current, previous }: Change<T>): void {
    if (!this.#before.has(key) && !this.#delivered.has(current))
      this.#before.set(key, { key: current, version: previous });
  }

  next(): Change<T> | undefined {
    const version = this.#walk.next();
    if (version === undefined) return this.#nextGone();
    const noted = this.#before.size === 0 ? undefined : this.#before.get(formatKey(version));
    return this.#deliver(noted ?? { key: version, version });
  }

  /** Of objects that were deleted before the walk came to them. */
  #nextGone(): Change<T> | undefined {
    this.#gone ??= this.#before.entries();
    const result = this.#gone.next();
    this.#isDone = result.done === true;
    return result.done === true ? undefined : this.#deliver(result.value[1]);
  }

  #deliver({ key, version }: Noted<T>): Change<T> | undefined {
    if (!this.#delivered.add(key)) return undefined;
    return version === undefined ? undefined : this.#make(version);
  }
}

interface Noted<T extends KubeObject> {
  readonly key: Key;
  /** Undefined if there was no stored version. */
  readonly version: StoredObject<T> | undefined;
}

type Key = Pick<StoredObject<KubeObject>, 'namespace' | 'name'>;

/** Objects by name and namespace. The strings are those of the store, so that a key takes no additional memory. */
class NamedObjects {
  readonly #namespaces = new KeyMap<string | Set<string>>();

  has({ namespace, name }: Key): boolean {
    const known = this.#namespaces.get(name);
    return typeof known === 'object' ? known.has(namespace) : known === namespace;
  }

  /** False if it exists already. */
  add({ namespace, name }: Key): boolean {
    const known = this.#namespaces.get(name);
    if (known === undefined) this.#namespaces.set(name, namespace);
    else if (typeof known === 'object') {
      if (known.has(namespace)) return false;
      known.add(namespace);
    } else {
      if (known === namespace) return false;
      this.#namespaces.set(name, new Set([known, namespace]));
    }
    return true;
  }
}

/** For the handlers of a store that was left with this content. */
export function leftScopeOf<T extends KubeObject>(content: Content<T>): Series<Change<T>> {
  const walk = new Walk(content);
  return {
    get left() {
      return walk.left;
    },
    next: () => {
      const version = walk.next();
      return version === undefined ? undefined : new Change('delete', version, version, leftFlags);
    },
  };
}

const leftFlags = { leftScope: true };

/** For a handler that joins. */
export function initialAdd<T extends KubeObject>(version: StoredObject<T>): Change<T> {
  return new Change('add', version, undefined, initialFlags);
}

const initialFlags = { isInInitialList: true };

/**
 * Delivers the objects of a store again, each in its newest version, between the waiting changes. An object with a
 * waiting change is skipped, because the change has more detail. It pauses while the store is ahead of the handlers.
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
