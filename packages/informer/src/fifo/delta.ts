/** Type of a change to an object. `Replaced` is from a relist, `Sync` from a resync. Mirrors `cache.DeltaType`. */
export type DeltaType = 'Added' | 'Updated' | 'Replaced' | 'Sync' | 'Deleted';

/** An object that is there. */
export interface PresentDelta<T> {
  readonly type: Exclude<DeltaType, 'Deleted'>;
  readonly key: string;
  readonly object: T;
}

/** An object that is gone. Mirrors a `Deleted` delta, and `cache.DeletedFinalStateUnknown` in one. */
export interface DeletedDelta<T> {
  readonly type: 'Deleted';
  readonly key: string;
  /** Its last state; undefined if unknown. */
  readonly object: T | undefined;
  /** The deletion itself was not seen: `object` may be of an earlier time. */
  readonly finalStateUnknown: boolean;
}

/** One thing that happened to one object. */
export type Delta<T> = PresentDelta<T> | DeletedDelta<T>;

/** Changes to one object since it was popped last, oldest first; never empty. Mirrors `cache.Deltas`. */
export type Deltas<T> = readonly Delta<T>[];

/** A whole relist as one delta, of a queue with `atomicEvents`. Mirrors `cache.ReplacedAllInfo`. */
export interface ReplacedAllDelta<T> {
  readonly type: 'ReplacedAll';
  readonly resourceVersion: string;
  /** Everything that there is, after the transform. */
  readonly objects: readonly T[];
  /** Some objects of the list could not be read, so missing objects are not necessarily gone. */
  readonly isIncomplete: boolean;
}

/** The resync period has passed, as one delta, of a queue with `atomicEvents`. Mirrors `cache.SyncAllInfo`. */
export interface SyncAllDelta {
  readonly type: 'SyncAll';
}

/** The collection is at this version, of a queue with `emitBookmarks`. Mirrors `cache.BookmarkInfo`. */
export interface BookmarkDelta {
  readonly type: 'Bookmark';
  readonly resourceVersion: string;
}

/** Item of a queue with `atomicEvents`. */
export type AtomicDelta<T> = Delta<T> | ReplacedAllDelta<T> | SyncAllDelta | BookmarkDelta;

/** An object that only a relist shows to be gone. Mirrors `cache.DeletedFinalStateUnknown`. */
export interface Tombstone<T> {
  readonly tombstoneOf: string;
  readonly object: T | undefined;
}

/** Whether something to delete is a tombstone. */
export function isTombstone<T>(value: T | Tombstone<T>): value is Tombstone<T> {
  return typeof value === 'object' && value !== null && 'tombstoneOf' in value;
}

/**
 * Two consecutive deletions are merged into the one with more detail, or the newer of equals. Nothing else is merged,
 * so that a consumer sees each observed state.
 */
export function withoutRepeatedDeletion<T>(deltas: Delta<T>[]): Delta<T>[] {
  const newer = deltas.at(-1);
  const older = deltas.at(-2);
  if (newer?.type !== 'Deleted' || older?.type !== 'Deleted') return deltas;
  deltas.splice(-2, 2, detailOf(newer) < detailOf(older) ? older : newer);
  return deltas;
}

/** How much is known of the end of an object. */
function detailOf({ finalStateUnknown, object }: DeletedDelta<unknown>): number {
  if (!finalStateUnknown) return 2;
  return object === undefined ? 0 : 1;
}
