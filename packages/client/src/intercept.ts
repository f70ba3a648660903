import type { Kind, ObjectOf } from '@kctl/apimachinery';
import type { Client, Reader, StatusClient, SubResourceClient, Watcher, WatchingClient, Writer } from './client.js';
import { keyOfKind } from './kube-object.js';
import { isWatchingClient } from './wrap.js';

/**
 * Hooks in place of verbs: each has the signature of the verb it replaces; what is left out passes through.
 * `subResource` returns hooks for the verbs of one subresource and sees the status subresource, too, under the name
 * `status`.
 */
export interface Interceptor extends Partial<Reader>, Partial<Writer>, Partial<Watcher> {
  subResource?<K extends Kind, B extends object = ObjectOf<K>>(kind: K, name: string): Partial<SubResourceClient<K, B>>;
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
  const own = hooks(client);
  const intercepted: Client = {
    get: (kind, key, options) => (own.get === undefined ? client.get(kind, key, options) : own.get(kind, key, options)),
    list: (kind, options) => (own.list === undefined ? client.list(kind, options) : own.list(kind, options)),
    create: (kind, object, options) =>
      own.create === undefined ? client.create(kind, object, options) : own.create(kind, object, options),
    update: (kind, object, options) =>
      own.update === undefined ? client.update(kind, object, options) : own.update(kind, object, options),
    patch: (kind, key, patch, options) =>
      own.patch === undefined ? client.patch(kind, key, patch, options) : own.patch(kind, key, patch, options),
    delete: (kind, key, options) =>
      own.delete === undefined ? client.delete(kind, key, options) : own.delete(kind, key, options),
    deleteAllOf: (kind, options) =>
      own.deleteAllOf === undefined ? client.deleteAllOf(kind, options) : own.deleteAllOf(kind, options),
    status: (kind) => interceptStatus(kind, client.status(kind), own.subResource?.(kind, 'status')),
    subResource: <K extends Kind, B extends object = ObjectOf<K>>(kind: K, name: string): SubResourceClient<K, B> =>
      interceptSubResource(client.subResource<K, B>(kind, name), own.subResource?.<K, B>(kind, name)),
  };
  if (!isWatchingClient(client)) return intercepted;
  const watching: WatchingClient = {
    ...intercepted,
    watch: (kind, options) => (own.watch === undefined ? client.watch(kind, options) : own.watch(kind, options)),
  };
  return watching;
}

/** Status is a subresource whose body is the object: its hooks are told the key. */
function interceptStatus<K extends Kind>(
  kind: K,
  status: StatusClient<K>,
  hooks: Partial<SubResourceClient<K, ObjectOf<K>>> = {},
): StatusClient<K> {
  return {
    update: (object, options) =>
      hooks.update === undefined
        ? status.update(object, options)
        : hooks.update(keyOfKind(kind, object), object, options),
    patch: (key, patch, options) =>
      hooks.patch === undefined ? status.patch(key, patch, options) : hooks.patch(key, patch, options),
  };
}

function interceptSubResource<K extends Kind, B>(
  inner: SubResourceClient<K, B>,
  hooks: Partial<SubResourceClient<K, B>> = {},
): SubResourceClient<K, B> {
  return {
    get: (key, options) => (hooks.get === undefined ? inner.get(key, options) : hooks.get(key, options)),
    create: (key, body, options) =>
      hooks.create === undefined ? inner.create(key, body, options) : hooks.create(key, body, options),
    update: (key, body, options) =>
      hooks.update === undefined ? inner.update(key, body, options) : hooks.update(key, body, options),
    patch: (key, patch, options) =>
      hooks.patch === undefined ? inner.patch(key, patch, options) : hooks.patch(key, patch, options),
  };
}
