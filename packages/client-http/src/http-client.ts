import { keyOf, stringifyJson } from '@kctl/apimachinery';
import type {
  DeepReadonly,
  InputOf,
  KeyOrObject,
  Kind,
  KubeList,
  KubeObject,
  ObjectKey,
  ObjectOf,
  PersistedObject,
  Status,
  Unread,
} from '@kctl/apimachinery';
import { requireCallOptions, requireKey, requireKind } from '@kctl/client/internal';
import type {
  CreateOptions,
  DeleteAllOfOptions,
  DeletedCollection,
  DeleteOptions,
  FrameOptions,
  FrameReader,
  FrameStream,
  GetOptions,
  ListFrames,
  ListOptions,
  Patch,
  PatchOptions,
  ReadObject,
  StatusClient,
  SubResourceClient,
  UpdateOptions,
  WatchingClient,
  WatchOptions,
  WatchStream,
} from '@kctl/client';
import type { OptionNames } from '@kctl/options';
import { objectOption, optionWithMethods, requireOptions } from '@kctl/options';
import { sendChecked } from './transport/send-checked.js';
import { collect } from './bytes/byte-stream.js';
import { acceptList, acceptObject, asCreated, asObject, decodeJson, refuseHtml, toSend } from './bytes/codec.js';
import { asBody, deletedCollection, describe } from './answers.js';
import type { About } from './answers.js';
import type { Connection, KubeConfigLike } from '@kctl/client/internal/connection';
import { DecodeError } from './errors.js';
import { failureInBody, failureOf, isStatus } from './transport/failure-status.js';
import { frameStream, watchStream } from './frames/frames.js';
import { connectionFromKubeConfig } from '@kctl/client/internal/connection';
import { listFrames, readList } from './frames/list-frames.js';
import { patchBody } from './patch-body.js';
import * as paths from './resource-path.js';
import * as parts from './option-parts.js';
import { createTransport, transportOptionNames } from './transport/transport.js';
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport/transport.js';

/**
 * Options of {@link createHttpClient}. Exactly one of `kubeConfig`, `connection` and `transport` sets the destination.
 */
export interface HttpClientOptions extends TransportOptions {
  /** A `KubeConfig` of @kubernetes/client-node; its current context counts, as it is now. */
  readonly kubeConfig?: KubeConfigLike;
  readonly connection?: Connection;
  /** A transport to share. It is not disposed with the client, and brings its own {@link TransportOptions}. */
  readonly transport?: Transport;
}

const optionNames: OptionNames<HttpClientOptions> = {
  kubeConfig: optionWithMethods(
    ['getCurrentContext', 'getCurrentCluster', 'getCurrentUser'],
    'a KubeConfig of @kubernetes/client-node',
  ),
  connection: objectOption('a connection, such as await loadConnection()'),
  transport: optionWithMethods(['send'], 'a Transport, such as createTransport(connection)'),
  ...transportOptionNames,
};

/** A client of the API server that sends a request for every read and write. */
export interface HttpClient extends WatchingClient, FrameReader, AsyncDisposable {
  get<K extends Kind>(
    kind: K,
    key: NoInfer<KeyOrObject<K>>,
    options?: GetOptions,
  ): Promise<PersistedObject<K> & ReadObject<K>>;
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<KubeList<PersistedObject<K> & ReadObject<K>>>;
  /** For requests that are about no kind, such as discovery. */
  readonly transport: Transport;
}

/**
 * Makes a client. Nothing is read or opened before the first request; disposing closes all connections and makes
 * what runs on them fail.
 *
 * @throws TypeError when the connection or an option is not valid, or the destination is set twice
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const { items } = await client.list(Pod, { namespace: 'default', labelSelector: 'app=web' });
 * ```
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  requireOptions('createHttpClient', options, optionNames);
  const { kubeConfig, connection, transport, ...ofTransport } = options;
  const given = Object.entries({ kubeConfig, connection, transport }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (given.length > 1)
    throw new TypeError(`createHttpClient: ${given.join(' and ')} are set: each determines the server, set one`);
  if (transport !== undefined) return new ServerClient(transport, false);
  const where = connection ?? (kubeConfig === undefined ? undefined : connectionFromKubeConfig(kubeConfig));
  if (where === undefined)
    throw new TypeError('createHttpClient: one of kubeConfig, connection and transport must be set');
  return new ServerClient(createTransport(where, ofTransport), true);
}

class ServerClient implements HttpClient {
  readonly transport: Transport;
  readonly #ownsTransport: boolean;

  constructor(transport: Transport, ownsTransport: boolean) {
    this.transport = transport;
    this.#ownsTransport = ownsTransport;
  }

  async get<K extends Kind>(
    kind: K,
    named: KeyOrObject<K>,
    options: GetOptions = {},
  ): Promise<PersistedObject<K> & ReadObject<K>> {
    const key = requireKey('get', kind, named);
    requireCallOptions('get', kind, options);
    const about: About = { verb: 'get', kind, ...key };
    return await this.#answer(this.#getRequest(about, key, options), about, (value, what) =>
      asReadable<K>(asObject(kind, value, what)),
    );
  }

  async list<K extends Kind>(
    kind: K,
    options: ListOptions = {},
  ): Promise<KubeList<PersistedObject<K> & ReadObject<K>>> {
    requireKind('list', kind);
    requireCallOptions('list', kind, options);
    const response = await this.#sendList(kind, options);
    const list = await readList(kind, response.body, listOf(kind, options));
    return { ...list, items: list.items.map(asReadable<K>) };
  }

  async listFrames(kind: Kind, options: ListOptions & FrameOptions = {}): Promise<ListFrames> {
    requireKind('list', kind);
    requireCallOptions('list', kind, options);
    const response = await this.#sendList(kind, options);
    return listFrames(response.body, { kind, what: listOf(kind, options), ...options });
  }

  async watch<K extends Kind>(kind: K, options: WatchOptions = {}): Promise<WatchStream<PersistedObject<K>>> {
    return watchStream(kind, await this.watchFrames(kind, { ...options, transient: true }), watchOf(kind, options));
  }

  async watchFrames(kind: Kind, options: WatchOptions & FrameOptions = {}): Promise<FrameStream> {
    requireKind('watch', kind);
    requireCallOptions('watch', kind, options);
    const path = paths.withQuery(paths.collectionPath(kind, options.namespace), parts.watchQuery(options));
    const { signal } = options;
    const response = await this.#send(
      { method: 'GET', path, accept: acceptObject(kind), expect: 'watch', signal },
      { verb: 'watch', kind, namespace: options.namespace },
    );
    const what = watchOf(kind, options);
    if (response.contentType.includes('json')) return frameStream(response.body, what, options);
    await readable(response, what);
    await discard(response);
    throw new DecodeError(
      `${what}: the server answers with ${response.contentType || 'no content type'}: expected application/json`,
    );
  }

  async create<K extends Kind>(kind: K, object: InputOf<K>, options: CreateOptions = {}): Promise<PersistedObject<K>> {
    requireKind('create', kind);
    requireCallOptions('create', kind, options);
    refuseMetadataOnly(kind, 'create');
    const meta = asKubeObject('create', kind, object).metadata;
    if (kind.scope === 'Namespaced' && (meta.namespace ?? '') === '')
      throw new TypeError(`create ${kind.kind}: metadata.namespace is not set: ${kind.plural} live in a namespace`);
    const path = paths.withQuery(paths.collectionPath(kind, meta.namespace), parts.writeQuery(options));
    const about: About = { verb: 'create', kind, namespace: meta.namespace, name: meta.name };
    const once = (meta.name ?? '') === '';
    const request = { method: 'POST', path, ...bodyOf(kind, object), once, signal: options.signal } as const;
    return await this.#answer(request, about, (value, what) => asCreated(kind, value, what));
  }

  async update<K extends Kind>(
    kind: K,
    object: DeepReadonly<ObjectOf<K>>,
    options: UpdateOptions = {},
  ): Promise<PersistedObject<K>> {
    return await this.#put(kind, object, options);
  }

  async patch<K extends Kind>(
    kind: K,
    named: KeyOrObject<K>,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<PersistedObject<K>> {
    const key = requireKey('patch', kind, named);
    const about: About = { verb: 'patch', kind, ...key };
    const request = this.#patchRequest(about, key, patch, options);
    return await this.#answer(request, about, (value, what) => asObject(kind, value, what));
  }

  async delete<K extends Kind>(
    kind: K,
    named: KeyOrObject<K>,
    options: DeleteOptions = {},
  ): Promise<PersistedObject<K> | Status> {
    const key = requireKey('delete', kind, named);
    requireCallOptions('delete', kind, options);
    const path = paths.objectPath(kind, key);
    const request = {
      method: 'DELETE',
      path,
      accept: acceptObject(kind),
      ...deleteBody(options),
      signal: options.signal,
    } as const;
    const about: About = { verb: 'delete', kind, ...key };
    return await this.#answer(request, about, (value, what) => (isStatus(value) ? value : asObject(kind, value, what)));
  }

  async deleteAllOf<K extends Kind>(kind: K, options: DeleteAllOfOptions = {}): Promise<DeletedCollection<K>> {
    requireKind('deleteAllOf', kind);
    requireCallOptions('deleteAllOf', kind, options);
    const { namespace, signal } = options;
    if (kind.scope === 'Namespaced' && (namespace ?? '') === '')
      throw new TypeError(
        `deleteAllOf ${kind.kind}: options.namespace is not set: the API server deletes within one namespace only`,
      );
    const path = paths.withQuery(paths.collectionPath(kind, namespace), parts.deleteAllOfQuery(options));
    const response = await this.#send(
      { method: 'DELETE', path, accept: acceptList(kind), ...deleteBody(options), expect: 'list', signal },
      { verb: 'deleteAllOf', kind, namespace },
    );
    const what = describe({ verb: 'deleteAllOf', kind, namespace });
    return deletedCollection(kind, (await collect(response.body)).toString(), what);
  }

  status<K extends Kind>(kind: K): StatusClient<K> {
    requireKind('status', kind);
    return {
      update: (object, options = {}) => this.#put(kind, object, options, 'status'),
      patch: async (named, patch, options = {}) => {
        const key = requireKey('patch', kind, named);
        const about: About = { verb: 'patch', kind, ...key, subresource: 'status' };
        const request = this.#patchRequest(about, key, patch, options);
        return await this.#answer(request, about, (value, what) => asObject(kind, value, what));
      },
    };
  }

  subResource<K extends Kind, B extends object = PersistedObject<K>>(kind: K, name: string): SubResourceClient<K, B> {
    requireKind('subResource', kind);
    const about = (verb: string, key: ObjectKey): About => ({
      verb,
      kind,
      ...keyOf({ metadata: key }),
      subresource: name,
    });
    const send = async (
      method: 'POST' | 'PUT',
      named: KeyOrObject<K>,
      body: DeepReadonly<Unread<B>>,
      options: CreateOptions,
    ): Promise<B> => {
      const verb = method === 'POST' ? 'create' : 'update';
      const key = requireKey(verb, kind, named);
      requireCallOptions(verb, kind, options);
      const path = paths.withQuery(paths.objectPath(kind, key, name), parts.writeQuery(options));
      const once = method === 'POST'; // what a server makes of a second eviction, token or binding, nobody knows
      const request = { method, path, body: stringifyJson(body), once, signal: options.signal };
      return await this.#answer(request, about(verb, key), (value) => asBody<B>(value, about(verb, key)));
    };
    return {
      get: async (named, options = {}) => {
        const key = requireKey('get', kind, named);
        requireCallOptions('get', kind, options);
        refuseMetadataOnly(kind, `read ${name}`);
        const subject = about('get', key);
        return await this.#answer(this.#getRequest(subject, key, options), subject, (value) =>
          asBody<B>(value, subject),
        );
      },
      create: (key, body, options = {}) => send('POST', key, body, options),
      update: (key, body, options = {}) => send('PUT', key, body, options),
      patch: async (named, patch, options = {}) => {
        const key = requireKey('patch', kind, named);
        const subject = about('patch', key);
        const request = this.#patchRequest(subject, key, patch, options);
        return await this.#answer(request, subject, (value) => asBody<B>(value, subject));
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ownsTransport) await this.transport[Symbol.asyncDispose]();
  }

  async #put<K extends Kind>(
    kind: K,
    object: DeepReadonly<ObjectOf<K>>,
    options: UpdateOptions,
    subresource?: string,
  ): Promise<PersistedObject<K>> {
    requireKind('update', kind);
    requireCallOptions('update', kind, options);
    refuseMetadataOnly(kind, 'update');
    const key = keyOf(asKubeObject('update', kind, object));
    const path = paths.withQuery(paths.objectPath(kind, key, subresource), parts.writeQuery(options));
    const about: About = { verb: 'update', kind, ...key, subresource };
    const request = { method: 'PUT', path, ...bodyOf(kind, object), signal: options.signal } as const;
    return await this.#answer(request, about, (value, what) => asObject(kind, value, what));
  }

  #getRequest(about: About, key: ObjectKey, options: GetOptions): TransportRequest {
    const { kind, subresource } = about;
    const path = paths.withQuery(paths.objectPath(kind, key, subresource), parts.getQuery(options));
    return { method: 'GET', path, accept: acceptObject(kind), signal: options.signal };
  }

  #patchRequest(about: About, key: ObjectKey, patch: Patch, options: PatchOptions): TransportRequest {
    const { kind, subresource } = about;
    requireCallOptions('patch', kind, options);
    const content = patchBody({ kind, key, patch, options });
    const path = paths.withQuery(paths.objectPath(kind, key, subresource), parts.writeQuery(options));
    const { signal } = options;
    return { method: 'PATCH', path, accept: acceptObject(kind), ...content, once: isOnce(patch), signal };
  }

  async #sendList(kind: Kind, options: ListOptions): Promise<TransportResponse> {
    const path = paths.withQuery(paths.collectionPath(kind, options.namespace), parts.listQuery(options));
    const response = await this.#send(
      { method: 'GET', path, accept: acceptList(kind), expect: 'list', signal: options.signal },
      { verb: 'list', kind, namespace: options.namespace },
    );
    return await readable(response, listOf(kind, options));
  }

  /** Sends a request and reads its answer, of which a failed reading names the request. */
  async #answer<T>(request: TransportRequest, about: About, read: (value: unknown, what: string) => T): Promise<T> {
    const response = await this.#send(request, about);
    const what = describe(about);
    await readable(response, what);
    const value = decodeJson((await collect(response.body)).toString(), what);
    const failure = failureInBody(value, about.kind);
    if (failure !== undefined) throw failure;
    return read(value, what);
  }

  async #send(request: TransportRequest, about: About): Promise<TransportResponse> {
    const response = await sendChecked(this.transport, request);
    if (response.status >= 200 && response.status < 300) return response;
    throw await failureOf(response, { ...about, method: request.method, server: this.transport.server });
  }
}

interface InNamespace {
  readonly namespace?: string | undefined;
}

const listOf = (kind: Kind, { namespace }: InNamespace): string => describe({ verb: 'list of', kind, namespace });
const watchOf = (kind: Kind, { namespace }: InNamespace): string => describe({ verb: 'watch of', kind, namespace });

/** The response, unless it is a page for people. @throws DecodeError */
async function readable(response: TransportResponse, what: string): Promise<TransportResponse> {
  try {
    refuseHtml(response, what);
    return response;
  } catch (error) {
    await discard(response);
    throw error;
  }
}

/** Releases the connection of a response that is not read. */
async function discard({ body }: TransportResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

function bodyOf(kind: Kind, object: DeepReadonly<KubeObject>): { readonly body: string } {
  return { body: stringifyJson(toSend(kind, object)) };
}

/** Whether applying a patch twice may differ from applying it once: `add` to a list appends each time. */
function isOnce(patch: Patch): boolean {
  return patch.type === 'json' && patch.operations.some(({ op }) => op !== 'test' && op !== 'replace');
}

function deleteBody(options: DeleteOptions): { readonly body?: string } {
  const fields = parts.deleteFields(options);
  return fields === undefined ? {} : { body: stringifyJson({ apiVersion: 'v1', kind: 'DeleteOptions', ...fields }) };
}

function refuseMetadataOnly(kind: Kind, verb: string): void {
  if (kind.shape !== 'metadata') return;
  const hint = verb === 'update' ? ': did you mean to patch?' : '';
  throw new TypeError(`cannot ${verb} ${kind.kind} with a metadata-only kind${hint}`);
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asKubeObject(verb: string, { kind }: Kind, object: unknown): DeepReadonly<KubeObject> {
  if (!hasMetadata(object))
    throw new TypeError(`${verb} ${kind}: the object is not valid: expected { metadata: { name, … }, … }`);
  return object;
}

function hasMetadata(object: unknown): object is DeepReadonly<KubeObject> {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return false;
  return typeof object.metadata === 'object' && object.metadata !== null;
}

/** A live read returns a separate object for the caller, so it is both mutable and fit for a readonly type. */
function asReadable<K extends Kind>(object: PersistedObject<K>): PersistedObject<K> & ReadObject<K> {
  return object as PersistedObject<K> & ReadObject<K>;
}
