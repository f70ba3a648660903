import type { KubeList, KubeObject } from '@kctl/apimachinery';
import type { FrameStream, ListFrames, ListOptions, WatchOptions, WatchStream } from '@kctl/client';
import { hasMethods, requireThat } from './required.js';

/**
 * Requirements of an informer on a list (paging and versions). The scope (kind, namespace, selectors) belongs to the
 * ListerWatcher.
 */
export type ListCall = Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch' | 'limit' | 'continue' | 'signal'>;

/** Requirements of an informer on a watch. */
export type WatchCall = Pick<
  WatchOptions,
  'resourceVersion' | 'resourceVersionMatch' | 'allowWatchBookmarks' | 'sendInitialEvents' | 'timeoutSeconds' | 'signal'
>;

interface ListerWatcherBase {
  /**
   * Whether the server ends the initial events of a watch with a bookmark (WatchList). Fakes and old servers return
   * false; a server that does not is detected and remembered.
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
 * Lists and watches one collection as bytes. This is the fast path, which parses only objects that are read. The
 * informer keeps no view of a batch when it requests the next one.
 */
export interface FrameListerWatcher extends ListerWatcherBase {
  listFrames(call: ListCall): Promise<ListFrames>;
  watchFrames(call: WatchCall): Promise<FrameStream>;
}

/**
 * The source of an informer's objects. Calls reject with a `StatusError` when the server refuses and with any other
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
