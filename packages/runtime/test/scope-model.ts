import {
  defineKind,
  fieldSelectorFrom,
  formatKey,
  labelSelectorFrom,
  mutableCopy,
  StatusError,
} from '@kctl/apimachinery';
import type { Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { Client, ListOptions, Patch } from '@kctl/client';
import type { ListerWatcherScope, ObjectListerWatcher } from '@kctl/informer';

export interface Thing extends KubeObject {
  spec?: { node?: string; color?: string; tags?: string[]; secret?: string };
}
export const Thing: Kind<Thing, 'Namespaced'> = defineKind<Thing>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  scope: 'Namespaced',
});

interface Change {
  readonly version: number;
  readonly key: string;
  readonly before: Thing | undefined;
  readonly after: Thing | undefined;
}

/** What became of a key at a version. */
export interface State {
  readonly version: number;
  readonly object: Thing | undefined;
}

/** A request that a client made: what is to be checked of it. */
export interface Request {
  readonly verb: string;
  readonly options: ListOptions;
}

const failure = (code: number, reason: string, name: string): StatusError =>
  new StatusError({ code, reason, status: 'Failure', message: `${name}: ${reason}`, details: { name } });

/** Whether a server finds an object so. It knows `metadata.name`, `metadata.namespace` and `spec.node`, no index. */
export function selects(
  object: Thing,
  { namespace = '', labelSelector = '', fieldSelector = '' }: ListOptions,
): boolean {
  const { terms } = fieldSelectorFrom(fieldSelector);
  for (const { path } of terms)
    if (!['metadata.name', 'metadata.namespace', 'spec.node'].includes(path))
      throw failure(400, 'BadRequest', `field label not supported: ${path}`);
  if (namespace !== '' && object.metadata.namespace !== namespace) return false;
  if (!labelSelectorFrom(labelSelector).matches(object.metadata.labels)) return false;
  return fieldSelectorFrom(fieldSelector).matches({
    'metadata.name': object.metadata.name ?? '',
    'metadata.namespace': object.metadata.namespace ?? '',
    'spec.node': object.spec?.node ?? '',
  });
}

/** One informer's connection: what it is told, and when, is the test's business. */
export class Feed {
  readonly scope: ListerWatcherScope;
  readonly kind: Kind;
  readonly #server: ScopeServer;
  #position = 0;
  #wake: (() => void) | undefined;
  #queue: (Change | 'bookmark')[] = [];
  #told = 0;

  constructor(server: ScopeServer, kind: Kind, scope: ListerWatcherScope) {
    this.#server = server;
    this.kind = kind;
    this.scope = scope;
  }

  get behind(): number {
    return this.#server.changes.length - this.#position;
  }

  /** The version that it has been told. */
  get told(): number {
    return this.#told;
  }

  deliver(count: number): void {
    for (; count > 0 && this.behind > 0; count--) {
      const change = this.#server.changes[this.#position++];
      if (change !== undefined) this.#queue.push(change);
    }
    this.#wake?.();
  }

  /** Everything, and that there is no more. */
  catchUp(): void {
    this.deliver(Number.POSITIVE_INFINITY);
    this.#queue.push('bookmark');
    this.#wake?.();
  }

  listerWatcher(): ObjectListerWatcher<never> {
    const shown = (object: Thing): Thing =>
      this.kind.shape === 'metadata'
        ? { apiVersion: 'example.com/v1', kind: 'Thing', metadata: object.metadata }
        : object;
    const frame = (change: Change): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Thing } | undefined => {
      const was = change.before !== undefined && selects(change.before, this.scope);
      const is = change.after !== undefined && selects(change.after, this.scope);
      if (is && change.after !== undefined)
        return { type: was ? 'MODIFIED' : 'ADDED', object: shown(mutableCopy(change.after)) };
      if (!was || change.before === undefined) return undefined;
      const last = mutableCopy<Thing>(change.before);
      last.metadata.resourceVersion = String(change.version);
      return { type: 'DELETED', object: shown(last) };
    };
    const next = (): unknown => {
      for (;;) {
        const entry = this.#queue.shift();
        if (entry === undefined) return undefined;
        if (entry === 'bookmark') {
          this.#told = this.#server.version;
          return { type: 'BOOKMARK', resourceVersion: String(this.#server.version), initialEventsEnd: false };
        }
        const found = frame(entry);
        if (found === undefined) continue;
        this.#told = entry.version;
        return found;
      }
    };
    return {
      supportsWatchList: false,
      list: async () => {
        this.#position = this.#server.changes.length;
        this.#told = this.#server.version;
        const items = [...this.#server.objects.values()].filter((object) => selects(object, this.scope));
        return {
          metadata: { resourceVersion: String(this.#server.version) },
          items: items.map((object) => shown(mutableCopy(object))) as never[],
        };
      },
      watch: async ({ signal }) => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            for (;;) {
              if (signal?.aborted === true) return { done: true, value: undefined };
              const value = next();
              if (value !== undefined) return { done: false, value: value as never };
              await new Promise<void>((resolve) => {
                this.#wake = resolve;
                signal?.addEventListener('abort', () => resolve(), { once: true });
              });
            }
          },
        }),
        [Symbol.asyncDispose]: async () => undefined,
      }),
    };
  }
}

/** A server in memory with its whole history, and feeds that lag as the test wants. */
export class ScopeServer {
  version = 10;
  readonly objects: Map<string, Thing> = new Map<string, Thing>();
  readonly changes: Change[] = [];
  readonly history: Map<string, State[]> = new Map<string, State[]>();
  readonly feeds: Feed[] = [];
  readonly requests: Request[] = [];
  /** Thrown by the next write. */
  fault: { readonly when: 'before' | 'after'; readonly error: Error } | undefined;
  /** Whether a deletecollection is answered by a list. */
  answersCollections = true;
  #uids = 0;

  listerWatcherFor(kind: Kind, scope: ListerWatcherScope): ObjectListerWatcher<never> {
    const feed = new Feed(this, kind, scope);
    this.feeds.push(feed);
    return feed.listerWatcher();
  }

  put(object: Thing): Thing {
    const key = formatKey(object.metadata as ObjectKey);
    const before = this.objects.get(key);
    const after: Thing = {
      ...mutableCopy(object),
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: {
        ...mutableCopy(object.metadata),
        uid: before?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(++this.version),
      },
    };
    this.objects.set(key, after);
    this.#log(key, before, after);
    return mutableCopy<Thing>(after);
  }

  remove(key: string): Thing {
    const before = this.objects.get(key);
    if (before === undefined) throw failure(404, 'NotFound', key.split('/')[1] ?? '');
    this.version++;
    this.objects.delete(key);
    this.#log(key, before, undefined);
    return before;
  }

  #log(key: string, before: Thing | undefined, after: Thing | undefined): void {
    this.changes.push({ version: this.version, key, before, after });
    const states = this.history.get(key) ?? [];
    states.push({ version: this.version, object: after });
    this.history.set(key, states);
  }

  /** A live client, with the conflicts and refusals of a server. */
  client(): Client {
    const request = <T>(verb: string, options: ListOptions, run: () => T): T => {
      this.requests.push({ verb, options });
      const isWrite = verb !== 'get' && verb !== 'list';
      const fault = isWrite ? this.fault : undefined;
      if (isWrite) this.fault = undefined;
      if (fault?.when === 'before') throw fault.error;
      const result = run();
      if (fault?.when === 'after') throw fault.error;
      return result;
    };
    const present = (key: ObjectKey): Thing => {
      const object = this.objects.get(formatKey(key));
      if (object === undefined) throw failure(404, 'NotFound', key.name);
      return mutableCopy<Thing>(object);
    };
    const checked = (object: Thing): void => {
      const { resourceVersion } = present(object.metadata as ObjectKey).metadata;
      if (object.metadata.resourceVersion !== undefined && object.metadata.resourceVersion !== resourceVersion)
        throw failure(409, 'Conflict', object.metadata.name ?? '');
    };
    const listed = (kind: Kind, options: ListOptions): Thing[] =>
      [...this.objects.values()]
        .filter((object) => selects(object, options))
        .map((object) =>
          kind.shape === 'metadata'
            ? { apiVersion: 'example.com/v1', kind: 'Thing', metadata: mutableCopy(object.metadata) }
            : mutableCopy<Thing>(object),
        );
    let generated = 0;
    const client = {
      get: async (_kind: Kind, key: ObjectKey) => request('get', key, () => present(key)),
      list: async (kind: Kind, options: ListOptions = {}) =>
        request('list', options, () => ({
          metadata: { resourceVersion: String(this.version) },
          items: listed(kind, options),
        })),
      create: async (_kind: Kind, object: Thing) =>
        request('create', {}, () => {
          const name = object.metadata.name ?? `${object.metadata.generateName ?? ''}${++generated % 2}`;
          const named = { ...object, metadata: { ...object.metadata, name } };
          if (this.objects.has(formatKey(named.metadata))) throw failure(409, 'AlreadyExists', name);
          return this.put(named);
        }),
      update: async (_kind: Kind, object: Thing) =>
        request('update', {}, () => {
          checked(object);
          return this.put(object);
        }),
      patch: async (_kind: Kind, key: ObjectKey, patch: Patch) =>
        request('patch', {}, () => {
          if (patch.type !== 'merge') throw new TypeError('the model has merge patches only');
          const object = present(key);
          return this.put({ ...object, spec: { ...object.spec, ...(patch.body as Partial<Thing>).spec } });
        }),
      delete: async (_kind: Kind, key: ObjectKey) =>
        request('delete', {}, () => {
          const { uid = '' } = this.remove(formatKey(key)).metadata;
          return { kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name: key.name, uid } };
        }),
      deleteAllOf: async (kind: Kind, options: ListOptions = {}) =>
        request('deleteAllOf', options, () => {
          const metadata = { resourceVersion: String(this.version) };
          const items = listed(kind, options);
          for (const item of items) this.remove(formatKey(item.metadata as ObjectKey));
          return this.answersCollections
            ? { metadata, items }
            : { kind: 'Status', apiVersion: 'v1', status: 'Success' };
        }),
      status: () => undefined,
      subResource: () => undefined,
    };
    return client as unknown as Client;
  }
}
