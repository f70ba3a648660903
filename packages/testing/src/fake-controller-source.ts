import { randomUUID } from 'node:crypto';
import { formatKey, keyOf, StatusError } from '@kctl/apimachinery';
import type { KubeList, KubeObject } from '@kctl/apimachinery';
import type { ListOptions, WatchEvent, WatchOptions, WatchStream } from '@kctl/client';
import { decides, sentOptions, shownValue } from '@kctl/options';

/** What a recorded list has of its options. The collection is one kind in full: it has no scope, pages or versions to choose. */
const listDecisions = decides<ListOptions>()({
  resourceVersion: 'sent',
  limit: 'sent',
  continue: 'sent',
  signal: 'answered',
  resourceVersionMatch: 'answered',
  namespace: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  timeoutSeconds: 'answered',
  live: 'answered',
  readYourWrites: 'answered',
});

/** The same of a watch. */
const watchDecisions = decides<WatchOptions>()({
  resourceVersion: 'sent',
  allowWatchBookmarks: 'sent',
  timeoutSeconds: 'sent',
  signal: 'answered',
  resourceVersionMatch: 'answered',
  namespace: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  sendInitialEvents: 'answered',
});

/** A call of a {@link FakeControllerSource}. */
export type SourceCall =
  | ({ readonly verb: 'list' } & Pick<ListOptions, 'resourceVersion' | 'limit' | 'continue'>)
  | ({ readonly verb: 'watch' } & Pick<WatchOptions, 'resourceVersion' | 'allowWatchBookmarks' | 'timeoutSeconds'>);

/** How a change is made. */
export interface ChangeOptions {
  /**
   * No watch gets the event, so that only a list shows the change. Mirrors `AddDropWatch` and its like. @default false
   */
  readonly dropWatch?: boolean;
}

/**
 * A collection without a server, as a lister-watcher. Changes are versioned, listed and sent to watches, from their
 * requested version. Mirrors `cache/testing.FakeControllerSource`.
 */
export interface FakeControllerSource<T extends KubeObject> {
  /** Informers list, and then watch. */
  readonly supportsWatchList: false;
  /** In the order of the requests. */
  readonly calls: readonly SourceCall[];
  /** How many watches are open. */
  readonly watchers: number;
  readonly resourceVersion: string;
  /** Creates an object, with a version and, if it has none, a uid. @throws TypeError if the name is taken or missing */
  add(object: T, options?: ChangeOptions): T;
  /** @throws TypeError if no object has that name */
  modify(object: T, options?: ChangeOptions): T;
  /** @throws TypeError if no object has that name */
  delete(object: T, options?: ChangeOptions): T;
  /** Sends each open watch a bookmark of the version that there is now. */
  bookmark(): void;
  /** Ends each open watch, as the server does, or with an error, as a broken connection. */
  endWatches(error?: Error): void;
  /** Forgets the history, so that a watch from an earlier version is answered with 410. */
  expire(): void;
  /** The next request of this verb fails, once for each call. */
  failNext(verb: SourceCall['verb'], error: Error): void;
  list(options?: ListOptions): Promise<KubeList<T>>;
  watch(options?: WatchOptions): Promise<WatchStream<T>>;
}

/**
 * An empty collection.
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSharedInformer } from '@kctl/informer';
 * import { createFakeControllerSource } from '@kctl/testing';
 *
 * const source = createFakeControllerSource<Pod>();
 * source.add({ metadata: { namespace: 'shop', name: 'web-0' } });
 * const informer = createSharedInformer({ kind: Pod, listerWatcher: source });
 * void informer.run(signal);
 * await informer.waitForSync();
 * source.endWatches(new Error('connection reset'));
 * ```
 */
export function createFakeControllerSource<T extends KubeObject>(): FakeControllerSource<T> {
  return new VersionedSource<T>();
}

interface Change<T> {
  readonly version: number;
  readonly event: WatchEvent<T>;
}

class VersionedSource<T extends KubeObject> implements FakeControllerSource<T> {
  readonly supportsWatchList = false;
  readonly calls: SourceCall[] = [];
  readonly #objects = new Map<string, T>();
  readonly #watches = new Set<FakeWatch<T>>();
  readonly #failures: Record<SourceCall['verb'], Error[]> = { list: [], watch: [] };
  /** The events from which a watch can still be resumed. */
  #changes: Change<T>[] = [];
  #version = 1;
  #oldest = 1;

  get watchers(): number {
    return this.#watches.size;
  }

  get resourceVersion(): string {
    return String(this.#version);
  }

  add(object: T, options?: ChangeOptions): T {
    const key = keyIn('add', object);
    if (this.#objects.has(key)) throw new TypeError(`add ${key}: it is there already; use modify`);
    return this.#change('ADDED', { key, object, uid: object.metadata?.uid ?? randomUUID() }, options);
  }

  modify(object: T, options?: ChangeOptions): T {
    const { key, known } = this.#known('modify', object);
    return this.#change('MODIFIED', { key, object, uid: object.metadata?.uid ?? known.metadata?.uid }, options);
  }

  delete(object: T, options?: ChangeOptions): T {
    const { key, known } = this.#known('delete', object);
    return this.#change('DELETED', { key, object: known, uid: known.metadata?.uid }, options);
  }

  bookmark(): void {
    const { resourceVersion } = this;
    for (const watch of this.#watches) watch.send({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false });
  }

  endWatches(error?: Error): void {
    for (const watch of this.#watches) watch.end(error);
  }

  expire(): void {
    this.#changes = [];
    this.#oldest = this.#version;
  }

  failNext(verb: SourceCall['verb'], error: Error): void {
    this.#failures[verb].push(error);
  }

  async list(options: ListOptions = {}): Promise<KubeList<T>> {
    this.calls.push({ verb: 'list', ...sentOptions(listDecisions, options) });
    await this.#answer('list', options.signal);
    const items = [...this.#objects.values()].map((object) => structuredClone(object));
    return { metadata: { resourceVersion: this.resourceVersion }, items };
  }

  async watch(options: WatchOptions = {}): Promise<WatchStream<T>> {
    const { resourceVersion, signal } = options;
    this.calls.push({ verb: 'watch', ...sentOptions(watchDecisions, options) });
    await this.#answer('watch', signal);
    const watch = new FakeWatch<T>(signal, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    for (const event of this.#eventsSince(resourceVersion ?? '')) watch.send(event);
    return watch;
  }

  #eventsSince(resourceVersion: string): WatchEvent<T>[] {
    if (resourceVersion === '' || resourceVersion === '0')
      return [...this.#objects.values()].map((object) => ({ type: 'ADDED', object }));
    const from = Number(resourceVersion);
    if (from < this.#oldest) {
      const message = `too old resource version: ${resourceVersion} (${this.#oldest})`;
      return [{ type: 'ERROR', status: { status: 'Failure', code: 410, reason: 'Expired', message } }];
    }
    return this.#changes.filter(({ version }) => version > from).map(({ event }) => event);
  }

  async #answer(verb: SourceCall['verb'], signal: AbortSignal | undefined): Promise<void> {
    await Promise.resolve();
    signal?.throwIfAborted();
    const failure = this.#failures[verb].shift();
    if (failure !== undefined) throw failure;
  }

  #known(verb: string, object: T): { readonly key: string; readonly known: T } {
    const key = keyIn(verb, object);
    const known = this.#objects.get(key);
    if (known === undefined) throw new TypeError(`${verb} ${key}: it does not exist; use add`);
    return { key, known };
  }

  #change(
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    { key, object, uid }: { readonly key: string; readonly object: T; readonly uid: string | undefined },
    { dropWatch = false }: ChangeOptions = {},
  ): T {
    const resourceVersion = String(++this.#version);
    const changed = structuredClone(object);
    changed.metadata = { ...changed.metadata, resourceVersion, ...(uid === undefined ? {} : { uid }) };
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, changed);
    const event: WatchEvent<T> = { type, object: changed };
    if (!dropWatch) {
      this.#changes.push({ version: this.#version, event });
      for (const watch of this.#watches) watch.send(event);
    }
    return structuredClone(changed);
  }
}

class FakeWatch<T> implements WatchStream<T> {
  readonly #events: WatchEvent<T>[] = [];
  readonly #onEnd: () => void;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined, onEnd: () => void) {
    this.#onEnd = onEnd;
    signal?.addEventListener('abort', () => this.end(asError(signal.reason)), { once: true });
  }

  send(event: WatchEvent<T>): void {
    if (this.#end === undefined) this.#events.push(structuredClone(event));
    this.#notify();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#onEnd();
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (this.#end.error === undefined) return;
        else throw this.#end.error;
      }
    } finally {
      this.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await Promise.resolve();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

function keyIn(verb: string, object: KubeObject): string {
  const name: unknown = object.metadata?.name;
  if (typeof name === 'string' && name !== '') return formatKey(keyOf(object));
  throw new TypeError(`${verb}: metadata.name ${shownValue(name)} is not valid: expected a non-empty string`);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new StatusError({ message: 'the watch was aborted' });
}
