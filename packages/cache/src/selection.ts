import type { DeepReadonly, KeyOf, KeyOrObject, Kind, KubeList, ObjectOf, PersistedObject } from '@kctl/apimachinery';
import type { GetOptions, ListOptions, ReadObject } from '@kctl/client';
import type { InformerWaitOptions, SharedInformer } from '@kctl/informer';
import { listOption, objectOption, requireOptions, shownType, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { SelectedInformerOptions } from './cache-options.js';
import type { Cache, CacheScope, InformerLease } from './cache.js';
import { idOf, selected } from './scopes/kind-id.js';

/** Options of {@link createCacheSelection}. */
export interface CacheSelectionOptions extends Pick<SelectedInformerOptions, 'name' | 'labelSelector'> {
  /** The kinds of which the objects with these labels are held. */
  readonly kinds: readonly Kind[];
  /**
   * Kinds that the server may lack. Their informers start when they are borrowed, and answer reads once they have synced.
   *
   * @default none
   */
  readonly optionalKinds?: readonly Kind[];
}

/** The reads of a cache that a delegating client needs. */
type CacheReads = Pick<
  Cache,
  | 'get'
  | 'list'
  | 'peek'
  | 'isCached'
  | 'resourceVersionOf'
  | 'waitForResourceVersion'
  | 'scopesOf'
  | 'versionsOf'
  | 'indexedFields'
  | 'matcherFor'
  | 'project'
  | 'isLossy'
>;

/** Selected informers of some kinds, and reads that they answer; those of other kinds are answered by the cache. */
export interface CacheSelection extends CacheReads {
  /** Whether the selection has an informer of the kind. */
  isSelected(kind: Kind): boolean;
  /** Lends an informer. After the last loan it is removed from the cache. */
  acquire<K extends Kind>(kind: K): InformerLease<K>;
  /** The informer for as long as the cache runs. */
  informer<K extends Kind>(kind: K): Promise<SharedInformer<PersistedObject<K>>>;
}

const optionNames: OptionNames<CacheSelectionOptions> = {
  name: textOption,
  labelSelector: true,
  kinds: listOption('a list of kinds', objectOption('a kind')),
  optionalKinds: listOption('a list of kinds', objectOption('a kind')),
};

/**
 * Adds selected informers of some kinds to a cache, and returns a view of it that reads these kinds from them, for the
 * parts of a program that are about objects with some labels alone. Other reads of the cache do not see them.
 *
 * @throws TypeError when a kind has a selected informer of that name already
 *
 * @example
 * ```ts
 * import { Secret } from '@kctl/apimachinery/kinds/core/v1';
 * import { createCache, createCacheSelection } from '@kctl/cache';
 *
 * const cache = createCache({ client });
 * const ours = createCacheSelection(cache, { name: 'ours', kinds: [Secret], labelSelector: 'example.com/part-of' });
 * const running = cache.run(signal);
 * const { items } = await ours.list(Secret, { namespace: 'shop' });
 * console.log(items.length);
 * await running;
 * ```
 */
export function createCacheSelection(cache: Cache, options: CacheSelectionOptions): CacheSelection {
  requireOptions('createCacheSelection', options, optionNames);
  const kinds: unknown = options.kinds;
  if (!Array.isArray(kinds))
    throw new TypeError(`createCacheSelection: kinds is ${shownType(kinds)}: expected a list of kinds`);
  return new SelectedKinds(cache, options);
}

interface Held {
  readonly informer: SharedInformer<PersistedObject<Kind>>;
  readonly token: Kind;
  readonly isOptional: boolean;
  loans: number;
  isKept: boolean;
}

class SelectedKinds implements CacheSelection {
  readonly #cache: Cache;
  readonly #options: CacheSelectionOptions;
  readonly #held = new Map<string, Held>();

  constructor(cache: Cache, options: CacheSelectionOptions) {
    this.#cache = cache;
    this.#options = options;
    for (const kind of options.kinds) this.#hold(kind);
  }

  isSelected(kind: Kind): boolean {
    return this.#held.has(idOf(kind));
  }

  acquire<K extends Kind>(kind: K): InformerLease<K> {
    const held = this.#hold(kind);
    held.loans++;
    let isReturned = false;
    return {
      informer: held.informer as unknown as SharedInformer<PersistedObject<K>>,
      [Symbol.asyncDispose]: async () => {
        if (isReturned) return;
        isReturned = true;
        held.loans--;
        if (held.loans > 0 || held.isKept) return;
        this.#held.delete(idOf(kind));
        await this.#cache.removeInformer(kind, this.#options.name);
      },
    };
  }

  informer<K extends Kind>(kind: K): Promise<SharedInformer<PersistedObject<K>>> {
    const held = this.#hold(kind);
    held.isKept = true;
    return Promise.resolve(held.informer as unknown as SharedInformer<PersistedObject<K>>);
  }

  get<K extends Kind>(kind: K, key: KeyOrObject<K>, options?: GetOptions): Promise<ReadObject<K>> {
    return this.#cache.get(this.#token(kind), key, options);
  }

  list<K extends Kind>(kind: K, options?: ListOptions): Promise<KubeList<ReadObject<K>>> {
    return this.#cache.list(this.#token(kind), options);
  }

  peek<K extends Kind>(kind: K, key: KeyOf<K>): ReadObject<K> | undefined {
    return this.#cache.peek(this.#token(kind), key);
  }

  isCached(kind: Kind, namespace?: string): boolean {
    const held = this.#held.get(idOf(kind));
    if (held?.isOptional === true && !held.informer.hasSynced) return false;
    return this.#cache.isCached(this.#token(kind), namespace);
  }

  resourceVersionOf(kind: Kind, namespace?: string): string {
    return this.#cache.resourceVersionOf(this.#token(kind), namespace);
  }

  waitForResourceVersion(
    kind: Kind,
    resourceVersion: string,
    options?: InformerWaitOptions & CacheScope,
  ): Promise<void> {
    return this.#cache.waitForResourceVersion(this.#token(kind), resourceVersion, options);
  }

  scopesOf(kind: Kind): ReturnType<Cache['scopesOf']> {
    return this.#cache.scopesOf(this.#token(kind));
  }

  versionsOf(kind: Kind): readonly Kind[] {
    return this.#cache.versionsOf(kind);
  }

  indexedFields(kind: Kind): readonly string[] {
    return this.#cache.indexedFields(this.#token(kind));
  }

  matcherFor(kind: Kind, options: ListOptions): ReturnType<Cache['matcherFor']> {
    return this.#cache.matcherFor(this.#token(kind), options);
  }

  project<K extends Kind>(kind: K, object: ObjectOf<K>): DeepReadonly<ObjectOf<K>> | undefined {
    return this.#cache.project(this.#token(kind), object);
  }

  isLossy(kind: Kind): boolean {
    return this.#cache.isLossy(kind);
  }

  #hold(kind: Kind): Held {
    const id = idOf(kind);
    const present = this.#held.get(id);
    if (present !== undefined) return present;
    const { name, labelSelector, optionalKinds = [] } = this.#options;
    const isOptional = optionalKinds.some((each) => idOf(each) === id);
    const informer = this.#cache.selectedInformer(kind, {
      name,
      isWanted: !isOptional,
      ...(labelSelector === undefined ? {} : { labelSelector }),
    });
    const held: Held = { informer, isOptional, token: selected(kind, name), loans: 0, isKept: false };
    this.#held.set(id, held);
    return held;
  }

  /** The token by which the cache finds the selected informer of a kind. */
  #token<K extends Kind>(kind: K): K {
    const held = this.#held.get(idOf(kind));
    return held === undefined ? kind : (held.token as K);
  }
}
