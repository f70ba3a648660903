import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index/internal';
import { Acceptance, isRefusal } from './acceptance.js';
import { datesAsText } from './dates.js';
import type { DecodedItem, FindStored, SkipReport, VersionIdentity } from './decoder.js';
import { LazyObject } from '../bytes/lazy-object.js';
import { transformObject } from './transform-object.js';

/** Options of decoders. */
export interface DecoderOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly freeze: boolean;
  readonly keepManagedFields: boolean;
  readonly transform: ((object: T) => T) | undefined;
  readonly onSkip: SkipReport;
  /** Whether values may have Dates, which those parsed from JSON do not have. @default false */
  readonly hasDates?: boolean;
}

/** Purpose for which an object is decoded. */
export interface Purpose<T extends KubeObject> {
  readonly find: FindStored<T>;
  /** Whether it is for a deletion, so that the result of `find` is not its previous version. */
  readonly isDelete: boolean;
}

/**
 * Turns parsed values into stored objects that are accepted, transformed, frozen. They belong to the informer from now
 * on.
 */
export class ParsedDecoder<T extends KubeObject> {
  readonly acceptance: Acceptance;
  readonly #options: DecoderOptions<T>;

  constructor(options: DecoderOptions<T>) {
    this.#options = options;
    this.acceptance = new Acceptance(options.kind, options.keepManagedFields);
  }

  /** Decodes a value into a cleared item. Never throws; objects that cannot be stored are reported. */
  decode(value: unknown, { find, isDelete }: Purpose<T>, into: DecodedItem<T>): void {
    const { freeze, onSkip } = this.#options;
    const accepted = this.#accept(value, into);
    if (accepted === undefined) return;
    if (isRefusal(accepted)) {
      onSkip(accepted);
      into.refused = { identity: accepted.identity };
      return;
    }
    const { identity } = accepted;
    const { namespace, name, resourceVersion } = identity;
    const present = isDelete ? undefined : find(namespace, name);
    into.present = present;
    if (present !== undefined && isSameVersion(present, resourceVersion)) {
      into.stored = present;
      return;
    }
    try {
      const object = this.#transformed(accepted.object);
      into.stored = storeObject<T>(object, { freeze, previous: shareableOf(present) });
    } catch (error) {
      onSkip({
        reason: 'transform',
        message: isDelete ? lastNotTransformed : notTransformed,
        error,
        key: formatKey(identity),
      });
      if (isDelete) into.stored = deletedVersion(identity, find(namespace, name), freeze);
      else into.failed = identity;
    }
  }

  /** Undefined if a member throws when it is read, because the object is then unknown. */
  #accept(value: unknown, into: DecodedItem<T>): ReturnType<Acceptance['accept']> | undefined {
    try {
      return this.acceptance.accept(this.#options.hasDates === true ? datesAsText(value) : value);
    } catch (error) {
      this.#options.onSkip({ reason: 'unreadable', message: 'an object cannot be read', error });
      into.isUnreadable = true;
      return undefined;
    }
  }

  #transformed(object: KubeObject): T {
    const { transform } = this.#options;
    // The one place in which a parsed value becomes a T, because the response of the server for this kind is the type
    // that the token promises.
    if (transform === undefined) return object as T;
    return transformObject(object as T, transform);
  }
}

/** Whether the store holds this version already, in a form that can be read. */
export function isSameVersion<T extends KubeObject>(present: StoredObject<T>, resourceVersion: string): boolean {
  return (
    present.resourceVersion === resourceVersion &&
    resourceVersion !== '' &&
    !(present instanceof LazyObject && present.isUnreadable)
  );
}

/** The parsed form of a version, if there is one, with which a new version shares structure. */
export function shareableOf<T extends KubeObject>(stored: StoredObject<T> | undefined): DeepReadonly<T> | undefined {
  if (stored instanceof LazyObject) return (stored as LazyObject<T>).shareable;
  return stored?.object;
}

const notTransformed = 'an object could not be transformed, so the version before stays';
const lastNotTransformed = 'the last version of a deleted object could not be transformed';
/**
 * A deletion whose object could not be transformed. It has the known version, under the identity of the deleted one. It
 * has to count, or the deleted object would stay in the store.
 */
function deletedVersion<T extends KubeObject>(
  identity: VersionIdentity,
  known: StoredObject<T> | undefined,
  freeze: boolean,
): StoredObject<T> {
  if (known === undefined) return storeObject<T>({ metadata: { ...identity } } as KubeObject as T, { freeze });
  const { uid, resourceVersion } = identity;
  const object = known.object as KubeObject;
  return storeObject<T>({ ...object, metadata: { ...object.metadata, uid, resourceVersion } } as T, { freeze });
}
