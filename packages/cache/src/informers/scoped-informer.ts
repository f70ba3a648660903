import type { Kind, KubeObject } from '@kctl/apimachinery';
import { compareResourceVersions } from '@kctl/apimachinery';
import type { IndexDefinition, IndexReader, Lister } from '@kctl/cache-index';
import { createIndexer, createLister } from '@kctl/cache-index';
import { IndexConflictError, namespaceIndexName } from '@kctl/cache-index/internal';
import type {
  EventHandlerOptions,
  HandlerRegistration,
  InformerEventHandler,
  InformerState,
  InformerTrouble,
  InformerWaitOptions,
  SharedInformer,
} from '@kctl/informer';
import {
  InformerStartedError,
  InformerStoppedError,
  requireHandler,
  requireHandlerOptions,
  SyncError,
} from '@kctl/informer/internal';
import { aborted } from '@kctl/wait';
import type { ResolvedScope } from '../cache-options.js';
import type { MergedStores } from '../reads/merged-reader.js';
import { MergedReader } from '../reads/merged-reader.js';
import type { Part } from './part-table.js';
import { PartTable } from './part-table.js';
import { ScopedRegistration } from './scoped-registration.js';

/** Makes the informer of one scope. */
export type MakeInformer<T extends KubeObject> = (
  scope: ResolvedScope,
  indexers: Readonly<Record<string, IndexDefinition<T>>>,
) => Omit<Part<T>, 'scope'>;

const phaseRank: Readonly<Record<InformerState['phase'], number>> = {
  watching: 0,
  idle: 1,
  starting: 2,
  listing: 3,
  retrying: 4,
  stopped: 5,
};

/** The informers of all scopes of a kind, as one; scopes come and go while it runs. */
export class ScopedInformer<T extends KubeObject> implements SharedInformer<T>, MergedStores<T> {
  readonly kind: Kind<T>;
  /** One permanent lister. Its holder sees namespaces as they are added, and none that has left. */
  readonly indexer: IndexReader<T>;
  readonly lister: Lister<T>;
  readonly #make: MakeInformer<T>;
  readonly #registrations = new Set<ScopedRegistration<T>>();
  readonly #runs = new Set<Promise<void>>();
  readonly #runOf = new WeakMap<Part<T>, Promise<void>>();
  #parts: PartTable<T>;
  /** Parts whose initial list is complete, once the kind as a whole has synced. A new namespace appears as a whole. */
  #visible: PartTable<T> | undefined;
  /** Parts that cover what was visible of one that has left, and are not visible yet. */
  readonly #successors = new Set<Part<T>>();
  /** Parts that have left, while there are handlers with events of them. */
  readonly #leaving = new Set<Part<T>>();
  #indexers: Readonly<Record<string, IndexDefinition<T>>> = {};
  /** Aborted when the run ends, for any reason. */
  readonly #ending = new AbortController();
  #signal: AbortSignal | undefined;
  #fail: ((error: unknown) => void) | undefined;
  /** Whether the kind as a whole is no longer its business. */
  #isLeaving = false;
  #isStopped = false;

  constructor(kind: Kind<T>, scopes: readonly ResolvedScope[], make: MakeInformer<T>) {
    this.kind = kind;
    this.#make = make;
    this.indexer = new MergedReader(this);
    this.lister = createLister(this.indexer);
    this.#parts = new PartTable(scopes.map((scope) => ({ scope, ...make(scope, {}) })));
  }

  get scopes(): readonly ResolvedScope[] {
    return this.#parts.parts.map(({ scope }) => scope);
  }

  get readable(): PartTable<T> {
    return this.#visible ?? this.#parts;
  }

  get state(): InformerState {
    const states = this.#parts.parts.map(({ informer }) => informer.state);
    return states.reduce<InformerState>(
      (worst, state) => (phaseRank[state.phase] >= phaseRank[worst.phase] ? state : worst),
      { phase: this.#isStopped ? 'stopped' : 'watching', since: 0, resourceVersion: '' },
    );
  }

  get trouble(): InformerTrouble | undefined {
    return this.#parts.parts.find(({ informer }) => informer.trouble !== undefined)?.informer.trouble;
  }

  get lastError(): unknown {
    return this.trouble?.error;
  }

  get hasSynced(): boolean {
    if (this.#visible !== undefined) return true;
    return !this.#isLeaving && this.#parts.hasSynced;
  }

  get isStarted(): boolean {
    return this.#signal !== undefined;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get resourceVersion(): string {
    const versions = this.#parts.parts.map(({ informer }) => informer.resourceVersion);
    return versions.length === 0 ? '' : versions.reduce(olderOf);
  }

  get heldBytes(): number {
    return this.#parts.parts.reduce((sum, { informer }) => sum + (informer.heldBytes ?? 0), 0);
  }

  /** The part that holds a namespace; undefined if none does. */
  partFor(namespace: string): SharedInformer<T> | undefined {
    return this.#parts.partFor(namespace)?.informer;
  }

  /**
   * The condition that a read of it, or of one of its parts, has to wait for; undefined if the read can be answered. A
   * namespace that cannot be listed does not hold up reads of the others.
   */
  lateFor(part: SharedInformer<T>): SharedInformer<T> | undefined {
    if (part !== this) return part.hasSynced ? undefined : part;
    if (!this.hasSynced) return this;
    for (const successor of this.#successors) {
      if (!successor.informer.hasSynced) return successor.informer;
      this.#reveal(successor);
    }
    return undefined;
  }

  /** Whether an informer is one of its scopes'. */
  holds(informer: SharedInformer<T>): boolean {
    return this.#parts.hasInformer(informer);
  }

  get indexNames(): readonly string[] {
    return [namespaceIndexName, ...Object.keys(this.#indexers)];
  }

  addEventHandler(handler: InformerEventHandler<T>, options: EventHandlerOptions<T> = {}): HandlerRegistration {
    if (this.#isStopped) throw new InformerStoppedError('the handler was not added: the informer has stopped already');
    requireHandler('addEventHandler', handler);
    requireHandlerOptions(options);
    const registration = new ScopedRegistration<T>(handler, options, {
      concerns: (informer) => this.#concerns(informer),
      removed: () => this.#registrations.delete(registration),
    });
    for (const { informer } of this.#parts.parts) registration.join(informer);
    this.#registrations.add(registration);
    return registration;
  }

  addIndexers(indexers: Readonly<Record<string, IndexDefinition<T>>>): void {
    const taken = Object.keys(indexers).filter((name) => this.indexNames.includes(name));
    if (taken.length > 0) throw new IndexConflictError(taken);
    // Reports their errors now, even if there is no store yet.
    createIndexer<T>({ indexers });
    for (const { informer } of this.#parts.parts) informer.addIndexers(indexers);
    this.#indexers = { ...this.#indexers, ...indexers };
  }

  async waitForSync(options: InformerWaitOptions = {}): Promise<void> {
    if (this.#isLeaving && !this.hasSynced) throw this.#removedError('has not synced');
    await this.#whenAll((informer) => informer.waitForSync(options));
  }

  async waitForResourceVersion(resourceVersion: string, options: InformerWaitOptions = {}): Promise<void> {
    if (this.#isLeaving) throw this.#removedError(`has not reached version ${resourceVersion}`);
    await this.#whenAll((informer) => informer.waitForResourceVersion(resourceVersion, options));
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new InformerStartedError('the informer was started already');
    const ending = this.#ending;
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    this.#signal = ending.signal;
    let failure: { readonly error: unknown } | undefined;
    this.#fail = (error) => {
      failure ??= { error };
      ending.abort(error);
    };
    if (signal.aborted) end();
    for (const part of this.#parts.parts) this.#start(part);
    if (!this.#isStopped) await aborted(ending.signal);
    this.#isStopped = true;
    signal.removeEventListener('abort', end);
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    for (const registration of this.#registrations) registration.end();
    if (failure !== undefined) throw failure.error;
  }

  async leaveScope(): Promise<void> {
    if (this.hasSynced) this.#visible ??= this.#parts;
    this.#isLeaving = true;
    await this.setScopes([]);
    this.#isStopped = true;
    this.#fail = undefined;
    for (const registration of this.#registrations) registration.end();
    // Without it the run would hold everything until its signal aborts. Not before all have ended, because it would cut
    // off events that busy handlers (perhaps with this very call) have yet to receive.
    void Promise.all(this.#runs).then(() => this.#ending.abort());
  }

  /**
   * Becomes the informer of these scopes. New ones start, missing ones leave. Scopes that stay are not touched. If a
   * new scope covers one that leaves, a handler receives its events after the end of the other; reads do not wait for
   * that. Waits for handlers to receive the events of leaving scopes, unless they are busy at the time of the call, so
   * a callback may await it.
   */
  async setScopes(scopes: readonly ResolvedScope[]): Promise<void> {
    const before = this.#parts;
    const stays = (scope: ResolvedScope): Part<T> | undefined => {
      const part = before.exactly(scope.namespace);
      return part !== undefined && isSameScope(part.scope, scope) ? part : undefined;
    };
    // Before the run, nothing is there to be seen until all of it is.
    if (this.#signal !== undefined && this.hasSynced) this.#visible ??= before;
    const after = new PartTable<T>(
      scopes.map((scope) => stays(scope) ?? { scope, ...this.#make(scope, this.#indexers) }),
    );
    const gone = before.parts.filter((part) => !after.has(part));
    const added = after.parts.filter((part) => !before.has(part));
    this.#parts = after;
    const visible = this.#visible;
    if (visible !== undefined) {
      const wereThere = gone.filter((part) => visible.has(part) || this.#successors.has(part));
      for (const part of added)
        if (wereThere.some(({ scope }) => overlap(scope, part.scope))) this.#successors.add(part);
      for (const part of gone) this.#successors.delete(part);
      this.#visible = new PartTable(visible.parts.filter((part) => after.has(part)));
    }
    const leaves = gone.map((part) => this.#leave(part));
    for (const part of added) {
      const leaving = [...this.#leaving]
        .filter(({ scope }) => overlap(scope, part.scope))
        .map(({ informer }) => informer);
      for (const registration of this.#registrations) registration.join(part.informer, leaving);
      if (this.#signal !== undefined) this.#start(part);
    }
    await Promise.all([...leaves, ...(this.#signal === undefined ? [] : added.map((part) => this.#show(part)))]);
  }

  async #leave(part: Part<T>): Promise<void> {
    this.#leaving.add(part);
    void (this.#runOf.get(part) ?? Promise.resolve()).then(() => {
      this.#leaving.delete(part);
      part.removeSeries?.();
    });
    await part.informer.leaveScope();
  }

  async #show(part: Part<T>): Promise<void> {
    await part.informer.waitForSync().catch((error: unknown) => {
      if (this.#parts.has(part)) throw error;
    });
    this.#reveal(part);
  }

  #reveal(part: Part<T>): void {
    this.#successors.delete(part);
    // A handler that changed the scopes when notified of the part may have made it visible.
    const visible = this.#visible;
    if (visible === undefined || !this.#parts.has(part) || visible.has(part)) return;
    this.#visible = new PartTable(
      [...visible.parts, part].sort((a, b) => (a.scope.namespace < b.scope.namespace ? -1 : 1)),
    );
  }

  /** Waits for a condition of every part. A part that leaves meanwhile is not waited for, one that is added is. */
  async #whenAll(wait: (informer: SharedInformer<T>) => Promise<void>): Promise<void> {
    for (let seen: PartTable<T> | undefined; seen !== this.#parts; ) {
      seen = this.#parts;
      await Promise.all(
        seen.parts.map(({ informer }) =>
          wait(informer).catch((error: unknown) => {
            if (this.#concerns(informer)) throw error;
          }),
        ),
      );
    }
  }

  /** Whether events of a part's informer are of interest. They are not if only the part has left. */
  #concerns(informer: SharedInformer<T>): boolean {
    return this.#isLeaving || this.#parts.hasInformer(informer);
  }

  #removedError(wanted: string): SyncError {
    const { group, plural } = this.kind;
    const name = group === '' ? plural : `${plural}.${group}`;
    return new SyncError(`informer ${name} ${wanted}: it was removed from its cache`, [{ name, state: this.state }]);
  }

  #start(part: Part<T>): void {
    const signal = this.#signal;
    if (signal === undefined) return;
    const run = part.informer
      .run(signal)
      .catch((error: unknown) => this.#fail?.(error))
      .finally(() => this.#runs.delete(run));
    this.#runs.add(run);
    this.#runOf.set(part, run);
  }
}

function isSameScope(a: ResolvedScope, b: ResolvedScope): boolean {
  return a.transform === b.transform && traitsOf(a) === traitsOf(b);
}

/** All that an informer of a scope is made with, however selectors are spelled, but for the transform. */
function traitsOf(scope: ResolvedScope): string {
  const { transform: _, labels, labelSelector: _labels, fieldSelector: _fields, listScope, ...traits } = scope;
  return JSON.stringify([traits, labels?.toString(), listScope.namespace, listScope.fieldSelector]);
}

/** Whether an object may be in both. */
function overlap(a: ResolvedScope, b: ResolvedScope): boolean {
  return a.namespace === b.namespace || a.namespace === '' || b.namespace === '';
}

/** The older of two versions; '' if they cannot be compared. */
function olderOf(a: string, b: string): string {
  const order = compareResourceVersions(a, b);
  if (order === 'unknown') return a === b ? a : '';
  return order === 'older' ? a : b;
}
