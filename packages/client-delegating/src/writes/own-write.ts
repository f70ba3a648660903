import { compareResourceVersions, isDeleting } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KindShape, KubeObject, ObjectKey } from '@kctl/apimachinery';

/** The outcome of an own write, or the server's answer, as far as it is known. */
type Outcome =
  /** The object as the server answered, of this apiVersion, and whole unless only metadata was requested. */
  | {
      readonly type: 'present';
      readonly object: DeepReadonly<KubeObject>;
      readonly apiVersion: string;
      readonly shape: KindShape;
    }
  /** The object is gone. `within` limits this to the scope of this store; others must be queried separately. */
  | { readonly type: 'absent'; readonly within?: string }
  /** The present state has not been read, so the server must be queried. */
  | { readonly type: 'unread' };

/** One known fact about an object that the cache may not have seen yet, most often an own write. */
export interface OwnWrite {
  readonly key: ObjectKey;
  readonly outcome: Outcome;
  /** The version at which the outcome holds; '' if it is not known. */
  readonly version: string;
  /**
   * The last version at which the object was observed, for a deletion whose version is not known and that has ended the
   * object or only begun; a store has to be past it. '' otherwise.
   */
  readonly observedVersion: string;
  readonly uid: string;
  /** Monotonic time in ms. */
  readonly recordedAt: number;
  /** Whether it was read from the server instead of written, in which case it may expire without loss. */
  readonly isLearned?: boolean;
}

/** A write before it is recorded. */
export type Fact = Omit<OwnWrite, 'recordedAt'>;

/** View of a store for the key of a write. */
export interface ObservedStore {
  /** The version that the store had reached before it was read. */
  readonly storeVersion: string;
  /** The object that it then had; undefined if there was none. */
  readonly cached: DeepReadonly<KubeObject> | undefined;
}

/** Whether a store at this version has caught up with a write, whatever it has under its key. */
export function isPast({ version }: Pick<OwnWrite, 'version'>, storeVersion: string): boolean {
  return version !== '' && isAtLeast(storeVersion, version);
}

/**
 * Whether a store has caught up with a write, so that what it shows is as new or newer. Everything that cannot be
 * compared counts as not caught up.
 */
export function isSuperseded(write: OwnWrite, { storeVersion, cached }: ObservedStore): boolean {
  const { version, observedVersion, uid, outcome } = write;
  if (version !== '')
    return isPast(write, storeVersion) || (cached !== undefined && isAtLeast(versionOf(cached), version));
  if (observedVersion === '') return false;
  // A store that was past the object and does not have it has seen its end.
  if (cached === undefined) return isAtLeast(storeVersion, observedVersion);
  if (cached.metadata.uid !== uid) return uid !== '' && isNewer(versionOf(cached), observedVersion);
  // That it has begun is seen. If its end is up to a grace period, the delete may have cut that short.
  const isHeld = isDeleting(cached) && (cached.metadata.deletionGracePeriodSeconds ?? 0) === 0;
  return outcome.type === 'unread' && isHeld && isNewer(versionOf(cached), observedVersion);
}

/**
 * Reports whether only the object shows that a store has caught up, because the end of the object has no known version.
 */
export function needsLook({ version, observedVersion }: OwnWrite): boolean {
  return version === '' && observedVersion !== '';
}

/** Whether what is remembered is not enough to answer a read of this kind. */
export function needsReading(kind: Kind, { outcome, version }: OwnWrite): boolean {
  if (outcome.type === 'unread') return true;
  if (version !== '' && !isComparable(version)) return true;
  if (outcome.type === 'absent') return outcome.within !== undefined && outcome.within !== storeName(kind);
  return outcome.apiVersion !== kind.apiVersion || (outcome.shape === 'metadata' && kind.shape !== 'metadata');
}

/** Reports whether `later` is to replace `earlier`, since their answers may have arrived out of order. */
export function replaces(later: OwnWrite, earlier: OwnWrite): boolean {
  if (later.outcome.type === 'unread' && later.version === '') return true;
  const at = later.version === '' ? later.observedVersion : later.version;
  const before = earlier.version === '' ? earlier.observedVersion : earlier.version;
  const isOfDeleted = earlier.outcome.type === 'absent' && earlier.uid !== '' && earlier.uid === later.uid;
  if (isOfDeleted && later.outcome.type !== 'absent') return false;
  if (later.outcome.type === 'absent' && later.version === '')
    return earlier.uid === '' || later.uid === '' || earlier.uid === later.uid || !isNewer(before, at);
  return !isNewer(before, at);
}

/** One store among those of a group and kind. */
export function storeName({ version, shape }: Kind): string {
  return `${version} ${shape}`;
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

/** The version of an object, '' if it has none. */
export function versionOf(object: DeepReadonly<KubeObject>): string {
  return object.metadata.resourceVersion ?? '';
}
