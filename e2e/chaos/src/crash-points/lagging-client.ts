import type { Client } from '@kctl/client';
import type { HttpClient } from '@kctl/client-http';
import { listerWatcherFor, type ListerWatcher } from '@kctl/informer';
import { createCache, createDelegatingClient, type Kind } from '@kctl/runtime';
import type { KubeObject } from '@kctl/apimachinery';
import { sleep } from '@kctl/wait';

/** A client as a manager makes it, with a cache of its own that hears of changes late. */
export interface LaggingClient extends AsyncDisposable {
  readonly client: Client;
}

/** How long news are under way, in ms: longer than a write takes. */
export const lagMs = 8;

/** @param writer what is written with, and read with where reads are live */
export async function startLaggingClient(
  live: HttpClient,
  writer: Client,
  kinds: readonly Kind[],
): Promise<LaggingClient> {
  const cache = createCache({
    client: live,
    byObject: kinds.map((kind) => ({ kind })),
    watchList: false,
    listerWatcherFor: (kind, scope) => delayNews(listerWatcherFor(live, kind, scope)),
  });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.waitForSync({ timeoutMs: 10_000 });
  return {
    client: createDelegatingClient({ cache, client: writer }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

function delayNews<T extends KubeObject>(inner: ListerWatcher<T>): ListerWatcher<T> {
  if (!('watchFrames' in inner)) throw new Error('a lag is made for clients that yield bytes');
  return {
    listFrames: (call) => inner.listFrames(call),
    watchFrames: async (call) => {
      const stream = await inner.watchFrames(call);
      return {
        async *[Symbol.asyncIterator]() {
          for await (const batch of stream) {
            await sleep(lagMs);
            yield batch;
          }
        },
        [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
      };
    },
  };
}
