import { requireList } from '@kctl/client/internal';
import { requireOptions, shownArgument } from '@kctl/options';
import { waitNames } from '../waiters.js';
import type { InformerWaitOptions } from '../waiters.js';

/** Anything that can be waited for, such as an informer, a registration, a queue or a controller of deltas. */
export interface Synced {
  waitForSync(options?: InformerWaitOptions): Promise<void>;
}

/**
 * Waits until all informers have synced. Mirrors `cache.WaitForCacheSync`.
 *
 * @throws the error of the first that does not sync in time, or that has stopped; the waits for the others end then
 *
 * @example
 * ```ts
 * import type { KubeObject } from '@kctl/apimachinery';
 * import { waitForSync, type SharedInformer } from '@kctl/informer';
 *
 * export async function whenSynced(informers: SharedInformer<KubeObject>[], signal: AbortSignal): Promise<void> {
 *   await waitForSync(informers, { signal, timeoutMs: 60_000 });
 * }
 * ```
 */
export async function waitForSync(informers: readonly Synced[], options: InformerWaitOptions = {}): Promise<void> {
  requireList('waitForSync', 'informers', informers, 'a list of informers');
  requireOptions('waitForSync', options, waitNames);
  for (const [index, informer] of informers.entries())
    if (typeof (informer as Partial<Synced> | null)?.waitForSync !== 'function')
      throw new TypeError(`waitForSync: informers[${index}] is ${shownArgument(informer)}: expected an informer`);
  const ending = new AbortController();
  const signal = options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal]);
  try {
    await Promise.all(informers.map(async (informer) => await informer.waitForSync({ ...options, signal })));
  } finally {
    ending.abort();
  }
}
