import type { Kind, PersistedObject } from '@kctl/apimachinery';
import { requireClientPart } from './checks/answers.js';
import type { Client, Reader, SubResourceClient, Watcher, WatchingClient } from './client.js';
import type { DeleteAllOfOptions, ListOptions, PatchOptions, WatchOptions } from './options.js';

/**
 * Handling of each option of a contract by a wrapper, complete by type. The option is passed on (`sent`), or gets the
 * value that a function makes of the given one.
 */
export type Rewrites<O extends object> = {
  readonly [N in keyof Required<O>]: 'sent' | ((given: O[N]) => O[N]);
};

/** How a wrapper changes the options of writes. Those of reads and watches pass through as they are. */
export interface OptionRewrite {
  readonly write: Rewrites<PatchOptions>;
  readonly remove: Rewrites<DeleteAllOfOptions>;
}

/** Handling of options that do not concern a wrapper. */
export const sentWrites: OptionRewrite['write'] = {
  dryRun: 'sent',
  fieldOwner: 'sent',
  fieldValidation: 'sent',
  force: 'sent',
  signal: 'sent',
};

/** The same of deletes. */
export const sentDeletes: OptionRewrite['remove'] = {
  dryRun: 'sent',
  gracePeriodSeconds: 'sent',
  preconditions: 'sent',
  propagationPolicy: 'sent',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'sent',
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  signal: 'sent',
};

/** The same of watches. */
export const sentWatches: Rewrites<WatchOptions> = {
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  allowWatchBookmarks: 'sent',
  sendInitialEvents: 'sent',
  timeoutSeconds: 'sent',
  signal: 'sent',
};

/** The same of lists. */
export const sentLists: Rewrites<ListOptions> = {
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  limit: 'sent',
  continue: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
};

/** Returns a copy of options with the values that a table gives them; the options themselves if it changes none. */
export function rewritten<O extends object | undefined>(table: RewriteTable, options: O): O;
export function rewritten(table: RewriteTable, options: object | undefined): object | undefined {
  const changes: Record<string, unknown> = {};
  for (const [name, change] of Object.entries(table))
    if (change !== 'sent')
      changes[name] = Reflect.apply(change, undefined, [
        options === undefined ? undefined : Reflect.get(options, name),
      ]);
  return Object.keys(changes).length === 0 ? options : { ...options, ...changes };
}

type RewriteTable = Readonly<Record<string, 'sent' | ((given: never) => unknown)>>;

/** Whether a client can watch. */
export function isWatchingClient(client: Client): client is WatchingClient {
  return isWatchable(client);
}

/** Whether a reader can also watch. */
export function isWatchable(reader: Reader): reader is Reader & Watcher {
  return typeof Reflect.get(reader, 'watch') === 'function';
}

/** A client whose writes get other options; reads and watches pass through. */
export function rewriteOptions(client: Client, rewrite: OptionRewrite): Client {
  const write = <O extends object | undefined>(options: O): O => rewritten(rewrite.write, options);
  const remove = <O extends object | undefined>(options: O): O => rewritten(rewrite.remove, options);
  const wrapper: Client = {
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
  return withWatch(client, wrapper);
}

/** Lets a wrapper watch if the wrapped client can. */
function withWatch(client: Client, wrapper: Client): Client {
  if (!isWatchingClient(client)) return wrapper;
  const watching: WatchingClient = { ...wrapper, watch: (kind, options) => client.watch(kind, options) };
  return watching;
}
