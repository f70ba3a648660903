/**
 * Objects by key, without indexes, fed by a reflector and read by a consumer. Mirrors `cache.Store`. Every method is
 * synchronous. Objects are kept as given, neither copied nor frozen.
 */
export interface Store<T> {
  /** How many objects there are. */
  readonly size: number;
  /** Puts an object, whether or not its key exists; so does {@link update}. @throws TypeError if it has no key */
  add(object: T): void;
  update(object: T): void;
  /** Removes the object of the same key. Of the one given nothing else matters. */
  delete(object: T): void;
  /** Replaces everything, or nothing if an object has no key. */
  replace(objects: readonly T[], resourceVersion?: string): void;
  /** The object of a key such as `namespace/name`. Mirrors `GetByKey`. */
  get(key: string): T | undefined;
  /** In the order in which they were put. */
  list(): T[];
  /** Mirrors `ListKeys`. */
  keys(): string[];
}

/** Options of {@link createStore}. */
export interface StoreOptions<T> {
  /** Identity of objects. @default {@link metaNamespaceKey} */
  readonly key?: (object: T) => string;
}
