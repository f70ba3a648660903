import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, KeyOf, Kind, PersistedObject, Status, Unread, WholeObject } from '@kctl/apimachinery';
import { isThenable, shownType } from '@kctl/options';
import { requireClientPart } from './checks/answers.js';
import type {
  Client,
  Reader,
  ReadObject,
  StatusClient,
  SubResourceClient,
  Watcher,
  WatchingClient,
  Writer,
} from './client.js';
import { keyOfKind } from './kube-object.js';
import type { CreateOptions, DeleteOptions, GetOptions, PatchOptions, UpdateOptions } from './options.js';
import type { Patch } from './patch.js';
import { isWatchingClient } from './wrap.js';
import { requireClient } from './checks/require-arguments.js';
import { keyIn } from './checks/require-kind.js';

/**
 * Hooks in place of verbs. Each has the signature of the verb it replaces, except that it always gets a key, even if
 * the caller passed an object. Verbs without a hook pass through. `subResource` returns hooks for the verbs of one
 * subresource and also sees the status subresource, under the name `status`.
 */
export interface Interceptor
  extends Partial<Pick<Reader, 'list'>>,
    Partial<Pick<Writer, 'create' | 'update' | 'deleteAllOf'>>,
    Partial<Watcher> {
  get?<K extends Kind>(kind: K, key: KeyOf<K>, options?: GetOptions): Promise<ReadObject<K>>;
  patch?<K extends Kind>(kind: K, key: KeyOf<K>, patch: Patch, options?: PatchOptions): Promise<PersistedObject<K>>;
  delete?<K extends Kind>(kind: K, key: KeyOf<K>, options?: DeleteOptions): Promise<PersistedObject<K> | Status>;
  subResource?<K extends Kind, B extends object = PersistedObject<K>>(kind: K, name: string): SubResourceHooks<K, B>;
}

/** Hooks in place of the verbs of one subresource. */
export interface SubResourceHooks<K extends Kind, B> {
  get?(key: KeyOf<K>, options?: GetOptions): Promise<B>;
  create?(key: KeyOf<K>, body: DeepReadonly<Unread<B>>, options?: CreateOptions): Promise<B>;
  update?(key: KeyOf<K>, body: DeepReadonly<Unread<B>> & WholeObject, options?: UpdateOptions): Promise<B>;
  patch?(key: KeyOf<K>, patch: Patch, options?: PatchOptions): Promise<B>;
}

/**
 * A client with hooks. `hooks` receives the wrapped client, so that a hook can go on with it:
 *
 * ```ts
 * intercept(client, (next) => ({
 *   async update(kind, object, options) {
 *     if (kind.kind === 'Secret') throw new Error('secrets are read-only here');
 *     return next.update(kind, object, options);
 *   },
 * }));
 * ```
 *
 * Mirrors `interceptor.NewClient`.
 */
export function intercept(client: WatchingClient, hooks: (next: WatchingClient) => Interceptor): WatchingClient;
export function intercept(client: Client, hooks: (next: Client) => Interceptor): Client;
export function intercept<C extends Client>(client: C, hooks: (next: C) => Interceptor): Client {
  requireClient('intercept', client, []);
  if (typeof hooks !== 'function')
    throw new TypeError(
      'intercept: the hooks are not a function: expected one that returns them, such as (next) => ({ get })',
    );
  const own = requireHooks('the function', hooks(client));
  const intercepted: Client = {
    get: async (kind, key, options) =>
      own.get === undefined
        ? await client.get(kind, key, options)
        : requireAnswer('get', await own.get(kind, keyIn('get', kind, key), options)),
    // Each call is awaited, so that a hook that throws rejects as a server would.
    list: async (kind, options) =>
      own.list === undefined ? await client.list(kind, options) : requireItems('list', await own.list(kind, options)),
    create: async (kind, object, options) =>
      own.create === undefined
        ? await client.create(kind, object, options)
        : requireAnswer('create', await own.create(kind, object, options)),
    update: async (kind, object, options) =>
      own.update === undefined
        ? await client.update(kind, object, options)
        : requireAnswer('update', await own.update(kind, object, options)),
    patch: async (kind, key, patch, options) =>
      own.patch === undefined
        ? await client.patch(kind, key, patch, options)
        : requireAnswer('patch', await own.patch(kind, keyIn('patch', kind, key), patch, options)),
    delete: async (kind, key, options) =>
      own.delete === undefined
        ? await client.delete(kind, key, options)
        : requireAnswer('delete', await own.delete(kind, keyIn('delete', kind, key), options)),
    deleteAllOf: async (kind, options) =>
      own.deleteAllOf === undefined
        ? await client.deleteAllOf(kind, options)
        : requireCollection(await own.deleteAllOf(kind, options)),
    status: (kind) =>
      interceptStatus(
        kind,
        requireClientPart('status', client.status(kind)),
        hooksOf(own.subResource?.(kind, 'status')),
      ),
    subResource: <K extends Kind, B extends object = PersistedObject<K>>(
      kind: K,
      name: string,
    ): SubResourceClient<K, B> =>
      interceptSubResource(
        kind,
        requireClientPart('subResource', client.subResource<K, B>(kind, name)),
        hooksOf(own.subResource?.<K, B>(kind, name)),
      ),
  };
  if (!isWatchingClient(client)) return intercepted;
  const watching: WatchingClient = {
    ...intercepted,
    watch: async (kind, options) =>
      own.watch === undefined
        ? await client.watch(kind, options)
        : requireStream('watch', await own.watch(kind, options)),
  };
  return watching;
}

/** Status is a subresource whose body is the object. Its hooks get the key. */
function interceptStatus<K extends Kind>(
  kind: K,
  status: StatusClient<K>,
  hooks: SubResourceHooks<K, PersistedObject<K>>,
): StatusClient<K> {
  return {
    update: async (object, options) =>
      hooks.update === undefined
        ? await status.update(object, options)
        : requireAnswer('subResource update', await hooks.update(keyOfKind(kind, object), asBody<K>(object), options)),
    patch: async (key, patch, options) =>
      hooks.patch === undefined
        ? await status.patch(key, patch, options)
        : requireAnswer('subResource patch', await hooks.patch(keyIn('patch', kind, key), patch, options)),
  };
}

function interceptSubResource<K extends Kind, B>(
  kind: K,
  inner: SubResourceClient<K, B>,
  hooks: SubResourceHooks<K, B>,
): SubResourceClient<K, B> {
  return {
    get: async (key, options) =>
      hooks.get === undefined
        ? await inner.get(key, options)
        : requireAnswer('subResource get', await hooks.get(keyIn('get', kind, key), options)),
    create: async (key, body, options) =>
      hooks.create === undefined
        ? await inner.create(key, body, options)
        : requireAnswer('subResource create', await hooks.create(keyIn('create', kind, key), body, options)),
    update: async (key, body, options) =>
      hooks.update === undefined
        ? await inner.update(key, body, options)
        : requireAnswer('subResource update', await hooks.update(keyIn('update', kind, key), body, options)),
    patch: async (key, patch, options) =>
      hooks.patch === undefined
        ? await inner.patch(key, patch, options)
        : requireAnswer('subResource patch', await hooks.patch(keyIn('patch', kind, key), patch, options)),
  };
}

/** The body of a status update is the object. */
function asBody<K extends Kind>(object: object): DeepReadonly<Unread<PersistedObject<K>>> & WholeObject;
function asBody(object: object): object {
  return object;
}

/** No hooks for a subresource that has none. */
function hooksOf<K extends Kind, B>(hooks: SubResourceHooks<K, B> | undefined): SubResourceHooks<K, B> {
  return hooks === undefined ? {} : requireHooks('the subResource hook', hooks);
}

function requireHooks<H extends object>(what: string, hooks: H): H {
  if (isJsonObject(hooks) && !isThenable(hooks)) return hooks;
  throw new TypeError(`intercept: ${what} returned ${shownType(hooks)}: expected an object of hooks, such as { get }`);
}

/** @throws TypeError for what is not an object, which whoever called the verb would trip over */
function requireAnswer<T>(hook: string, answer: T): T {
  if (isJsonObject(answer)) return answer;
  throw new TypeError(`intercept: the ${hook} hook returned ${shownType(answer)}: expected an object, as next returns`);
}

function requireItems<T>(hook: 'list' | 'deleteAllOf', answer: T): T {
  if (isJsonObject(answer) && Array.isArray(answer['items']) && answer['items'].every(isJsonObject)) return answer;
  throw new TypeError(
    `intercept: the ${hook} hook returned ${isJsonObject(answer) ? 'no list of objects' : shownType(answer)}: expected { items }`,
  );
}

/** A list, a Status, or nothing. */
function requireCollection<T>(answer: T): T {
  if (answer === undefined) return answer;
  return isJsonObject(answer) && 'items' in answer
    ? requireItems('deleteAllOf', answer)
    : requireAnswer('deleteAllOf', answer);
}

function requireStream<T>(hook: 'watch', answer: T): T {
  const given: unknown = answer;
  if (typeof given === 'object' && given !== null && typeof Reflect.get(given, Symbol.asyncIterator) === 'function')
    return answer;
  throw new TypeError(`intercept: the ${hook} hook returned ${shownType(given)}: expected a stream of events`);
}
