import type { KubeList, KubeObject } from '@kctl/apimachinery';
import type { FrameStream, ListFrames, ListOptions, WatchOptions, WatchStream } from '@kctl/client';
import { hasMethods, requireThat } from './required.js';

/** What an informer asks of a list: paging and versions; the scope (kind, namespace, selectors) is the ListerWatcher's. */
export type ListCall = Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch' | 'limit' | 'continue' | 'signal'>;

/** What an informer asks of a watch. */
export type WatchCall = Pick<
  WatchOptions,
  'resourceVersion' | 'resourceVersionMatch' | 'allowWatchBookmarks' | 'sendInitialEvents' | 'timeoutSeconds' | 'signal'
>;

interface ListerWatcherBase {
  /**
   * Whether the server ends the initial events of a watch with a bookmark (WatchList). Fakes and old servers say false;
   * a server that turns out not to is found out and remembered.
   *
   * @default true
   */
  readonly supportsWatchList?: boolean;
}

/** Lists and watches one collection as parsed objects. Mirrors `cache.ListerWatcher`. */
export interface ObjectListerWatcher<T extends KubeObject> extends ListerWatcherBase {
  list(call: ListCall): Promise<KubeList<T>>;
  watch(call: WatchCall): Promise<WatchStream<T>>;
}

/**
 * Lists and watches one collection as bytes: the fast path, which parses only what is read. The informer keeps no
 * view of a batch when it asks for the next one.
 */
export interface FrameListerWatcher extends ListerWatcherBase {
  listFrames(call: ListCall): Promise<ListFrames>;
  watchFrames(call: WatchCall): Promise<FrameStream>;
}

/**
 * Where an informer gets its objects. Calls reject with a `StatusError` when the server refuses and with any other
 * error when the connection fails; aborting `call.signal` ends the call and the streams it returned.
 */
export type ListerWatcher<T extends KubeObject> = ObjectListerWatcher<T> | FrameListerWatcher;

/** Whether a ListerWatcher yields bytes. */
export function yieldsFrames<T extends KubeObject>(
  listerWatcher: ListerWatcher<T>,
): listerWatcher is FrameListerWatcher {
  return hasMethods(listerWatcher, ['listFrames', 'watchFrames']);
}

/** @throws TypeError for what is not a ListerWatcher */
export function requireListerWatcher(where: string, listerWatcher: unknown): void {
  requireThat(
    hasMethods(listerWatcher, ['list', 'watch']) || hasMethods(listerWatcher, ['listFrames', 'watchFrames']),
    `${where}: listerWatcher`,
    {
      value: listerWatcher,
      expected: 'list and watch, or listFrames and watchFrames, such as listerWatcherFor(client, kind)',
    },
  );
}
