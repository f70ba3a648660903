import type {
  DeepReadonly,
  KeyOf,
  KeyOrObject,
  Kind,
  KubeList,
  ObjectKey,
  PersistedObject,
  Status,
  Unread,
  WholeObject,
} from '@kctl/apimachinery';
import { requireClientPart } from './checks/answers.js';
import type {
  Client,
  ReadObject,
  StatusClient,
  SubResourceBodies,
  SubResourceClient,
  WatchingClient,
} from './client.js';
import { metadataOf } from './kube-object.js';
import type { CreateOptions, DeleteOptions, GetOptions, ListOptions, PatchOptions, UpdateOptions } from './options.js';
import type { Patch } from './patch.js';
import { isWatchingClient, rewritten, sentDeletes, sentLists, sentWatches } from './wrap.js';
import { shownType } from '@kctl/options';
import { requireClient, requireOptionsObject } from './checks/require-arguments.js';
import { keyIn, requireKind } from './checks/require-kind.js';

const code = 'KCTL_NAMESPACE_MISMATCH';

/** Thrown when a call on a namespaced client names another namespace. */
export class NamespaceMismatchError extends Error {
  override readonly name = 'NamespaceMismatchError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_NAMESPACE_MISMATCH' = code;
  /** The namespace that the call named. */
  readonly given: string;
  /** The namespace of the client. */
  readonly expected: string;

  constructor(kind: Kind, given: string, expected: string) {
    super(`namespace ${given} of the ${kind.kind} does not match the namespace ${expected} of the client`);
    this.given = given;
    this.expected = expected;
  }
}

/** Whether an error is a {@link NamespaceMismatchError}, also one of another copy of this package. */
export function isNamespaceMismatch(error: unknown): error is NamespaceMismatchError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** A client of one namespace, whose keys need no namespace. It is a {@link Client} like any other. */
export interface NamespacedClient extends Client {
  /** The namespace that it fills in. */
  readonly namespace: string;
  get<K extends Kind>(kind: K, key: KeyOrObject<Kind>, options?: GetOptions): Promise<ReadObject<K>>;
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<KubeList<ReadObject<K>>>;
  patch<K extends Kind>(
    kind: K,
    key: KeyOrObject<Kind>,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<PersistedObject<K>>;
  delete<K extends Kind>(
    kind: K,
    key: KeyOrObject<Kind>,
    options?: DeleteOptions,
  ): Promise<PersistedObject<K> | Status>;
  status<K extends Kind>(kind: K): NamespacedStatusClient<K>;
  subResource<K extends Kind, N extends keyof SubResourceBodies>(
    kind: K,
    name: N,
  ): NamespacedSubResourceClient<K, SubResourceBodies[N]>;
  subResource<K extends Kind, B extends object = PersistedObject<K>>(
    kind: K,
    name: string,
  ): NamespacedSubResourceClient<K, B>;
}

/** {@link StatusClient} of one namespace. */
export interface NamespacedStatusClient<K extends Kind> extends StatusClient<K> {
  patch(key: KeyOrObject<Kind>, patch: Patch, options?: PatchOptions): Promise<PersistedObject<K>>;
}

/** {@link SubResourceClient} of one namespace. */
export interface NamespacedSubResourceClient<K extends Kind, B> extends SubResourceClient<K, B> {
  get(key: KeyOrObject<Kind>, options?: GetOptions): Promise<B>;
  create(key: KeyOrObject<Kind>, body: DeepReadonly<Unread<B>>, options?: CreateOptions): Promise<B>;
  update(key: KeyOrObject<Kind>, body: DeepReadonly<Unread<B>> & WholeObject, options?: UpdateOptions): Promise<B>;
  patch(key: KeyOrObject<Kind>, patch: Patch, options?: PatchOptions): Promise<B>;
}

/**
 * Returns a client that fills in `namespace` for namespaced kinds, in keys, in written objects (a copy, leaving yours
 * unchanged), in lists, watches and `deleteAllOf`. Cluster-scoped kinds pass through. Mirrors
 * `client.NewNamespacedClient`.
 *
 * Its calls reject with a {@link NamespaceMismatchError} if they name another namespace.
 */
export function inNamespace(client: WatchingClient, namespace: string): NamespacedClient & WatchingClient;
export function inNamespace(client: Client, namespace: string): NamespacedClient;
export function inNamespace(client: Client, namespace: string): NamespacedClient {
  requireClient('inNamespace', client, []);
  if (typeof namespace !== 'string')
    throw new TypeError(`inNamespace: the namespace is ${shownType(namespace)}: expected its name`);
  if (namespace === '')
    throw new TypeError('inNamespace: the namespace is empty: pass a name, or use the client as it is');
  const place = new Placement(namespace);
  const placed: NamespacedClient = {
    namespace,
    get: async (kind, key, options) => await client.get(kind, place.key('get', kind, key), options),
    list: async (kind, options) => await client.list(kind, place.options('list', kind, options)),
    create: async (kind, object, options) => await client.create(kind, place.object('create', kind, object), options),
    update: async (kind, object, options) => await client.update(kind, place.object('update', kind, object), options),
    patch: async (kind, key, patch, options) => await client.patch(kind, place.key('patch', kind, key), patch, options),
    delete: async (kind, key, options) => await client.delete(kind, place.key('delete', kind, key), options),
    deleteAllOf: async (kind, options) => await client.deleteAllOf(kind, place.options('deleteAllOf', kind, options)),
    status: (kind) => {
      const status = requireClientPart('status', client.status(kind));
      return {
        update: async (object, options) => await status.update(place.object('update', kind, object), options),
        patch: async (key, patch, options) => await status.patch(place.key('patch', kind, key), patch, options),
      };
    },
    subResource: <K extends Kind, B extends object = PersistedObject<K>>(
      kind: K,
      name: string,
    ): NamespacedSubResourceClient<K, B> => {
      const inner = requireClientPart('subResource', client.subResource<K, B>(kind, name));
      return {
        get: async (key, options) => await inner.get(place.key('get', kind, key), options),
        create: async (key, body, options) => await inner.create(place.key('create', kind, key), body, options),
        update: async (key, body, options) => await inner.update(place.key('update', kind, key), body, options),
        patch: async (key, patch, options) => await inner.patch(place.key('patch', kind, key), patch, options),
      };
    },
  };
  if (!isWatchingClient(client)) return placed;
  const watching: NamespacedClient & WatchingClient = {
    ...placed,
    watch: async (kind, options) => await client.watch(kind, place.options('watch', kind, options)),
  };
  return watching;
}

/** The calls about a collection; those about one object have the namespace in the key. */
const sentInCollections = { list: sentLists, watch: sentWatches, deleteAllOf: sentDeletes };

/** Puts calls into a namespace, or refuses them. */
class Placement {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  key<K extends Kind>(verb: string, kind: K, named: KeyOrObject<Kind>): KeyOf<K>;
  key(verb: string, kind: Kind, named: KeyOrObject<Kind>): ObjectKey {
    const key = keyIn(verb, kind, named);
    if (kind.scope === 'Cluster') return key;
    this.#require(kind, key.namespace);
    return { ...key, namespace: this.#namespace };
  }

  object<T extends object>(verb: string, kind: Kind, object: T): T {
    requireKind(verb, kind);
    if (kind.scope === 'Cluster') return object;
    const metadata = metadataOf(object);
    this.#require(kind, metadata.namespace);
    if (metadata.namespace === this.#namespace) return object;
    return { ...object, metadata: { ...metadata, namespace: this.#namespace } };
  }

  options<V extends keyof typeof sentInCollections, O extends { readonly namespace?: string }>(
    verb: V,
    kind: Kind,
    options: O | undefined,
  ): O;
  options(verb: keyof typeof sentInCollections, kind: Kind, options: { readonly namespace?: string } = {}): object {
    requireKind(verb, kind);
    requireOptionsObject(`${verb} ${kind.kind}`, options);
    if (kind.scope === 'Cluster') return options;
    this.#require(kind, options.namespace);
    return rewritten({ ...sentInCollections[verb], namespace: () => this.#namespace }, options);
  }

  #require(kind: Kind, named: string | undefined): void {
    // JSON may have null for an absent value.
    const given = named ?? '';
    if (given !== '' && given !== this.#namespace) throw new NamespaceMismatchError(kind, given, this.#namespace);
  }
}
