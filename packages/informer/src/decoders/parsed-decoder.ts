import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index';
import { Acceptance, isRefusal } from './acceptance.js';
import type { DecodedItem, FindStored, SkipReport, VersionIdentity } from './decoder.js';
import { LazyObject } from '../bytes/lazy-object.js';
import { transformObject } from './transform-object.js';

/** What decoders take. */
export interface DecoderOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly freeze: boolean;
  readonly keepManagedFields: boolean;
  readonly transform: ((object: T) => T) | undefined;
  readonly onSkip: SkipReport;
}

/** What an object is decoded for. */
export interface Purpose<T extends KubeObject> {
  readonly find: FindStored<T>;
  /** Whether it is of a deletion: what `find` finds is not a version before it. */
  readonly isDelete: boolean;
}

/** Makes stored objects of parsed values: accepted, transformed, frozen. They belong to the informer from now on. */
export class ParsedDecoder<T extends KubeObject> {
  readonly acceptance: Acceptance;
  readonly #options: DecoderOptions<T>;

  constructor(options: DecoderOptions<T>) {
    this.#options = options;
    this.acceptance = new Acceptance(options.kind, options.keepManagedFields);
  }

  /** Decodes a value into an item that was cleared. Never throws: what cannot be stored is reported. */
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

  /** Undefined where a member throws when it is read: then it is not known which object that is. */
  #accept(value: unknown, into: DecodedItem<T>): ReturnType<Acceptance['accept']> | undefined {
    try {
      return this.acceptance.accept(value);
    } catch (error) {
      this.#options.onSkip({ reason: 'unreadable', message: 'an object cannot be read', error });
      into.isUnreadable = true;
      return undefined;
    }
  }

  #transformed(object: KubeObject): T {
    const { transform } = this.#options;
    // The one place where a parsed value becomes a T: what the server sends for this kind is what the token promises.
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

/** The parsed form of a version, where there is one: what a new version shares structure with. */
export function shareableOf<T extends KubeObject>(stored: StoredObject<T> | undefined): DeepReadonly<T> | undefined {
  if (stored instanceof LazyObject) return (stored as LazyObject<T>).shareable;
  return stored?.object;
}

const notTransformed = 'an object could not be transformed, so the version before stays';
const lastNotTransformed = 'the last version of a deleted object could not be transformed';
/**
 * A deletion whose object could not be transformed: the version that is known, under the identity of the deleted one.
 * It has to count, or what was deleted would stay in the store.
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
