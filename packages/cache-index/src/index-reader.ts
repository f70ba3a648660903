import type { DeepReadonly, KubeObject, ObjectKey, Selector } from '@kctl/apimachinery';
import type { StoredObject } from './stored-object.js';

/** Which objects a list returns. */
export interface IndexListOptions {
  /** Unset: all. */
  readonly namespace?: string;
  /** Evaluates the labels; requires no parse. */
  readonly selector?: Pick<Selector, 'matches'>;
}

/**
 * The reading side of a store. Lists are ordered by namespace, then name. Objects are shared and frozen, so reads need
 * no copy and objects cannot be corrupted; take a `mutableCopy` to change one. A returned array belongs to the caller
 * and does not change with later writes.
 */
export interface IndexReader<T extends KubeObject> {
  readonly size: number;
  /** The resourceVersion of the collection that the store has reached; '' if not given. */
  readonly resourceVersion: string;
  readonly indexNames: readonly string[];
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  has(key: ObjectKey): boolean;
  list(options?: IndexListOptions): DeepReadonly<T>[];
  /** `namespace/name` of all objects. */
  listKeys(options?: IndexListOptions): string[];
  /**
   * The objects under a value of an index.
   *
   * @throws UnknownIndexError
   */
  byIndex(indexName: string, value: string, options?: IndexListOptions): DeepReadonly<T>[];
  /** The objects that share a value with this one, each once. @throws UnknownIndexError */
  index(indexName: string, object: DeepReadonly<T>): DeepReadonly<T>[];
  /**
   * The values that the store keeps, or would keep, for an object under an index, without duplicates. Computed by the
   * index's definition, also for an object that is not stored. Empty if the function fails and the store handles such
   * errors (`onIndexError`). Costs one evaluation of the definition.
   *
   * @throws UnknownIndexError; IndexFunctionError when the function fails and the store does not take it
   */
  indexValues(indexName: string, object: DeepReadonly<T>): readonly string[];
  /** `namespace/name` of the objects under a value. @throws UnknownIndexError */
  indexKeys(indexName: string, value: string): string[];
  /** All values of an index, in order; none for an unknown one, as in client-go. */
  listIndexFuncValues(indexName: string): string[];
  /** The stored form of an object, with its header available without a parse. */
  stored(key: ObjectKey): StoredObject<T> | undefined;
  /** Like {@link list}, without a parse. */
  listStored(options?: IndexListOptions): StoredObject<T>[];
  /** Like {@link byIndex}, without a parse. @throws UnknownIndexError */
  storedByIndex(indexName: string, value: string, options?: IndexListOptions): StoredObject<T>[];
  /** The objects as they are now, for as long as the snapshot is kept. */
  snapshot(): IndexSnapshot<T>;
}

/** A store as it was at one time. */
export interface IndexSnapshot<T extends KubeObject> {
  readonly size: number;
  readonly resourceVersion: string;
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  list(options?: IndexListOptions): DeepReadonly<T>[];
}
