import type { Kind, KubeObject, PersistedObject, Status } from '@kctl/apimachinery';
import {
  fieldSelectorFrom,
  isForbidden,
  isGone,
  isStatusError,
  isUnauthorized,
  labelSelectorFrom,
  StatusError,
} from '@kctl/apimachinery';
import {
  clockOption,
  functionOption,
  numberProblem,
  optionWithMethods,
  requireOptions,
  signalOption,
  textOption,
} from '@kctl/options';
import { anySignal, orAborted, retryAfterMs, sleep, systemClock, timeoutSignal } from '@kctl/wait';
import { isConnectionFailure } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { AbortLink, Clock } from '@kctl/wait';
import type { Watcher, WatchEvent, WatchStream } from '../client.js';
import type { WatchOptions } from '../options.js';
import { requireKind } from '../checks/require-kind.js';
import { settled } from './settled.js';

/** Options of {@link createRetryWatcher}. */
export interface RetryWatcherOptions
  extends Pick<WatchOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'signal'> {
  /** Events after this version, that of a list for example; not '' or '0', which a watch cannot be resumed from. */
  readonly resourceVersion: string;
  /** The least time between the starts of two watches, in ms. @default 1000 */
  readonly minRestartDelayMs?: number;
  /** Seconds after which the server must end each watch; one that has not ended 10 s later is given up. @default 300 */
  readonly timeoutSeconds?: number;
  /**
   * Receives the reason for resuming a watch, which is the error, or undefined if the server ended the last one. Errors
   * that it throws are dropped.
   *
   * @default nothing
   */
  readonly onRestart?: (error: unknown) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** An event of a {@link RetryWatcher}: bookmarks are used, not handed on. */
export type RetryEvent<T> = Exclude<WatchEvent<T>, { readonly type: 'BOOKMARK' }>;

/**
 * One watch made of many, in which a watch that ends or breaks is resumed after the last event. To be read once.
 * Iteration ends when the signal aborts, when it is disposed of, and after an ERROR event, which states why it cannot
 * be resumed.
 */
export interface RetryWatcher<T> extends AsyncIterable<RetryEvent<T>>, AsyncDisposable {
  /** The version from which a watch would be resumed now. */
  readonly resourceVersion: string;
}

const optionNames: OptionNames<RetryWatcherOptions> = {
  namespace: textOption,
  labelSelector: true,
  fieldSelector: true,
  signal: signalOption,
  resourceVersion: true,
  minRestartDelayMs: true,
  timeoutSeconds: true,
  onRestart: functionOption,
  clock: clockOption,
};
const watcherOption = optionWithMethods(['watch'], 'a client that watches, such as createHttpClient(…)');
/** Extra time for a server to end a watch, beyond the requested time. */
const graceMs = 10_000;
/** A longer pause requested by a server is ignored, in ms. */
const maxRetryAfterMs = 300_000;

/**
 * Watches a collection without a list and without a store, and resumes if the connection breaks or the server ends the
 * watch, so that no event is lost and none comes twice. It ends with an ERROR event if it cannot continue, because the
 * version has expired (410), the server refuses the user (401, 403), or an event has no version. Mirrors
 * `watch.NewRetryWatcher`; unlike there, a 410 in place of the stream ends it too, and a silent connection is given up.
 * It does nothing before it is read.
 *
 * @throws TypeError when an argument is not valid; SelectorError for a selector that is not well-formed
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createRetryWatcher } from '@kctl/client';
 *
 * const { metadata } = await client.list(Pod, { namespace: 'shop' });
 * const events = createRetryWatcher(client, Pod, { namespace: 'shop', resourceVersion: metadata.resourceVersion ?? '' });
 * for await (const event of events) {
 *   if (event.type === 'ERROR') throw new Error(event.status.message);
 *   console.log(event.type, event.object.metadata.name);
 * }
 * ```
 */
export function createRetryWatcher<K extends Kind>(
  client: Watcher,
  kind: K,
  options: RetryWatcherOptions,
): RetryWatcher<PersistedObject<K>> {
  const where = 'createRetryWatcher';
  requireOptions(where, options, optionNames);
  requireKind(where, kind);
  const { resourceVersion, labelSelector, fieldSelector, minRestartDelayMs = 1000, timeoutSeconds = 300 } = options;
  const isResumable = typeof resourceVersion === 'string' && resourceVersion !== '' && resourceVersion !== '0';
  const problem =
    watcherOption('client', client) ??
    (isResumable
      ? undefined
      : `resourceVersion ${JSON.stringify(resourceVersion)} is not valid: expected that of a list or object`) ??
    numberProblem('minRestartDelayMs', minRestartDelayMs) ??
    numberProblem('timeoutSeconds', timeoutSeconds, { least: 1, integer: true });
  if (problem !== undefined) throw new TypeError(`${where} ${kind.kind}: ${problem}`);
  // Each parser throws a specific error.
  if (labelSelector !== undefined) labelSelectorFrom(labelSelector);
  if (fieldSelector !== undefined) fieldSelectorFrom(fieldSelector);
  return new ResumedWatch(client, kind, { ...options, minRestartDelayMs, timeoutSeconds });
}

type WatchSettings = RetryWatcherOptions & Required<Pick<RetryWatcherOptions, 'minRestartDelayMs' | 'timeoutSeconds'>>;

/** The end of one watch, either final or to be resumed, unless the signal is aborted. */
type WatchEnd =
  | { readonly isOver: true; readonly status: Status }
  | { readonly isOver: false; readonly error: unknown };

class ResumedWatch<K extends Kind> implements RetryWatcher<PersistedObject<K>> {
  readonly #client: Watcher;
  readonly #kind: K;
  readonly #settings: WatchSettings;
  readonly #clock: Clock;
  readonly #stop: AbortLink;
  readonly #events: AsyncGenerator<RetryEvent<PersistedObject<K>>, void>;
  #resourceVersion: string;

  constructor(client: Watcher, kind: K, settings: WatchSettings) {
    this.#client = client;
    this.#kind = kind;
    this.#settings = settings;
    this.#clock = settings.clock ?? systemClock;
    this.#resourceVersion = settings.resourceVersion;
    this.#stop = anySignal([settings.signal]);
    this.#events = this.#follow();
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  [Symbol.asyncIterator](): AsyncIterator<RetryEvent<PersistedObject<K>>, void> {
    const events = this.#events;
    return {
      next: () => events.next(),
      // The abort ends a read that waits, which `return` would wait for.
      return: async () => {
        await this[Symbol.asyncDispose]();
        return { done: true, value: undefined };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#events.return();
  }

  async *#follow(): AsyncGenerator<RetryEvent<PersistedObject<K>>, void> {
    const { minRestartDelayMs } = this.#settings;
    const { signal } = this.#stop;
    using _link = this.#stop;
    while (!signal.aborted) {
      const began = this.#clock.monotonicNow();
      const end = yield* this.#watchOnce(signal);
      if (signal.aborted) return;
      if (end.isOver) {
        yield { type: 'ERROR', status: end.status };
        return;
      }
      this.#report(end.error);
      const rest = minRestartDelayMs - (this.#clock.monotonicNow() - began);
      const pauseMs = Math.max(rest, Math.min(retryAfterMs(end.error) ?? 0, maxRetryAfterMs), 0);
      await sleep(pauseMs, { clock: this.#clock, signal }).catch(() => undefined);
    }
  }

  #report(error: unknown): void {
    try {
      this.#settings.onRestart?.(error);
    } catch {
      // The events go on.
    }
  }

  async *#watchOnce(signal: AbortSignal): AsyncGenerator<RetryEvent<PersistedObject<K>>, WatchEnd> {
    const { namespace, labelSelector, fieldSelector, timeoutSeconds } = this.#settings;
    using overdue = timeoutSignal(this.#clock, timeoutSeconds * 1000 + graceMs);
    using link = anySignal([signal, overdue.signal]);
    let stream: WatchStream<PersistedObject<K>>;
    try {
      const opening = this.#client.watch(this.#kind, {
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
        resourceVersion: this.#resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds,
        signal: link.signal,
      });
      stream = await orAborted(opening, link.signal);
    } catch (error) {
      // The reason of the signal may be of any type, also one that is taken for a mistake of the program.
      return signal.aborted ? { isOver: false, error } : refused(error);
    }
    const events = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const result = await orAborted(events.next(), link.signal);
        if (result.done === true) return { isOver: false, error: undefined };
        const end = yield* this.#handOn(result.value);
        if (end !== undefined) return end;
      }
    } catch (error) {
      return { isOver: false, error };
    } finally {
      link.abort();
      await settled(() => stream[Symbol.asyncDispose]());
    }
  }

  *#handOn(event: WatchEvent<PersistedObject<K>>): Generator<RetryEvent<PersistedObject<K>>, WatchEnd | undefined> {
    if (event.type === 'ERROR') return failed(event.status);
    const resourceVersion = event.type === 'BOOKMARK' ? event.resourceVersion : versionOf(event.object);
    if (resourceVersion === '') {
      const message = `a watch event of type ${event.type} has no resourceVersion: the watch cannot be resumed after it`;
      return { isOver: true, status: { status: 'Failure', code: 500, reason: 'InternalError', message } };
    }
    if (event.type !== 'BOOKMARK') yield event;
    this.#resourceVersion = resourceVersion;
    return undefined;
  }
}

/** The server's answer in place of a stream. */
function refused(error: unknown): WatchEnd {
  if (isStatusError(error) && (isGone(error) || isForbidden(error) || isUnauthorized(error)))
    return { isOver: true, status: error.status };
  // A mistake of the program is there each time.
  if (error instanceof TypeError && !isConnectionFailure(error)) throw error;
  return { isOver: false, error };
}

/** It goes on unless it is certain that it cannot. */
function failed(status: Status): WatchEnd {
  const error = new StatusError(status);
  return isGone(error) ? { isOver: true, status } : { isOver: false, error };
}

function versionOf({ metadata }: KubeObject): string {
  return metadata?.resourceVersion ?? '';
}
