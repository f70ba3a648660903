import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { IndexReader } from '@kctl/cache-index';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { ResolvedScope } from '../cache-options.js';
import { ScopeTable } from '../scopes/scope-table.js';
import type { ScopedInformer } from './scoped-informer.js';

/** Counter of the users of a kind. */
export interface LeaseOptions {
  readonly clock: Clock;
  readonly lingerMs: number;
  readonly onUnused: () => Promise<void>;
}

/** Parts of an entry. */
export interface KindEntryParts {
  /** The cache's key for it. */
  readonly id: string;
  readonly kind: Kind;
  /** Name that distinguishes a selected informer from others of its kind. */
  readonly selection?: string;
  readonly informer: ScopedInformer<KubeObject>;
  /** The scopes to hold according to the current cache options. */
  readonly resolve: () => readonly ResolvedScope[];
}

/** One kind in a cache, or a selection of it, and who wants it. */
export class KindEntry {
  readonly id: string;
  readonly kind: Kind;
  readonly selection: string | undefined;
  readonly informer: ScopedInformer<KubeObject>;
  readonly resolve: () => readonly ResolvedScope[];
  #scopes: ScopeTable;
  #isPinned = false;
  #leases = 0;
  #linger: ClockTimer | undefined;

  constructor({ id, kind, selection, informer, resolve }: KindEntryParts) {
    this.id = id;
    this.kind = kind;
    this.selection = selection;
    this.informer = informer;
    this.resolve = resolve;
    this.#scopes = new ScopeTable(kind, informer.scopes);
  }

  /** The contents of its informers; another table whenever they change. */
  get scopes(): ScopeTable {
    return this.#scopes;
  }

  /** A store with the indexes of the kind, also if none is visible yet. */
  get indexes(): IndexReader<KubeObject> {
    const [first] = this.#scopes.scopes;
    const part = first === undefined ? undefined : this.informer.partFor(first.namespace);
    return (part ?? this.informer).indexer;
  }

  async setScopes(scopes: readonly ResolvedScope[]): Promise<void> {
    const isShown = this.informer.setScopes(scopes);
    // The scopes it has by now. Unchanged if an informer could not be made, or if its content stays.
    const present = this.informer.scopes;
    if (!isSame(present, this.#scopes.scopes)) this.#scopes = new ScopeTable(this.kind, present);
    await isShown;
  }

  /** Whether it was declared or is on loan now; otherwise it only lingers. */
  get isWanted(): boolean {
    return this.#isPinned || this.#leases > 0;
  }

  /** The kind was declared, so no release ends its informer. */
  pin(): void {
    this.#isPinned = true;
    this.stopLinger();
  }

  /** Counts a user. The returned function ends the use; calling it again is harmless. */
  acquire(options: LeaseOptions): () => void {
    this.#leases++;
    this.stopLinger();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      if (--this.#leases > 0 || this.#isPinned) return;
      this.#linger = startTimer(options.clock, () => void options.onUnused(), options.lingerMs, { keepAlive: false });
    };
  }

  stopLinger(): void {
    this.#linger?.cancel();
    this.#linger = undefined;
  }
}

function isSame(a: readonly ResolvedScope[], b: readonly ResolvedScope[]): boolean {
  return a.length === b.length && a.every((scope, index) => scope === b[index]);
}

/** Parts of an entry. */
export interface NewEntry {
  readonly id: string;
  readonly selection?: string;
  readonly scopes: () => ResolvedScope[];
}
