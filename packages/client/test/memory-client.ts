import { randomUUID } from 'node:crypto';
import {
  applyMergePatch,
  fieldSelectorFrom,
  isSameJson,
  labelSelectorFrom,
  mutableCopy,
  StatusError,
} from '@kctl/apimachinery';
import { formatGroupResource } from '@kctl/apimachinery/internal';
import type { JsonPatchOperation, KeyOrObject, Kind, KubeObject, ObjectKey, StatusReason } from '@kctl/apimachinery';
import { requireKey } from '../src/internal/index.js';
import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  StatusClient,
  WatchEvent,
  WatchingClient,
  WatchOptions,
} from '../src/index.js';

type Named = KeyOrObject<Kind>;
type Stored = KubeObject & Record<string, unknown>;
interface Change {
  readonly version: number;
  readonly kind: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** A server in memory, as far as the contract's cases need one: what the suite says of clients, it says of this one. */
export function createMemoryClient(): WatchingClient {
  const server = new MemoryServer();
  const client: Record<keyof WatchingClient, unknown> = {
    get: async (kind: Kind, named: Named, options?: { signal?: AbortSignal }) => {
      const key = requireKey('get', kind, named);
      options?.signal?.throwIfAborted();
      return shape(kind, server.get(kind, key));
    },
    list: async (kind: Kind, options: ListOptions = {}) => {
      options.signal?.throwIfAborted();
      return server.list(kind, options);
    },
    create: async (kind: Kind, object: Stored, options: { dryRun?: boolean; signal?: AbortSignal } = {}) => {
      options.signal?.throwIfAborted();
      return server.create(kind, mutableCopy(object), options.dryRun === true);
    },
    update: async (kind: Kind, object: Stored, options: { dryRun?: boolean } = {}) =>
      server.replace(kind, mutableCopy(object), { part: 'main', isDryRun: options.dryRun === true }),
    patch: async (kind: Kind, named: Named, patch: Patch) =>
      server.patch(kind, requireKey('patch', kind, named), patch, 'main'),
    delete: async (kind: Kind, named: Named, options: DeleteOptions = {}) =>
      server.delete(kind, requireKey('delete', kind, named), options),
    deleteAllOf: async (kind: Kind, options: ListOptions = {}) => {
      for (const { metadata } of server.list(kind, options).items)
        server.delete(kind, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, {});
    },
    status: (kind: Kind) => ({
      update: async (object: Stored) => server.replace(kind, mutableCopy(object), { part: 'status', isDryRun: false }),
      patch: async (named: Named, patch: Patch) =>
        server.patch(kind, requireKey('patch', kind, named), patch, 'status'),
    }),
    subResource: (kind: Kind, name: string) => {
      const status = (client.status as (kind: Kind) => StatusClient<Kind>)(kind);
      return {
        get: async (named: Named) => server.get(kind, requireKey('get', kind, named)),
        create: async () => Promise.reject(new Error(`${name} takes no create`)),
        update: async (_named: Named, body: Stored) => status.update(body),
        patch: async (named: Named, patch: Patch) => status.patch(named, patch),
      };
    },
    watch: async (kind: Kind, options: WatchOptions = {}) => {
      options.signal?.throwIfAborted();
      return server.watch(kind, options);
    },
  };
  return client as unknown as Client as WatchingClient;
}

/** The same, but it cannot watch. */
export function createBlindClient(): Client {
  const entries = Object.entries(createMemoryClient()).filter(([verb]) => verb !== 'watch');
  return Object.fromEntries(entries) as unknown as Client;
}

class MemoryServer {
  #version = 100;
  readonly #objects = new Map<string, Stored>();
  readonly #log: Change[] = [];
  #wake = wake();

  constructor() {
    this.#put('Namespace/default', undefined, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default', uid: randomUUID() },
    });
  }

  get(kind: Kind, key: ObjectKey): Stored {
    const object = this.#objects.get(idOf(kind, key));
    if (object === undefined) throw failure(kind, key.name, 404, 'NotFound');
    return mutableCopy(object);
  }

  list(kind: Kind, options: ListOptions): { metadata: Record<string, string>; items: Stored[] } {
    const matches = matcher(options);
    const [version = '', after = ''] = (options.continue ?? '').split('|');
    const all = [...this.#objects.entries()]
      .filter(([id, object]) => id.startsWith(`${kind.kind}/`) && matches(object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([id]) => id > after);
    const page = options.limit === undefined ? all : all.slice(0, options.limit);
    const resourceVersion = version === '' ? String(this.#version) : version;
    const more = page.length < all.length ? { continue: `${resourceVersion}|${page.at(-1)?.[0] ?? ''}` } : {};
    return {
      metadata: { resourceVersion, ...more },
      items: page.map(([, object]) => shape(kind, mutableCopy(object))),
    };
  }

  create(kind: Kind, object: Stored, isDryRun: boolean): Stored {
    const { metadata } = object;
    metadata.name ??= `${metadata.generateName ?? ''}${randomUUID().slice(0, 5)}`;
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(metadata.name)) throw failure(kind, metadata.name, 422, 'Invalid');
    const id = idOf(kind, { namespace: metadata.namespace ?? '', name: metadata.name });
    if (this.#objects.has(id)) throw failure(kind, metadata.name, 409, 'AlreadyExists');
    const { status: _status, ...rest } = object;
    const stored: Stored = {
      ...(kind.kind === 'Deployment' ? rest : object),
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { ...metadata, uid: randomUUID(), generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    };
    return isDryRun ? stored : this.#put(id, undefined, stored);
  }

  replace(kind: Kind, object: Stored, { part, isDryRun }: { part: 'main' | 'status'; isDryRun: boolean }): Stored {
    const { metadata } = object;
    const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const present = this.get(kind, key);
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== present.metadata.resourceVersion)
      throw failure(kind, key.name, 409, 'Conflict');
    const next: Stored = { ...present };
    if (part === 'status') next['status'] = object['status'];
    else {
      for (const name of Object.keys(next)) if (name !== 'status') delete next[name];
      for (const [name, value] of Object.entries(object)) if (name !== 'status') next[name] = value;
      const { uid, creationTimestamp, deletionTimestamp, resourceVersion } = present.metadata;
      next.metadata = clean({ ...metadata, uid, creationTimestamp, deletionTimestamp, resourceVersion });
    }
    next.apiVersion = kind.apiVersion;
    next.kind = kind.kind;
    if (isDryRun) return next;
    return isSameJson(present, next) ? present : this.#settle(idOf(kind, key), present, next);
  }

  patch(kind: Kind, key: ObjectKey, patch: Patch, part: 'main' | 'status'): Stored {
    const present = this.get(kind, key);
    if (patch.type === 'json')
      return this.replace(kind, applyJsonPatch(kind, present, patch.operations), { part, isDryRun: false });
    return this.replace(kind, applyMergePatch(present, patch.body) as Stored, { part, isDryRun: false });
  }

  delete(kind: Kind, key: ObjectKey, { preconditions = {}, dryRun }: DeleteOptions): Stored {
    const present = this.get(kind, key);
    const { uid, resourceVersion } = present.metadata;
    if ((preconditions.uid ?? uid) !== uid || (preconditions.resourceVersion ?? resourceVersion) !== resourceVersion)
      throw failure(kind, key.name, 409, 'Conflict');
    if (dryRun === true) return present;
    const next: Stored = { ...present, metadata: { ...present.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    return this.#settle(idOf(kind, key), present, next);
  }

  watch(kind: Kind, options: WatchOptions): AsyncIterable<WatchEvent<Stored>> & AsyncDisposable {
    const controller = new AbortController();
    const { signal } = controller;
    const onAbort = (): void => controller.abort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const close = async (): Promise<void> => {
      options.signal?.removeEventListener('abort', onAbort);
      controller.abort();
    };
    const initial =
      options.resourceVersion === undefined || options.resourceVersion === ''
        ? this.list(kind, { ...options } as ListOptions).items
        : [];
    let position =
      options.resourceVersion === undefined
        ? this.#log.length
        : this.#log.findIndex(({ version }) => version > Number(options.resourceVersion));
    if (position < 0) position = this.#log.length;
    const matches = matcher(options);
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const events = async function* (server: MemoryServer): AsyncGenerator<WatchEvent<Stored>> {
      for (const object of initial) yield { type: 'ADDED', object };
      while (!signal.aborted) {
        const change = server.#log[position];
        if (change === undefined) {
          await Promise.race([server.#wake.promise, aborted]);
          continue;
        }
        position++;
        if (change.kind !== kind.kind) continue;
        const was = change.before !== undefined && matches(change.before);
        const is = change.after !== undefined && matches(change.after);
        if (is) yield { type: was ? 'MODIFIED' : 'ADDED', object: mutableCopy(change.after) };
        else if (was) yield { type: 'DELETED', object: mutableCopy(change.after ?? change.before) };
      }
    };
    return { [Symbol.asyncIterator]: () => events(this), [Symbol.asyncDispose]: close };
  }

  /** An object that is being deleted goes with its last finalizer. */
  #settle(id: string, before: Stored, after: Stored): Stored {
    const isGone = after.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0;
    return this.#put(id, before, isGone ? undefined : after) ?? before;
  }

  #put(id: string, before: Stored | undefined, after: Stored | undefined): Stored {
    const version = ++this.#version;
    const stored =
      after === undefined ? undefined : { ...after, metadata: { ...after.metadata, resourceVersion: String(version) } };
    if (stored === undefined) this.#objects.delete(id);
    else this.#objects.set(id, stored);
    this.#log.push({ version, kind: id.slice(0, id.indexOf('/')), before, after: stored });
    this.#wake.resolve();
    this.#wake = wake();
    return mutableCopy(stored ?? before!);
  }
}

function wake(): { readonly promise: Promise<unknown>; readonly resolve: (value?: unknown) => void } {
  return Promise.withResolvers<unknown>();
}

function idOf(kind: Kind, { namespace = '', name }: ObjectKey): string {
  return kind.scope === 'Cluster' ? `${kind.kind}/${name}` : `${kind.kind}/${namespace}/${name}`;
}

function matcher({ namespace, labelSelector, fieldSelector }: ListOptions | WatchOptions): (object: Stored) => boolean {
  const labels = labelSelectorFrom(labelSelector ?? '');
  const fields = fieldSelectorFrom(fieldSelector ?? '');
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    labels.matches(metadata.labels) &&
    fields.matches({ 'metadata.name': metadata.name ?? '', 'metadata.namespace': metadata.namespace ?? '' });
}

function shape(kind: Kind, object: Stored): Stored {
  if (kind.shape !== 'metadata') return object;
  return { apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', metadata: object.metadata };
}

function clean(metadata: Record<string, unknown>): KubeObject['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

function failure(kind: Kind, name: string, code: number, reason: StatusReason): StatusError {
  const message = `${formatGroupResource(kind)} "${name}": ${reason}`;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message,
    details: { name, kind: kind.plural },
  });
}

function applyJsonPatch(kind: Kind, document: Stored, operations: readonly JsonPatchOperation[]): Stored {
  const root = mutableCopy(document);
  for (const operation of operations) {
    const segments = operation.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = segments.pop() ?? '';
    let parent: unknown = root;
    for (const segment of segments) parent = (parent as Record<string, unknown> | undefined)?.[segment];
    const refuse = failure(kind, document.metadata.name ?? '', 422, 'Invalid');
    if (typeof parent !== 'object' || parent === null) throw refuse;
    const target = parent as Record<string, unknown>;
    if (operation.op === 'test') {
      if (!isSameJson(target[last], operation.value)) throw refuse;
    } else if (operation.op === 'remove') {
      if (!(last in target)) throw refuse;
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete target[last];
    } else if (operation.op === 'add' || operation.op === 'replace') {
      if (Array.isArray(parent) && operation.op === 'add')
        parent.splice(last === '-' ? parent.length : Number(last), 0, operation.value);
      else target[last] = operation.value;
    } else throw new Error(`${operation.op} is not needed here`);
  }
  return root;
}
