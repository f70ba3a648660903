import { defineKind, formatKey, mutableCopy, StatusError } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeList, KubeObject, ObjectKey, Status } from '@kctl/apimachinery';
import type { AbortOptions, Client, ListOptions, Patch } from '@kctl/client';
import { orAborted } from '@kctl/wait';
import type { CacheView, VersionWaitOptions } from '../src/index.js';
import { matcherOf } from '../src/overlay/list-matcher.js';

export interface Thing extends KubeObject {
  spec?: { size?: number };
  status?: { ready?: number };
}
export const Thing: Kind<Thing, 'Namespaced'> = defineKind<Thing>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  scope: 'Namespaced',
});

export interface ServerEvent {
  readonly type: 'upsert' | 'delete';
  readonly key: string;
  readonly object: Thing;
  readonly version: number;
}

const status = (code: number, reason: string, message = reason): StatusError =>
  new StatusError({ code, reason, status: 'Failure', message, details: { name: message } });

/** A server in memory, with the whole history of every object. */
export class ModelServer {
  version = 10;
  /** How versions are written; servers behind aggregated APIs may write them as they like. */
  versionText: (version: number) => string = String;
  readonly objects: Map<string, Thing> = new Map<string, Thing>();
  readonly history: Map<string, { readonly version: number; readonly object: Thing | undefined }[]> = new Map<
    string,
    { readonly version: number; readonly object: Thing | undefined }[]
  >();
  readonly events: ServerEvent[] = [];
  /** Thrown by the next write: before it is executed, or after. */
  fault: { readonly when: 'before' | 'after'; readonly error: Error } | undefined;
  /** How many microtasks an answer is under way. */
  delay = 0;
  /** Whether a deleteAllOf is answered with a list of what there was, or with nothing. */
  listsDeleted = false;
  /** Requests by verb. */
  readonly calls: string[] = [];
  #uids = 0;

  put(object: Thing, isCreate: boolean): Thing {
    const key = formatKey(object.metadata as ObjectKey);
    const present = this.objects.get(key);
    if (isCreate && present !== undefined) throw status(409, 'AlreadyExists');
    if (!isCreate && present === undefined) throw status(404, 'NotFound');
    const version = this.#next();
    const stored: Thing = {
      ...mutableCopy(object),
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: {
        ...mutableCopy(object.metadata),
        uid: present?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: this.versionText(version),
      },
    };
    this.objects.set(key, stored);
    this.#log({ type: 'upsert', key, object: stored, version });
    return mutableCopy<Thing>(stored);
  }

  remove(key: string): Thing {
    const present = this.objects.get(key);
    if (present === undefined) throw status(404, 'NotFound');
    const version = this.#next();
    this.objects.delete(key);
    this.#log({
      type: 'delete',
      key,
      object: { ...present, metadata: { ...present.metadata, resourceVersion: this.versionText(version) } },
      version,
    });
    return present;
  }

  /** Runs a write as a request would: with the fault that is due. */
  request<T>(verb: string, run: () => T): T {
    this.calls.push(verb);
    const { fault } = this;
    this.fault = undefined;
    if (fault?.when === 'before') throw fault.error;
    const result = run();
    if (fault?.when === 'after') throw fault.error;
    return result;
  }

  #next(): number {
    return ++this.version;
  }

  #log(event: ServerEvent): void {
    this.events.push(event);
    const states = this.history.get(event.key) ?? [];
    states.push({ version: event.version, object: event.type === 'delete' ? undefined : event.object });
    this.history.set(event.key, states);
  }
}

/** A live client of the model. */
export function modelClient(server: ModelServer): Client {
  const get = (key: ObjectKey): Thing => {
    const object = server.objects.get(formatKey(key));
    if (object === undefined) throw status(404, 'NotFound', key.name);
    return mutableCopy<Thing>(object);
  };
  /** Without its last finalizer, an object that is being deleted is gone; the answer is what it was. */
  const write = (object: Thing): Thing => {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined || finalizers.length > 0) return server.put(object, false);
    server.remove(formatKey(object.metadata as ObjectKey));
    return mutableCopy<Thing>(object);
  };
  const patch = (key: ObjectKey, { type, ...rest }: Patch): Thing => {
    if (type !== 'merge' || !('body' in rest)) throw new TypeError('the model has merge patches only');
    return write({ ...get(key), ...(rest.body as Partial<Thing>) });
  };
  const terminating = (object: Thing): Thing => ({
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    },
  });
  let generated = 0;
  const client = {
    get: async (_kind: Kind, key: ObjectKey) => server.request('get', () => get(key)),
    list: async (kind: Kind, options: ListOptions = {}) => {
      const list = server.request('list', () => ({
        metadata: { resourceVersion: server.versionText(server.version) },
        items: [...server.objects.values()]
          .filter(matcherOf(options))
          .map((object) => ({ ...mutableCopy(object), apiVersion: kind.apiVersion })),
      }));
      for (let tick = 0; tick < server.delay; tick++) await Promise.resolve();
      return list;
    },
    create: async (_kind: Kind, object: Thing) =>
      server.request('create', () => {
        const name = object.metadata.name ?? `${object.metadata.generateName ?? ''}${++generated}`;
        return server.put({ ...object, metadata: { ...object.metadata, name } }, true);
      }),
    update: async (_kind: Kind, object: Thing) => server.request('update', () => write(object)),
    patch: async (_kind: Kind, key: ObjectKey, body: Patch) => server.request('patch', () => patch(key, body)),
    delete: async (_kind: Kind, key: ObjectKey): Promise<Status | Thing> =>
      server.request('delete', () => {
        const present = get(key);
        if ((present.metadata.finalizers ?? []).length > 0)
          return present.metadata.deletionTimestamp === undefined ? server.put(terminating(present), false) : present;
        server.remove(formatKey(key));
        return {
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Success',
          details: { name: key.name, uid: present.metadata.uid ?? '' },
        };
      }),
    deleteAllOf: async (_kind: Kind, options: ListOptions & { readonly gracePeriodSeconds?: number } = {}) =>
      server.request('deleteAllOf', () => {
        const found = [...server.objects.values()].filter(matcherOf(options));
        const metadata = { resourceVersion: server.versionText(server.version) };
        for (const object of found) {
          const { deletionTimestamp, finalizers = [] } = object.metadata;
          if (finalizers.length === 0) server.remove(formatKey(object.metadata as ObjectKey));
          else if (deletionTimestamp === undefined) server.put(terminating(object), false);
        }
        return server.listsDeleted ? { metadata, items: found.map((object) => mutableCopy(object)) } : undefined;
      }),
    status: () => ({
      update: async (object: Thing) => server.request('status', () => server.put(object, false)),
      patch: async (key: ObjectKey, body: Patch) => server.request('status', () => patch(key, body)),
    }),
    subResource: (_kind: Kind, name: string) => ({
      get: async (key: ObjectKey) => get(key),
      create: async (key: ObjectKey, body: object) =>
        server.request(name, () => ({ ...body, kind: 'Other', metadata: { name: key.name } })),
      update: async (key: ObjectKey, body: { spec?: { size?: number } }) =>
        server.request(name, () => {
          const stored = server.put({ ...get(key), spec: body.spec ?? {} }, false);
          return { ...body, kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: stored.metadata };
        }),
      patch: async (key: ObjectKey, body: Patch) => server.request(name, () => patch(key, body)),
    }),
  };
  return client as unknown as Client;
}

/** A cache that follows the server only as far as the test lets it. */
export class LaggingCache implements CacheView {
  readonly store: Map<string, DeepReadonly<Thing>> = new Map<string, DeepReadonly<Thing>>();
  readonly server: ModelServer;
  /** Namespaces that it holds; undefined: all. */
  namespaces: readonly string[] | undefined;
  shapes: readonly string[] = ['full'];
  /** Namespaces that cannot be listed: a read of one waits until its signal aborts, one of all is made without them. */
  readonly unlisted: Set<string> = new Set<string>();
  /** What it leaves of objects, where it strips them. */
  transform: ((object: Thing) => Thing) | undefined;
  project?: (kind: Kind, object: KubeObject) => KubeObject | undefined;
  /** Optional for caches: a test may take it away. */
  peek: ((kind: Kind, key: ObjectKey) => never) | undefined = (_kind, key) =>
    (this.unlisted.has(key.namespace ?? '') ? undefined : this.store.get(formatKey(key))) as never;
  #position = 0;
  #version: number;
  readonly #waiters = new Set<{
    readonly version: number;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }>();

  constructor(server: ModelServer) {
    this.server = server;
    this.#version = server.version;
  }

  get pending(): number {
    return this.server.events.length - this.#position;
  }

  /** Applies the next `count` watch events. */
  deliver(count: number = Number.POSITIVE_INFINITY): void {
    for (; count > 0 && this.pending > 0; count--) {
      const event = this.server.events[this.#position++];
      if (event === undefined) break;
      this.#apply(event);
      this.#moveTo(event.version);
    }
  }

  /** Applies the last event once more, as after a reconnect. */
  repeat(): void {
    const event = this.server.events[this.#position - 1];
    if (event !== undefined) this.#apply(event);
  }

  /** Replaces the store by a list of the present. */
  relist(): void {
    this.store.clear();
    for (const [key, object] of this.server.objects) this.store.set(key, Object.freeze(object));
    this.#position = this.server.events.length;
    this.#moveTo(this.server.version);
  }

  isCached(kind: Kind, namespace?: string): boolean {
    if (!this.shapes.includes(kind.shape)) return false;
    return this.namespaces === undefined || namespace === undefined || this.namespaces.includes(namespace);
  }

  resourceVersionOf(_kind?: Kind, namespace?: string): string {
    const isLate = namespace === undefined ? this.unlisted.size > 0 : this.unlisted.has(namespace);
    return isLate ? '' : this.server.versionText(this.#version);
  }

  waitForResourceVersion(
    _kind: Kind,
    resourceVersion: string,
    { signal, namespace = '' }: VersionWaitOptions,
  ): Promise<void> {
    if (this.unlisted.has(namespace)) return orAborted(new Promise<never>(() => undefined), signal);
    if (this.#version >= Number(resourceVersion)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter = { version: Number(resourceVersion), resolve, reject };
      this.#waiters.add(waiter);
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** What a timeout would do. */
  failWaiters(): void {
    for (const { reject } of this.#waiters) reject(new Error('not in time'));
    this.#waiters.clear();
  }

  isLossy(): boolean {
    return this.transform !== undefined;
  }

  async get(_kind: Kind, key: ObjectKey, { signal }: AbortOptions = {}): Promise<never> {
    if (this.namespaces?.includes(key.namespace ?? '') === false)
      throw new Error(`unable to get: unknown namespace ${key.namespace}`);
    if (this.unlisted.has(key.namespace ?? '')) await orAborted(new Promise<never>(() => undefined), signal);
    const object = this.store.get(formatKey(key));
    if (object === undefined) throw status(404, 'NotFound', key.name);
    return object as never;
  }

  async list(_kind: Kind, options: ListOptions = {}): Promise<KubeList<never>> {
    if (this.unlisted.has(options.namespace ?? ''))
      await orAborted(new Promise<never>(() => undefined), options.signal);
    return {
      metadata: { resourceVersion: this.server.versionText(this.#version) },
      items: [...this.store]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => object)
        .filter(({ metadata: { namespace = '' } }) => !this.unlisted.has(namespace))
        .filter(({ metadata: { namespace = '' } }) => this.namespaces?.includes(namespace) !== false)
        .filter(matcherOf(options)) as unknown as never[],
    };
  }

  #apply({ type, key, object }: ServerEvent): void {
    if (this.namespaces !== undefined && !this.namespaces.includes(object.metadata.namespace ?? '')) return;
    if (type === 'delete') this.store.delete(key);
    else this.store.set(key, Object.freeze(this.transform?.(object) ?? object));
  }

  #moveTo(version: number): void {
    this.#version = version;
    for (const waiter of this.#waiters) {
      if (waiter.version > version) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }
}

export const thing = (name: string, more: Partial<Thing> = {}): Thing => ({
  metadata: { name, namespace: 'ns', ...more.metadata },
  spec: more.spec ?? { size: 0 },
});
