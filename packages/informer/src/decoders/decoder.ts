import type { KubeObject, Status } from '@kctl/apimachinery';
import { isJsonObject, typedStatus } from '@kctl/apimachinery/internal';
import type { StoredObject } from '@kctl/cache-index';

/** Content of a watch frame. With `failed`, its object could not be transformed. With `skipped`, it has no effect. */
export type FrameKind = 'upsert' | 'delete' | 'failed' | 'bookmark' | 'initial-end' | 'error' | 'skipped';

/** Identity of a version of an object, as the server sent it. */
export type VersionIdentity = Readonly<Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string>>;

/** An object that is not stored. */
export interface RefusedObject {
  /** If unset, it may be any object. */
  readonly identity: VersionIdentity | undefined;
}

/** One decoded object. The decoder reuses the instance, so read it before decoding the next. */
export interface DecodedItem<T extends KubeObject> {
  /** Undefined if it cannot be stored; that has been reported. */
  stored: StoredObject<T> | undefined;
  /** Values of the store's field paths, if they were read during decoding. */
  fields: readonly (string | undefined)[] | undefined;
  /** The version that the store holds, as it was found. */
  present: StoredObject<T> | undefined;
  /** The values of the field paths are those that {@link present} has. */
  hasPresentFields: boolean;
  /** The version that could not be transformed; the previous version stays. */
  failed: VersionIdentity | undefined;
  /** Whether the bytes do not even identify the object. */
  isUnreadable: boolean;
  /** Set if it states another kind, or has no identity, so it does not belong here. */
  refused: RefusedObject | undefined;
}

/** One decoded watch frame. Reused as {@link DecodedItem} is. */
export interface DecodedFrame<T extends KubeObject> extends DecodedItem<T> {
  kind: FrameKind;
  /** Whether an upsert is called ADDED. */
  isAdded: boolean;
  /** resourceVersion of the object, as sent by the server, or of the bookmark. */
  resourceVersion: string;
  /** Of an ERROR. */
  status: Status | undefined;
}

/** Finds the version that the store holds of an object. */
export type FindStored<T extends KubeObject> = (namespace: string, name: string) => StoredObject<T> | undefined;

/**
 * Turns the output of a ListerWatcher (`Raw`) into stored objects. If the store holds the same version already, that
 * one is returned, so that an unchanged object costs neither a parse nor memory.
 */
export interface Decoder<T extends KubeObject, Raw> {
  /** An item of a list. */
  item(raw: Raw, find: FindStored<T>): DecodedItem<T>;
  /**
   * `isLive`: an upsert replaces what `find` finds, in the same store.
   *
   * @throws FrameError if the content of the frame is not clear, because it may be a change, so the stream has to be
   * read again
   */
  frame(raw: Raw, find: FindStored<T>, isLive: boolean): DecodedFrame<T>;
  /** The version is no longer in any store. */
  retire(stored: StoredObject<T>): void;
}

/** Reason why an object is not stored, or not read. The label `reason` of `informer_skipped_objects_total`. */
export type SkipReason = 'unreadable' | 'wrong-kind' | 'no-identity' | 'transform';

/** An object that is skipped. */
export interface Skip {
  readonly reason: SkipReason;
  readonly message: string;
  readonly error?: unknown;
  /** `namespace/name`, if known. */
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

/** Returns the result of a frame with an object, once the object was decoded. */
export function settleFrame<T extends KubeObject>(frame: DecodedFrame<T>, isDelete: boolean): DecodedFrame<T> {
  const { stored, failed } = frame;
  if (stored !== undefined) frame.kind = isDelete ? 'delete' : 'upsert';
  else if (failed !== undefined) frame.kind = 'failed';
  frame.resourceVersion = (stored ?? failed)?.resourceVersion ?? '';
  return frame;
}

const statusFields = ['kind', 'apiVersion', 'metadata', 'status', 'reason', 'message', 'code', 'details'];

/**
 * The status of an ERROR event. Of an object, only the fields of a Status, and nothing of other values, because it may
 * be a part of a Secret, and reaches logs and health checks.
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
