import { fieldSelectorFrom, formatKey, isAlreadyExists, isNotFound, keyOf } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { requireObjectAnswer } from '@kctl/client/internal';
import { sentOptions, type AnsweredOptions } from '@kctl/options';
import { deletedObjects, type recordedDelete, type recordedWrite } from './list-decisions.js';
import { asObject } from '../writes/as-object.js';
import type { DeepReadonly, Kind, KubeList, KubeObject, ObjectKey, PersistedObject, Status } from '@kctl/apimachinery';
import type { DeleteAllOfOptions, DeletedCollection, DeleteOptions } from '@kctl/client';
import type { CacheView } from './cache-view.js';
import type { PendingWrites } from './pending-writes.js';
import { matcherOf } from './list-matcher.js';
import { isNewer, storeName, versionOf } from '../writes/own-write.js';
import type { Fact } from '../writes/own-write.js';
import { isHeld } from './projected.js';
import type { Vanishings } from './vanishings.js';
import {
  isObject,
  mayHaveHappened,
  outcomeOfDelete,
  outcomeOfWrite,
  saysOtherwise,
  unread,
} from '../writes/write-outcome.js';
import type { Known } from '../writes/write-outcome.js';

/** Options for {@link WriteRecorder}. */
export interface WriteRecorderOptions {
  readonly cache: CacheView;
  readonly pendingWrites: PendingWrites;
  readonly vanishings: Vanishings;
}

/** Sends writes and records their outcome, or that of their failure, before their caller continues. */
export class WriteRecorder {
  readonly #options: WriteRecorderOptions;

  constructor(options: WriteRecorderOptions) {
    this.#options = options;
  }

  /** A write that is answered with the object. */
  async written<K extends Kind>(
    kind: K,
    about: {
      readonly key: ObjectKey | undefined;
      readonly namespace?: string | undefined;
      readonly options: AnsweredOptions<WriteOptions, typeof recordedWrite>;
    },
    send: () => Promise<PersistedObject<K>>,
  ): Promise<PersistedObject<K>> {
    if (about.options.dryRun === true) return await send();
    const { key } = about;
    const recordUnknown = (): void => {
      if (key === undefined) this.#options.pendingWrites.recordScope(kind, about.namespace);
      else this.#record(kind, unread(key));
    };
    const object = await this.#send(send, {
      unknown: recordUnknown,
      refused: (error) =>
        key === undefined ? Promise.resolve() : this.#doubt(kind, key, { error, signal: about.options.signal }),
    });
    // A review has no name, and what a binding is answered with is a Status.
    if (isObject(asObject(object))) this.#record(kind, outcomeOfWrite(kind, asObject(object)));
    else recordUnknown();
    return object;
  }

  /** A write to a subresource. Its answer is the object, or something that shows only that it has changed. */
  async subResource<B extends object>(
    kind: Kind,
    about: {
      readonly key: ObjectKey;
      readonly name: string;
      readonly options: AnsweredOptions<WriteOptions, typeof recordedWrite>;
    },
    send: () => Promise<B>,
  ): Promise<B> {
    // A token request changes nothing.
    if (about.options.dryRun === true || about.name === 'token') return await send();
    const body = await this.#send(send, {
      unknown: () => this.#record(kind, unread(about.key)),
      refused: (error) => this.#doubt(kind, about.key, { error, signal: about.options.signal }),
    });
    const answer = asObject(body);
    const isWhole = isObject(answer) && answer.kind === kind.kind && answer.apiVersion === kind.apiVersion;
    if (isWhole) this.#record(kind, outcomeOfWrite(kind, answer));
    else this.#record(kind, unread(about.key, isObject(answer) ? versionOf(answer) : ''));
    return body;
  }

  async deleted<K extends Kind>(
    kind: K,
    key: ObjectKey,
    options: AnsweredOptions<DeleteOptions, typeof recordedDelete>,
    send: () => Promise<PersistedObject<K> | Status>,
  ): Promise<PersistedObject<K> | Status> {
    if (options.dryRun === true) return await send();
    const known = await this.#known(kind, key, options.signal);
    const result = await this.#send(send, {
      unknown: () => this.#record(kind, unread(key)),
      refused: (error) => this.#doubt(kind, key, { error, signal: options.signal }),
    });
    this.#record(kind, outcomeOfDelete(kind, { key, result: asAnswer(result), known }));
    return result;
  }

  /**
   * The objects that the server lists in its answer are being deleted; what else the cache shows of those that match is
   * out of date. An answer that is not a list leaves a scope to be read again. O(objects of the namespace).
   */
  async deletedAll<K extends Kind>(
    kind: K,
    options: DeleteAllOfOptions,
    send: () => Promise<DeletedCollection<K>>,
  ): Promise<DeletedCollection<K>> {
    if (options.dryRun === true) return await send();
    const recordScope = (): void => this.#options.pendingWrites.recordScope(kind, options.namespace);
    const answer = await this.#send(send, { unknown: recordScope, refused: () => Promise.resolve() });
    const given: unknown = answer;
    // A response that is not a list of objects does not show which objects were deleted.
    if (!isJsonObject(given) || !Array.isArray(given['items']) || !isJsonObject(given['metadata'])) recordScope();
    else if (answer !== undefined && 'items' in answer) await this.#deletedList(kind, options, answer);
    return answer;
  }

  async #deletedList(kind: Kind, options: DeleteAllOfOptions, answer: KubeList<object>): Promise<void> {
    const { pendingWrites } = this.#options;
    const { namespace } = options;
    const deleted = new Set<string>();
    for (const item of answer.items) {
      if (!isObject(item)) continue;
      const object = asObject(item);
      deleted.add(formatKey(keyOf(object)));
      const uid = object.metadata.uid ?? '';
      const earlier = pendingWrites.find(kind, keyOf(object));
      // The answer has the object as it was found; an own write may have come between.
      const isLater = earlier !== undefined && earlier.uid === uid && isNewer(earlier.version, versionOf(object));
      this.#record(kind, {
        ...unread(keyOf(object)),
        observedVersion: isLater ? earlier.version : versionOf(object),
        uid,
      });
    }
    const at = answer.metadata.resourceVersion ?? '';
    const matches = mayMatch(options);
    const recorded = [...pendingWrites.writesIn(kind, namespace).values()].flatMap(({ outcome }) =>
      outcome.type === 'present' ? [outcome.object] : [],
    );
    const stores = pendingWrites.storesOf(kind, namespace);
    const versionsOf = (): string[] => stores.map((store) => this.#options.cache.resourceVersionOf(store, namespace));
    const before = versionsOf();
    const shown = await Promise.all(stores.map((store) => this.#listed(store, options)));
    const after = versionsOf();
    for (const object of [...shown.flatMap((objects) => objects ?? []), ...recorded]) {
      if (deleted.has(formatKey(keyOf(object))) || isNewer(versionOf(object), at) || !matches(object)) continue;
      this.#record(kind, { ...unread(keyOf(object)), isLearned: true });
    }
    const comparedAt = new Map<string, string>();
    stores.forEach((store, index) => {
      const version = after[index] ?? '';
      comparedAt.set(storeName(store), version === before[index] && shown[index] !== undefined ? version : '');
    });
    pendingWrites.recordAnswered(kind, namespace, { version: at, comparedAt });
  }

  /** The state of an object that is about to be deleted, which is the newest of own writes and cache. */
  async #known(kind: Kind, key: ObjectKey, signal: AbortSignal | undefined): Promise<Known> {
    const { cache, pendingWrites } = this.#options;
    const write = pendingWrites.find(kind, key);
    // A store that has not synced would keep the delete waiting.
    const canTell = cache.isCached(kind, key.namespace) && cache.resourceVersionOf(kind, key.namespace) !== '';
    const cached = canTell ? await this.#cached(kind, key, signal) : undefined;
    const fromCache = {
      uid: cached?.metadata.uid ?? '',
      observedVersion: cached === undefined ? '' : versionOf(cached),
    };
    if (write === undefined || write.outcome.type !== 'present') return fromCache;
    return isNewer(fromCache.observedVersion, write.version)
      ? fromCache
      : { uid: write.uid, observedVersion: write.version };
  }

  async #cached(
    kind: Kind,
    key: ObjectKey,
    signal: AbortSignal | undefined,
  ): Promise<DeepReadonly<KubeObject> | undefined> {
    try {
      const cached = await this.#options.cache.get<Kind>(kind, key, signal === undefined ? {} : { signal });
      return requireObjectAnswer(`cached read of ${kind.kind}`, cached);
    } catch {
      // Not found; or the cache cannot answer, which is no reason not to delete.
      return undefined;
    }
  }

  /**
   * Returns the objects that a store holds of a namespace, none if it has not synced. Undefined if it cannot answer.
   */
  async #listed(
    kind: Kind,
    { namespace, signal }: DeleteAllOfOptions,
  ): Promise<readonly DeepReadonly<KubeObject>[] | undefined> {
    const { cache } = this.#options;
    if (cache.resourceVersionOf(kind, namespace) === '') return [];
    try {
      const { items } = await cache.list<Kind>(kind, {
        ...(namespace === undefined ? {} : { namespace }),
        ...(signal === undefined ? {} : { signal }),
      });
      return items.map(asObject);
    } catch {
      return undefined;
    }
  }

  /**
   * Handles a refusal that shows that the object differs from the cached one, so that the next read of it queries the
   * server. A write that is repeated after a conflict thus starts from the server's state.
   */
  async #doubt(
    kind: Kind,
    key: ObjectKey,
    { error, signal }: { readonly error: unknown; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    if (!saysOtherwise(error, key)) return;
    const { cache, pendingWrites } = this.#options;
    const outcome = pendingWrites.find(kind, key)?.outcome;
    const recorded = outcome?.type === 'present' ? outcome.object : undefined;
    const isShown = async (store: Kind): Promise<boolean> => {
      if (recorded !== undefined) return isHeld(cache, store, recorded);
      return (
        cache.resourceVersionOf(store, key.namespace) !== '' && (await this.#cached(store, key, signal)) !== undefined
      );
    };
    const shown = await Promise.all(pendingWrites.storesOf(kind, key.namespace).map(isShown));
    // That there is such an object, or none, is no news to a cache that shows as much.
    if (isAlreadyExists(error) && !shown.includes(false)) return;
    if (isNotFound(error) && recorded === undefined && !shown.includes(true)) return;
    this.#record(kind, { ...unread(key), isLearned: true });
  }

  #record(kind: Kind, fact: Fact): void {
    const { pendingWrites, vanishings } = this.#options;
    pendingWrites.record(kind, fact);
    const { outcome, key } = fact;
    if (outcome.type === 'present' && kind.shape !== 'metadata') vanishings.wrote(kind, outcome.object);
    else if (outcome.type === 'absent') vanishings.ended(kind, key);
  }

  async #send<T>(send: () => Promise<T>, on: FailureHandlers): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (mayHaveHappened(error)) on.unknown();
      else await on.refused(error);
      throw error;
    }
  }
}

interface WriteOptions {
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

interface FailureHandlers {
  /** The write may have been executed. */
  readonly unknown: () => void;
  /** It was not. */
  readonly refused: (error: unknown) => Promise<void>;
}

/** Reports whether an object may be among those that a deleteAllOf selects. Other fields are left to the server. */
function mayMatch(options: DeleteAllOfOptions): (object: DeepReadonly<KubeObject>) => boolean {
  const { fieldSelector, ...selected } = sentOptions(deletedObjects, options);
  const terms = fieldSelector === undefined ? [] : fieldSelectorFrom(fieldSelector).terms;
  const names = terms.filter(({ path, operator }) => path === 'metadata.name' && operator === '=');
  return matcherOf({
    ...selected,
    ...(names.length === 0 ? {} : { fieldSelector: Object.fromEntries(names.map(({ path, value }) => [path, value])) }),
  });
}

function asAnswer(result: object): DeepReadonly<KubeObject> | Status {
  return result;
}
