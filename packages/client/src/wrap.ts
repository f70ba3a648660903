import type { Kind, PersistedObject } from '@kctl/apimachinery';
import { requireClientPart } from './answers.js';
import type { Client, Reader, SubResourceClient, Watcher, WatchingClient } from './client.js';
import type { DeleteAllOfOptions, DeleteOptions, WriteOptions } from './options.js';

/** How a wrapper changes the options of writes. */
export interface OptionRewrite {
  readonly write: <O extends WriteOptions>(options: O | undefined) => O;
  readonly remove: <O extends DeleteOptions | DeleteAllOfOptions>(options: O | undefined) => O | undefined;
}

/** Whether a client can watch. */
export function isWatchingClient(client: Client): client is WatchingClient {
  return 'watch' in client && typeof client.watch === 'function';
}

/** Whether a reader can also watch. */
export function isWatchable(reader: Reader): reader is Reader & Watcher {
  return 'watch' in reader && typeof reader.watch === 'function';
}

/** A client whose writes get other options; reads and watches pass through. */
export function rewriteOptions(client: Client, { write, remove }: OptionRewrite): Client {
  const rewritten: Client = {
    get: (kind, key, options) => client.get(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    create: (kind, object, options) => client.create(kind, object, write(options)),
    update: (kind, object, options) => client.update(kind, object, write(options)),
    patch: (kind, key, patch, options) => client.patch(kind, key, patch, write(options)),
    delete: (kind, key, options) => client.delete(kind, key, remove(options)),
    deleteAllOf: (kind, options) => client.deleteAllOf(kind, remove(options)),
    status: (kind) => {
      const status = requireClientPart('status', client.status(kind));
      return {
        update: (object, options) => status.update(object, write(options)),
        patch: (key, patch, options) => status.patch(key, patch, write(options)),
      };
    },
    subResource: <K extends Kind, B extends object = PersistedObject<K>>(
      kind: K,
      name: string,
    ): SubResourceClient<K, B> => {
      const inner = requireClientPart('subResource', client.subResource<K, B>(kind, name));
      return {
        get: (key, options) => inner.get(key, options),
        create: (key, body, options) => inner.create(key, body, write(options)),
        update: (key, body, options) => inner.update(key, body, write(options)),
        patch: (key, patch, options) => inner.patch(key, patch, write(options)),
      };
    },
  };
  return withWatch(client, rewritten);
}

/** Lets a wrapper watch if the wrapped client can. */
function withWatch(client: Client, wrapper: Client): Client {
  if (!isWatchingClient(client)) return wrapper;
  const watching: WatchingClient = { ...wrapper, watch: (kind, options) => client.watch(kind, options) };
  return watching;
}
