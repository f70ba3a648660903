import type { KubeObject } from '@kctl/apimachinery';
import type { SharedInformer } from '@kctl/informer';
import type { ResolvedScope } from '../cache-options.js';
import type { NamedStore, StoreSet } from '../reads/merged-reader.js';

/** The informer of one scope. */
export interface Part<T extends KubeObject> {
  readonly scope: ResolvedScope;
  readonly informer: SharedInformer<T>;
  /** Removes its metrics; called when it has left and ended. */
  readonly removeSeries?: () => void;
}

/** The parts of a kind at one time, found by namespace in constant time. Immutable; other parts are another table. */
export class PartTable<T extends KubeObject> implements StoreSet<T> {
  readonly parts: readonly Part<T>[];
  readonly stores: readonly NamedStore<T>[];
  readonly #byNamespace: ReadonlyMap<string, Part<T>>;
  readonly #informers: ReadonlySet<SharedInformer<T>>;
  #hasSynced = false;

  constructor(parts: readonly Part<T>[]) {
    this.parts = parts;
    this.stores = parts.map(({ scope, informer }) => ({ namespace: scope.namespace, reader: informer.indexer }));
    this.#byNamespace = new Map(parts.map((part) => [part.scope.namespace, part]));
    this.#informers = new Set(parts.map(({ informer }) => informer));
  }

  /** Whether all have synced; an informer that has stays so. */
  get hasSynced(): boolean {
    this.#hasSynced ||= this.parts.every(({ informer }) => informer.hasSynced);
    return this.#hasSynced;
  }

  /** The part of exactly this namespace; '' for the one that holds all namespaces without a separate part. */
  exactly(namespace: string): Part<T> | undefined {
    return this.#byNamespace.get(namespace);
  }

  /** The part that holds a namespace. */
  partFor(namespace: string): Part<T> | undefined {
    return this.#byNamespace.get(namespace) ?? this.#byNamespace.get('');
  }

  storeFor(namespace: string): NamedStore<T>['reader'] | undefined {
    return this.partFor(namespace)?.informer.indexer;
  }

  has(part: Part<T>): boolean {
    return this.#byNamespace.get(part.scope.namespace) === part;
  }

  hasInformer(informer: SharedInformer<T>): boolean {
    return this.#informers.has(informer);
  }
}
