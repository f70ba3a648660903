import type { Kind, KubeObject, Status } from '@kctl/apimachinery';
import type { WatchEvent } from '@kctl/client';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index';
import { dropManagedFields, isObject } from './byte-decoder.js';
import type { DecodedFrame, DecodedItem, Decoder, FindStored, SkipReport } from './decoder.js';
import { deletedVersion, lastNotTransformed, notTransformed } from './decoder.js';

/** What {@link ObjectDecoder} takes. */
export interface ObjectDecoderOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly freeze: boolean;
  readonly keepManagedFields: boolean;
  readonly transform: ((object: T) => T) | undefined;
  readonly onSkip: SkipReport;
}

/** Takes objects that were parsed by the ListerWatcher. They belong to the informer from now on. */
export class ObjectDecoder<T extends KubeObject> implements Decoder<T, T | WatchEvent<T>> {
  readonly #options: ObjectDecoderOptions<T>;
  readonly #frame: DecodedFrame<T> = {
    kind: 'skipped',
    stored: undefined,
    fields: undefined,
    present: undefined,
    hasPresentFields: false,
    resourceVersion: '',
    status: undefined,
  };
  readonly #item: DecodedItem<T> = {
    stored: undefined,
    fields: undefined,
    present: undefined,
    hasPresentFields: false,
  };

  constructor(options: ObjectDecoderOptions<T>) {
    this.#options = options;
  }

  item(raw: T | WatchEvent<T>, find: FindStored<T>): DecodedItem<T> | undefined {
    const item = this.#item;
    item.stored = isWatchEvent(raw) ? undefined : this.#store(raw, { find, isDelete: false }, item);
    return item.stored === undefined ? undefined : item;
  }

  frame(raw: T | WatchEvent<T>, find: FindStored<T>): DecodedFrame<T> {
    const frame = this.#frame;
    frame.kind = 'skipped';
    frame.stored = undefined;
    frame.present = undefined;
    frame.resourceVersion = '';
    if (!isWatchEvent<T>(raw)) return frame;
    switch (raw.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        frame.stored = this.#store(raw.object, { find, isDelete: raw.type === 'DELETED' }, frame);
        if (frame.stored === undefined) return frame;
        frame.kind = raw.type === 'DELETED' ? 'delete' : 'upsert';
        frame.resourceVersion = frame.stored.resourceVersion;
        return frame;
      case 'BOOKMARK':
        frame.kind = raw.initialEventsEnd ? 'initial-end' : 'bookmark';
        frame.resourceVersion = raw.resourceVersion;
        return frame;
      case 'ERROR':
        frame.kind = 'error';
        frame.status = statusOf(raw.status);
        return frame;
      default:
        this.#options.onSkip('a watch event is of an unknown type');
        return frame;
    }
  }

  retire(_stored: StoredObject<T>): void {
    // Parsed objects are the garbage collector's.
  }

  #store(object: T, { find, isDelete }: Purpose<T>, into: DecodedItem<T>): StoredObject<T> | undefined {
    const { kind, transform, keepManagedFields, freeze, onSkip } = this.#options;
    if (!isObject(object)) {
      onSkip('an object has no metadata.name');
      return undefined;
    }
    if (kind.shape !== 'metadata' && object.kind !== undefined && object.kind !== kind.kind) {
      onSkip(`an object is a ${object.kind}, not a ${kind.kind}`);
      return undefined;
    }
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = object.metadata;
    const present = isDelete ? undefined : find(namespace, name);
    into.present = present;
    if (present !== undefined && present.resourceVersion === resourceVersion && resourceVersion !== '') return present;
    try {
      const kept = keepManagedFields ? object : dropManagedFields(object);
      const transformed = transform === undefined ? kept : transform(kept);
      return storeObject<T>(transformed, { freeze, previous: present?.object });
    } catch (error) {
      onSkip(isDelete ? lastNotTransformed : notTransformed, error);
      if (!isDelete) return undefined;
      return deletedVersion({ namespace, name, uid, resourceVersion }, find(namespace, name), freeze);
    }
  }
}

/** What an object is decoded for. */
interface Purpose<T extends KubeObject> {
  readonly find: FindStored<T>;
  /** Whether it was deleted: what `find` finds is no version before it. */
  readonly isDelete: boolean;
}

function isWatchEvent<T extends KubeObject>(raw: T | WatchEvent<T>): raw is WatchEvent<T> {
  return 'type' in raw && ('object' in raw || 'status' in raw || 'initialEventsEnd' in raw) && !('metadata' in raw);
}

function statusOf(status: Status | undefined): Status {
  return (
    status ?? {
      kind: 'Status',
      status: 'Failure',
      reason: 'InternalError',
      code: 500,
      message: 'an ERROR event without a status',
    }
  );
}
