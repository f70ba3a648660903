import type { DeepReadonly, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import type { IndexFunctionError } from './errors.js';
import type { IndexDefinition } from './index-definition.js';
import type { IndexReader } from './index-reader.js';
import type { StoredObject } from './stored-object.js';

/** A store that can be written to. Every method is synchronous, so no reader ever sees a half-done write. */
export interface Indexer<T extends KubeObject> extends IndexReader<T> {
  /**
   * Adds or replaces an object, which belongs to the store from now on. The object is frozen and shares unchanged parts
   * with the previous version. The store's resourceVersion becomes the object's.
   *
   * @returns the object as it is stored
   * @throws TypeError for an object without a name; IndexFunctionError when an index function fails, with nothing changed
   */
  put(object: T | DeepReadonly<T>): DeepReadonly<T>;
  /** Removes an object. @returns the stored object; undefined if there was none */
  delete(key: ObjectKey): DeepReadonly<T> | undefined;
  /** Replaces everything at once. @throws as {@link put}; nothing has changed then */
  replace(objects: Iterable<T | DeepReadonly<T>>, resourceVersion: string): void;
  /** Notes that the collection is at this version, with nothing changed. */
  bookmark(resourceVersion: string): void;
  /**
   * Adds indexes; objects that are there already are indexed at once.
   *
   * @throws IndexConflictError when a name is taken, IndexFunctionError when a function fails, TypeError when a
   * definition is not valid; nothing is added then
   */
  addIndexers(indexers: Readonly<Record<string, IndexDefinition<T>>>): void;
  /** Like {@link put}, for an object that may not be parsed yet. @returns the version before */
  putStored(stored: StoredObject<T>, write?: StoredWrite): StoredObject<T> | undefined;
  /** Like {@link delete}, without a parse. `resourceVersion` becomes the store's if given. */
  deleteStored(key: ObjectKey, resourceVersion?: string): StoredObject<T> | undefined;
  /** The paths that {@link StoredWrite.fields} are the values of; undefined if no index declares one. */
  readonly fieldPaths: FieldPaths | undefined;
  /**
   * All stored objects, in no order, one by one. The reader may take its time. Objects written meanwhile may or may not
   * be seen; after a replacement the remaining objects are from the previous content.
   */
  values(): Iterable<StoredObject<T>>;
  /** Begins a replacement that is filled step by step and becomes visible when it is committed. */
  beginReplace(): Replacement<T>;
}

/** Results that the caller of `putStored` has computed already. */
export interface StoredWrite {
  /** Values of {@link Indexer.fieldPaths}, in their order. */
  readonly fields?: readonly (string | undefined)[];
  /** Instead of `fields`: they are those of the version that is there. */
  readonly hasPresentFields?: boolean;
}

/** A store in the making. Dropping it changes nothing. */
export interface Replacement<T extends KubeObject> {
  readonly size: number;
  stored(key: ObjectKey): StoredObject<T> | undefined;
  put(stored: StoredObject<T>, write?: StoredWrite): StoredObject<T> | undefined;
  delete(key: ObjectKey): StoredObject<T> | undefined;
  /** Everything put so far, in no order. */
  all(): StoredObject<T>[];
  /**
   * Becomes the store's content, in one step.
   *
   * @returns what the store held before
   * @throws Error when another replacement was committed since it began
   */
  commit(resourceVersion: string): ReplacedContent<T>;
}

/** The content of a store before it was replaced. */
export interface ReplacedContent<T extends KubeObject> {
  readonly size: number;
  stored(key: ObjectKey): StoredObject<T> | undefined;
  /** In no order. */
  all(): StoredObject<T>[];
  /** The same, one by one. The reader may take its time. */
  values(): Iterable<StoredObject<T>>;
}

/** Options of {@link createIndexer}. */
export interface IndexerOptions<T extends KubeObject> {
  readonly indexers?: Readonly<Record<string, IndexDefinition<T>>>;
  /** Freezes stored objects. false favors speed, without protection from changes. @default true */
  readonly freeze?: boolean;
  /**
   * Receives what an index function throws; the object is then stored without values for that index.
   *
   * @default the write throws
   */
  readonly onIndexError?: (error: IndexFunctionError) => void;
  /**
   * Receives what reading a stored object throws during a list (see {@link StoredObject.object}); the list leaves the
   * object out.
   *
   * @default the list throws
   */
  readonly onUnreadable?: (error: unknown) => void;
}
