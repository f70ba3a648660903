import { compareResourceVersions } from '@kctl/apimachinery';
import type { DeepReadonly, KindShape, KubeObject, ObjectKey } from '@kctl/apimachinery';

/** What an own write left behind, as far as it is known. */
type Outcome =
  /** The object as the server answered: of this apiVersion, whole unless only metadata was asked for. */
  | {
      readonly type: 'present';
      readonly object: DeepReadonly<KubeObject>;
      readonly apiVersion: string;
      readonly shape: KindShape;
    }
  /** The object is gone, or where the cache does not look. */
  | { readonly type: 'absent' }
  /** Nobody read what it is now: the server must be asked. */
  | { readonly type: 'unread' };

/** One own write that the cache may not have seen yet. */
export interface OwnWrite {
  readonly key: ObjectKey;
  readonly outcome: Outcome;
  /** The version at which the outcome holds; '' where it is not known. */
  readonly version: string;
  /** A version at which the object still existed; for a delete, whose own version nobody tells. '' where unknown. */
  readonly floor: string;
  readonly uid: string;
  /** Monotonic time in ms. */
  readonly recordedAt: number;
}

/** What a store shows for the key of a write. */
export interface StoreSight {
  /** The version that the store had reached before it was asked. */
  readonly storeVersion: string;
  /** What it then had; undefined: nothing. */
  readonly cached: DeepReadonly<KubeObject> | undefined;
}

/**
 * Whether a store has caught up with a write, so that what it shows is as new or newer. Everything that cannot be
 * compared counts as not caught up.
 */
export function isSuperseded(write: OwnWrite, { storeVersion, cached }: StoreSight): boolean {
  const { version } = write;
  if (version !== '')
    return isAtLeast(storeVersion, version) || (cached !== undefined && isAtLeast(versionOf(cached), version));
  if (write.outcome.type !== 'absent' || write.floor === '') return false;
  if (cached === undefined) return isAtLeast(storeVersion, write.floor);
  return write.uid !== '' && cached.metadata.uid !== write.uid && isNewer(versionOf(cached), write.floor);
}

/** Whether it is a delete whose own version nobody told. */
export function isTombstone({ outcome, version }: OwnWrite): boolean {
  return outcome.type === 'absent' && version === '';
}

/** Whether `later` is to replace `earlier`, where their answers may have come out of order. */
export function replaces(later: OwnWrite, earlier: OwnWrite): boolean {
  if (later.outcome.type === 'unread' && later.version === '') return true;
  const at = later.version === '' ? later.floor : later.version;
  const before = earlier.version === '' ? earlier.floor : earlier.version;
  const isOfDeleted = earlier.outcome.type === 'absent' && earlier.uid !== '' && earlier.uid === later.uid;
  if (isOfDeleted && later.outcome.type !== 'absent') return false;
  if (later.outcome.type === 'absent' && later.version === '')
    return earlier.uid === '' || later.uid === '' || earlier.uid === later.uid || !isNewer(before, at);
  return !isNewer(before, at);
}

/** Whether `a` is equal to or newer than `b`, known for sure. */
export function isAtLeast(a: string, b: string): boolean {
  if (a === b) return a !== '';
  return isNewer(a, b);
}

/** Whether `a` is newer than `b`, known for sure. */
export function isNewer(a: string, b: string): boolean {
  return compareResourceVersions(a, b) === 'newer';
}

/** Whether versions of this server can be compared at all. */
export function isComparable(version: string): boolean {
  return compareResourceVersions(version, version) === 'equal';
}

/** The version of an object, '' where it has none. */
export function versionOf(object: DeepReadonly<KubeObject>): string {
  return object.metadata.resourceVersion ?? '';
}
