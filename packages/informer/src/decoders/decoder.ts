import type { KubeObject, Status } from '@kctl/apimachinery';
import { isJsonObject, typedStatus } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';

/** What a watch frame says. `failed`: its object could not be transformed. `skipped`: it counts for nothing. */
export type FrameKind = 'upsert' | 'delete' | 'failed' | 'bookmark' | 'initial-end' | 'error' | 'skipped';

/** What identifies a version of an object, as the server sent it. */
export type VersionIdentity = Readonly<Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string>>;

/** An object that is not stored. */
export interface RefusedObject {
  /** Where it has none, it may be any object. */
  readonly identity: VersionIdentity | undefined;
}

/** One decoded object. The decoder reuses the instance: read it before decoding the next. */
export interface DecodedItem<T extends KubeObject> {
  /** Undefined where it cannot be stored; that has been reported. */
  stored: StoredObject<T> | undefined;
  /** Values of the store's field paths, where they were read on the way. */
  fields: readonly (string | undefined)[] | undefined;
  /** The version that the store holds, as it was found. */
  present: StoredObject<T> | undefined;
  /** The values of the field paths are those that {@link present} has. */
  hasPresentFields: boolean;
  /** Which version could not be transformed: the previous version stays. */
  failed: VersionIdentity | undefined;
  /** Whether the bytes do not even say which object it is. */
  isUnreadable: boolean;
  /** Set where it states another kind, or has no identity: it does not belong here. */
  refused: RefusedObject | undefined;
}

/** One decoded watch frame. Reused as {@link DecodedItem} is. */
export interface DecodedFrame<T extends KubeObject> extends DecodedItem<T> {
  kind: FrameKind;
  /** Whether an upsert is called ADDED. */
  isAdded: boolean;
  /** Of the object, as the server says it, or of the bookmark. */
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
  /** An item of a list. */
  item(raw: Raw, find: FindStored<T>): DecodedItem<T>;
  /**
   * `isLive`: an upsert replaces what `find` finds, in the same store.
   *
   * @throws FrameError where it is not clear what the frame says: it may be a change, so the stream has to be read again
   */
  frame(raw: Raw, find: FindStored<T>, isLive: boolean): DecodedFrame<T>;
  /** The version is no longer in any store. */
  retire(stored: StoredObject<T>): void;
}

/** Why an object is not stored, or not read: the label `reason` of `informer_skipped_objects_total`. */
export type SkipReason = 'unreadable' | 'wrong-kind' | 'no-identity' | 'transform';

/** An object that is skipped. */
export interface Skip {
  readonly reason: SkipReason;
  readonly message: string;
  readonly error?: unknown;
  /** `namespace/name`, where it is known. */
  readonly key?: string;
}

/** Receives each object that is skipped; the stream goes on. */
export type SkipReport = (skip: Skip) => void;

/** An item to fill. */
export function createDecodedItem<T extends KubeObject>(): DecodedItem<T> {
  return {
    stored: undefined,
    fields: undefined,
    present: undefined,
    hasPresentFields: false,
    failed: undefined,
    isUnreadable: false,
    refused: undefined,
  };
}

/** A frame to fill. */
export function createDecodedFrame<T extends KubeObject>(): DecodedFrame<T> {
  return { ...createDecodedItem<T>(), kind: 'skipped', isAdded: false, resourceVersion: '', status: undefined };
}

/** Empties an item. */
export function clearItem<T extends KubeObject>(item: DecodedItem<T>): void {
  item.stored = undefined;
  item.fields = undefined;
  item.present = undefined;
  item.hasPresentFields = false;
  item.failed = undefined;
  item.isUnreadable = false;
  item.refused = undefined;
}

/** Empties a frame. */
export function clearFrame<T extends KubeObject>(frame: DecodedFrame<T>): void {
  clearItem(frame);
  frame.kind = 'skipped';
  frame.isAdded = false;
  frame.resourceVersion = '';
  frame.status = undefined;
}

/** Says what a frame with an object comes to, once the object was decoded. */
export function settleFrame<T extends KubeObject>(frame: DecodedFrame<T>, isDelete: boolean): DecodedFrame<T> {
  const { stored, failed } = frame;
  if (stored !== undefined) frame.kind = isDelete ? 'delete' : 'upsert';
  else if (failed !== undefined) frame.kind = 'failed';
  frame.resourceVersion = (stored ?? failed)?.resourceVersion ?? '';
  return frame;
}

const statusFields = ['kind', 'apiVersion', 'metadata', 'status', 'reason', 'message', 'code', 'details'];

/**
 * The status that an ERROR carries: of an object, the fields of a Status alone, and nothing of anything else. It may be a
 * part of a Secret, and reaches logs and health checks.
 */
export function statusOf(value: unknown): Status {
  if (isJsonObject(value))
    return typedStatus(Object.fromEntries(Object.entries(value).filter(([field]) => statusFields.includes(field))));
  const size = typeof value === 'string' ? `, but a string of ${value.length} characters` : '';
  return unreadableStatus(`an ERROR event without a status${size}`);
}

/** The status of an ERROR that cannot be read. */
export function unreadableStatus(message: string): Status {
  return { kind: 'Status', status: 'Failure', reason: 'InternalError', code: 500, message };
}

/** The annotation on the bookmark that ends the initial events of a watch. */
export const initialEventsEnd = 'k8s.io/initial-events-end';
