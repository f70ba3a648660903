import type { KubeObject, Status } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index';

/** What a watch frame says. `skipped`: it could not be understood and counts for nothing. */
export type FrameKind = 'upsert' | 'delete' | 'bookmark' | 'initial-end' | 'error' | 'skipped';

/** One decoded object. The decoder reuses the instance: read it before decoding the next. */
export interface DecodedItem<T extends KubeObject> {
  stored: StoredObject<T> | undefined;
  /** Values of the store's field paths, where they were read on the way. */
  fields: readonly (string | undefined)[] | undefined;
  /** The version that the store holds, as it was found. */
  present: StoredObject<T> | undefined;
  /** The values of the field paths are those that {@link present} has. */
  hasPresentFields: boolean;
}

/** One decoded watch frame. Reused as {@link DecodedItem} is. */
export interface DecodedFrame<T extends KubeObject> extends DecodedItem<T> {
  kind: FrameKind;
  /** Of the object or the bookmark. */
  resourceVersion: string;
  /** Of an ERROR. */
  status: Status | undefined;
}

/** Finds the version that the store holds of an object. */
export type FindStored<T extends KubeObject> = (namespace: string, name: string) => StoredObject<T> | undefined;

/**
 * Turns what a ListerWatcher yields (`Raw`) into stored objects. Where the store holds the same version already, that
 * one is returned, so that an unchanged object costs neither a parse nor memory.
 */
export interface Decoder<T extends KubeObject, Raw> {
  /** An item of a list; undefined where it cannot be understood. */
  item(raw: Raw, find: FindStored<T>): DecodedItem<T> | undefined;
  /** `isLive`: an upsert replaces what `find` finds, in the same store. */
  frame(raw: Raw, find: FindStored<T>, isLive: boolean): DecodedFrame<T>;
  /** The version is in no store any more. */
  retire(stored: StoredObject<T>): void;
}

/** Hears of objects that cannot be understood; they are skipped, and the stream goes on. */
export type SkipReport = (message: string, error?: unknown) => void;

/** Reports of versions that could not be transformed. */
export const notTransformed = 'an object could not be transformed';
export const lastNotTransformed = 'the last version of a deleted object could not be transformed';

/** What tells a version of an object from all others. */
export type VersionIdentity = Readonly<Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string>>;

/**
 * A deletion whose object could not be transformed: the version that is known, under the identity of the deleted one.
 * It has to count, or what was deleted would stay in the store.
 */
export function deletedVersion<T extends KubeObject>(
  identity: VersionIdentity,
  known: StoredObject<T> | undefined,
  freeze: boolean,
): StoredObject<T> {
  if (known === undefined) return storeObject<T>({ metadata: identity } as KubeObject as T, { freeze });
  const { uid, resourceVersion } = identity;
  const object = known.object as KubeObject;
  return storeObject<T>({ ...object, metadata: { ...object.metadata, uid, resourceVersion } } as T, { freeze });
}

/** The annotation on the bookmark that ends the initial events of a watch. */
export const initialEventsEnd = 'k8s.io/initial-events-end';
