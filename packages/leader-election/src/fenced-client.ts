import type { Kind } from '@kctl/apimachinery';
import type { AbortOptions, Client, StatusClient, SubResourceClient } from '@kctl/client';
import { anySignal, type AbortLink } from '@kctl/wait';
import type { Fence } from './fence.js';

/**
 * Returns a client whose writes are refused while the fence is closed and aborted when leadership ends, even if the
 * caller ignores its signal. Reads pass. `fence` is one for all writes, or a function that is called at each write and
 * returns its fence.
 *
 * @throws NotLeaderError (rejects) on a write without leadership
 */
export function fencedClient(client: Client, fence: Fence | (() => Fence)): Client {
  const guarded = guardWith(fence);
  return {
    get: (kind, key, options) => client.get(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    create: (kind, object, options) => guarded(options, (own) => client.create(kind, object, own)),
    update: (kind, object, options) => guarded(options, (own) => client.update(kind, object, own)),
    patch: (kind, key, patch, options) => guarded(options, (own) => client.patch(kind, key, patch, own)),
    delete: (kind, key, options) => guarded(options, (own) => client.delete(kind, key, own)),
    deleteAllOf: (kind, options) => guarded(options, (own) => client.deleteAllOf(kind, own)),
    status: <K extends Kind>(kind: K): StatusClient<K> => {
      const inner = client.status(kind);
      return {
        update: (object, options) => guarded(options, (own) => inner.update(object, own)),
        patch: (key, patch, options) => guarded(options, (own) => inner.patch(key, patch, own)),
      };
    },
    subResource: <K extends Kind, B extends object>(kind: K, name: string): SubResourceClient<K, B> => {
      const inner = client.subResource<K, B>(kind, name);
      return {
        get: (key, options) => inner.get(key, options),
        create: (key, body, options) => guarded(options, (own) => inner.create(key, body, own)),
        update: (key, body, options) => guarded(options, (own) => inner.update(key, body, own)),
        patch: (key, patch, options) => guarded(options, (own) => inner.patch(key, patch, own)),
      };
    },
  };
}

/** Checks the fence and adds the term's signal to the caller's. */
function guardWith(
  which: Fence | (() => Fence),
): <O extends AbortOptions, R>(options: O | undefined, send: (options: O | AbortOptions) => Promise<R>) => Promise<R> {
  return async (options, send) => {
    const fence = typeof which === 'function' ? which() : which;
    fence.check();
    using link = anySignal([options?.signal, fence.signal]);
    return await send({ ...options, signal: watchful(link, fence) });
  };
}

/**
 * Makes a signal look at the fence whenever its `aborted` is read. A stall of the event loop between the check above
 * and the socket would otherwise go unnoticed, because code that was waiting runs before any timer does.
 */
function watchful(link: AbortLink, fence: Fence): AbortSignal {
  const { signal } = link;
  let isAborted = signal.aborted;
  signal.addEventListener('abort', () => (isAborted = true));
  const look = (): boolean => {
    if (isAborted) return true;
    try {
      fence.check();
      return false;
    } catch (error) {
      link.abort(error);
      return true;
    }
  };
  Object.defineProperties(signal, {
    aborted: { get: look },
    throwIfAborted: {
      value: () => {
        if (look()) throw signal.reason;
      },
    },
  });
  return signal;
}
