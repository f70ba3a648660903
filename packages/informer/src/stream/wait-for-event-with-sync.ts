import type { KubeObject } from '@kctl/apimachinery';
import type { IndexReader } from '@kctl/cache-index';
import { waitForEventOptionNames } from '@kctl/client/internal';
import type { EventCondition, WaitForEventOptions } from '@kctl/client';
import { functionOption, requireOptions } from '@kctl/options';
import { systemClock, withDeadline } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import { requireKind } from '../required.js';
import type { InformerEvent } from '../handlers/event.js';
import type { SharedInformerOptions } from '../informer.js';
import { createSharedInformer } from '../shared-informer.js';
import { createEventStream } from './event-stream.js';

/** Options of {@link waitForEventWithSync}. */
export interface WaitForEventWithSyncOptions<T extends KubeObject>
  extends Pick<SharedInformerOptions<T>, 'kind' | 'listerWatcher'>,
    WaitForEventOptions {
  /** Conditions of events, in order; see `waitForEvent` of `@kctl/client`. */
  readonly until: EventCondition<InformerEvent<T>> | readonly EventCondition<InformerEvent<T>>[];
  /**
   * Checks all existing objects, once; true ends the wait. An error ends the wait, too.
   *
   * @default it is waited for an event
   */
  readonly precondition?: (indexer: IndexReader<T>) => boolean | Promise<boolean>;
}

const optionNames: OptionNames<WaitForEventWithSyncOptions<never>> = {
  ...waitForEventOptionNames,
  kind: true,
  listerWatcher: true,
  until: true,
  precondition: functionOption,
};

/**
 * Waits for events of a collection with a dedicated informer, which lists, resumes and lists again if a watch has
 * expired, and is gone when this settles. Events begin with adds of the existing objects; changes may be merged.
 * Mirrors `watch.UntilWithSync`.
 *
 * @returns the event of the last condition; undefined if the precondition held
 * @throws DeadlineExceededError after `timeoutMs`; the signal's reason on abort; what a condition throws; TypeError when an
 *   option is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { listerWatcherFor, waitForEventWithSync } from '@kctl/informer';
 *
 * await waitForEventWithSync({
 *   kind: Pod,
 *   listerWatcher: listerWatcherFor(client, Pod, { namespace: 'shop' }),
 *   precondition: (pods) => pods.list().length === 0,
 *   until: ({ type }) => type === 'delete',
 *   timeoutMs: 60_000,
 * });
 * ```
 */
export async function waitForEventWithSync<T extends KubeObject>(
  options: WaitForEventWithSyncOptions<T>,
): Promise<InformerEvent<T> | undefined> {
  requireOptions('waitForEventWithSync', options, optionNames);
  requireKind('waitForEventWithSync', options.kind);
  const { kind, listerWatcher, until, precondition, timeoutMs = Infinity, clock = systemClock, signal } = options;
  const message = `waitForEventWithSync ${kind.kind}: no such event within ${timeoutMs} ms`;
  const informer = createSharedInformer<T>({ kind, listerWatcher, clock, name: `${kind.plural} (waited for)` });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  try {
    return await withDeadline(
      async (deadline) => {
        await informer.waitForSync({ signal: deadline });
        if ((await precondition?.(informer.indexer)) === true) return undefined;
        return await createEventStream(informer, { clock }).waitForEvent(until, { signal: deadline });
      },
      { timeoutMs, clock, message, ...(signal === undefined ? {} : { signal }) },
    );
  } finally {
    stop.abort();
    await running;
  }
}
