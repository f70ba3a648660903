import type {
  DeepReadonly,
  GroupVersionKind,
  InputOf,
  KeyOrObject,
  Kind,
  KubeList,
  ObjectOf,
  PersistedObject,
  Status,
  Unread,
  WholeObject,
} from '@kctl/apimachinery';
import type { TokenRequest } from '@kctl/apimachinery/kinds/authentication.k8s.io/v1';
import type { Scale } from '@kctl/apimachinery/kinds/autoscaling/v1';
import type { Binding } from '@kctl/apimachinery/kinds/core/v1';
import type { Eviction } from '@kctl/apimachinery/kinds/policy/v1';
import type {
  CreateOptions,
  DeleteAllOfOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  UpdateOptions,
  WatchOptions,
} from './options.js';
import type { Patch } from './patch.js';

/**
 * Result of a read, an object that the server has stored, so that `name`, `uid`, `resourceVersion` and, if the kind is
 * namespaced, `namespace` are present. A live client returns separate objects (`mutable`); a cache returns shared ones,
 * which are readonly by type and in fact. Code that works with either requires this readonly form.
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import type { ReadObject } from '@kctl/client';
 *
 * function isOn(pod: ReadObject<typeof Pod>, node: string): boolean {
 *   return pod.spec?.nodeName === node && pod.metadata.uid !== '';
 * }
 * console.log(isOn(await client.get(Pod, { namespace: 'shop', name: 'web-0' }), 'node-1'));
 * ```
 */
export type ReadObject<K extends Kind> = DeepReadonly<PersistedObject<K>>;

/**
 * The whole object, which may replace an object on the server. Results of a metadata-only kind or a stripping cache do
 * not compile here, because the server would delete the missing fields. Patch it instead, or read it whole.
 */
export type WriteObject<K extends Kind> = DeepReadonly<ObjectOf<K>> & WholeObject;

/** Reads objects from a cache or from the server. A key parameter also accepts an object that was read. */
export interface Reader {
  /** @throws StatusError (`isNotFound(error)`) when the object does not exist */
  get<K extends Kind>(kind: K, key: NoInfer<KeyOrObject<K>>, options?: GetOptions): Promise<ReadObject<K>>;
  /** One answer of the collection; see `limit` and `continue`. */
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<KubeList<ReadObject<K>>>;
}

/**
 * A server's answer to `deleteAllOf`, which is either the objects that it has begun to delete, as they were before, or
 * a Status. Undefined if the client does not report it.
 */
export type DeletedCollection<K extends Kind> = KubeList<ReadObject<K>> | Status | undefined;

/**
 * Writes objects. Every method returns the server's answer. A key parameter also accepts an object that was read, of
 * which only the name and namespace are used, so that a delete has no preconditions but those of its options.
 */
export interface Writer {
  create<K extends Kind>(kind: K, object: InputOf<K>, options?: CreateOptions): Promise<PersistedObject<K>>;
  /** Replaces the object; fails with a conflict unless `metadata.resourceVersion` is current. */
  update<K extends Kind>(kind: K, object: WriteObject<K>, options?: UpdateOptions): Promise<PersistedObject<K>>;
  patch<K extends Kind>(
    kind: K,
    key: NoInfer<KeyOrObject<K>>,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<PersistedObject<K>>;
  /** Resolves with the object while finalizers or a grace period keep it, with a Status when it is gone. */
  delete<K extends Kind>(
    kind: K,
    key: NoInfer<KeyOrObject<K>>,
    options?: DeleteOptions,
  ): Promise<PersistedObject<K> | Status>;
  /** Deletes every object that matches. Finalizers and grace periods may keep some of them for longer. */
  deleteAllOf<K extends Kind>(kind: K, options?: DeleteAllOfOptions): Promise<DeletedCollection<K>>;
}

/** Reads and writes one subresource, e.g. `status` or `scale`. `B` is the type of its body. */
export interface SubResourceClient<K extends Kind, B> {
  get(key: KeyOrObject<K>, options?: GetOptions): Promise<B>;
  create(key: KeyOrObject<K>, body: DeepReadonly<Unread<B>>, options?: CreateOptions): Promise<B>;
  update(key: KeyOrObject<K>, body: DeepReadonly<Unread<B>> & WholeObject, options?: UpdateOptions): Promise<B>;
  patch(key: KeyOrObject<K>, patch: Patch, options?: PatchOptions): Promise<B>;
}

/** The status subresource. Its body is the object itself, so the key is read from it. */
export interface StatusClient<K extends Kind> {
  /** Replaces the status, and with some kinds labels, annotations and finalizers, too. */
  update(object: WriteObject<K>, options?: UpdateOptions): Promise<PersistedObject<K>>;
  patch(key: KeyOrObject<K>, patch: Patch, options?: PatchOptions): Promise<PersistedObject<K>>;
}

/**
 * The bodies of subresources that many kinds have, or that servers define, which {@link SubResources.subResource}
 * returns for these names. Another body can be named with `subResource<K, Body>(kind, name)`.
 */
export interface SubResourceBodies {
  /** `autoscaling/v1` Scale, with reads, update and patch. */
  readonly scale: Scale;
  /** Of a ServiceAccount; create issues a token. */
  readonly token: TokenRequest;
  /** Of a Pod; create evicts it. */
  readonly eviction: Eviction;
  /** Of a Pod; create puts it on a node. */
  readonly binding: Binding;
}

/** Hands out subresource clients. */
export interface SubResources {
  status<K extends Kind>(kind: K): StatusClient<K>;
  /**
   * @example
   * ```ts
   * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
   *
   * const key = { namespace: 'shop', name: 'web' };
   * const scales = client.subResource(Deployment, 'scale');
   * const scale = await scales.get(key);
   * await scales.update(key, { ...scale, spec: { replicas: 3 } });
   * ```
   */
  subResource<K extends Kind, N extends keyof SubResourceBodies>(
    kind: K,
    name: N,
  ): SubResourceClient<K, SubResourceBodies[N]>;
  subResource<K extends Kind, B extends object = PersistedObject<K>>(kind: K, name: string): SubResourceClient<K, B>;
}

/** One event of a watch. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: Status };

/**
 * A running watch. Iteration ends when the server ends the stream cleanly, and throws when the connection breaks or
 * a frame does not decode. Leaving the loop, aborting the signal or disposing releases the connection.
 */
export interface WatchStream<T> extends AsyncIterable<WatchEvent<T>>, AsyncDisposable {}

/** Watches a collection. */
export interface Watcher {
  /** Resolves when the server has accepted the watch (headers are there). */
  watch<K extends Kind>(kind: K, options?: WatchOptions): Promise<WatchStream<PersistedObject<K>>>;
}

/** Resolves kinds as the server serves them. */
export interface KindResolver {
  /**
   * Returns the token of a kind that is known only by name, from the scheme, else from discovery. @throws
   * NoKindMatchError
   */
  kindFor(gvk: GroupVersionKind | { readonly group: string; readonly kind: string }): Promise<Kind>;
}

/**
 * Everything a reconciler needs. Mirrors controller-runtime's `client.Client`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { mergePatch, type Client } from '@kctl/client';
 *
 * async function paint(client: Client, namespace: string, colour: string): Promise<void> {
 *   await client.patch(ConfigMap, { namespace, name: 'settings' }, mergePatch({ data: { colour } }));
 * }
 * ```
 */
export interface Client extends Reader, Writer, SubResources {}

/** A client that can also watch. Mirrors `client.WithWatch`. */
export interface WatchingClient extends Client, Watcher {}

/**
 * A collection as undecoded bytes, for consumers, such as an informer, that parse only what they read. Each element of
 * the iteration is a batch of complete JSON documents; the buffers belong to the consumer, unless it declares that it
 * is {@link FrameOptions.transient} with them.
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import type { FrameReader } from '@kctl/client';
 *
 * async function countBytes(reader: FrameReader): Promise<number> {
 *   let bytes = 0;
 *   for await (const batch of await reader.listFrames(Pod)) for (const document of batch) bytes += document.length;
 *   return bytes;
 * }
 * ```
 */
export interface FrameReader {
  /** One LIST answer. `metadata` settles when the whole body was read. */
  listFrames(kind: Kind, options?: ListOptions & FrameOptions): Promise<ListFrames>;
  /** One WATCH stream; each document is a whole `{"type":…,"object":…}` frame. */
  watchFrames(kind: Kind, options?: WatchOptions & FrameOptions): Promise<FrameStream>;
}

/** How the consumer of frames treats their memory. */
export interface FrameOptions {
  /**
   * The consumer is done with a batch, and keeps no view of its bytes, when it requests the next one. The client may
   * then free that memory at once, without waiting for the garbage collector.
   *
   * @default false
   */
  readonly transient?: boolean;
}

/** Batches of complete JSON documents. */
export interface FrameStream extends AsyncIterable<readonly Uint8Array[]>, AsyncDisposable {}

/** A LIST answer in frames. */
export interface ListFrames extends FrameStream {
  /** Resolves after the last batch, with the list's resourceVersion, continue token, … */
  readonly metadata: Promise<KubeList<never>['metadata']>;
}
