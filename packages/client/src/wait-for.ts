import { isNotFound } from '@kctl/apimachinery';
import type { KeyOf, KeyOrObject, Kind, StatusError } from '@kctl/apimachinery';
import { clockOption, numberProblem, requireOptions, signalOption } from '@kctl/options';
import { createBackoff, sleep, systemClock, withDeadline } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { Reader, ReadObject, Watcher, WatchStream } from './client.js';
import { metadataOf } from './kube-object.js';
import { keyIn } from './checks/require-kind.js';
import { targetCondition, waitTargetNames } from './wait-target.js';
import type { WaitTarget } from './wait-target.js';
import { settled } from './watching/settled.js';
import { isWatchable } from './wrap.js';
import type { AbortOptions, GetOptions, ListOptions } from './options.js';

/**
 * Reports whether an object is in the desired state; it is undefined if it does not exist. Called for each state that
 * is seen.
 */
export type WaitCondition<K extends Kind> = (object: ReadObject<K> | undefined) => boolean;

/**
 * Functions that a condition must not be. A guard of errors, such as `isGone` or `isNotFound` of @kctl/apimachinery,
 * would never hold for an object.
 */
export type NotOfErrors<C> = C extends (error: unknown) => error is StatusError
  ? { readonly 'this is about errors: use isDeleted() or exists()': never }
  : unknown;

/**
 * Options of {@link waitFor}. Exactly one of `until`, `condition`, `jsonPath`, `deleted` and `created` sets the
 * condition.
 */
export interface WaitForOptions<K extends Kind> extends AbortOptions, WaitTarget {
  /** e.g. `hasCondition('Ready')`, `isReady()`, or a function of yours. */
  readonly until?: WaitCondition<K>;
  /** How long to wait, in ms. @default unlimited */
  readonly timeoutMs?: number;
  /** ms between reads if the client cannot watch, and before a failed watch is tried again. @default 1000 */
  readonly intervalMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<WaitForOptions<never>> = {
  until: true,
  condition: true,
  jsonPath: true,
  deleted: true,
  created: true,
  timeoutMs: true,
  intervalMs: true,
  clock: clockOption,
  signal: signalOption,
};

/**
 * Waits until an object is in the desired state, and returns it (undefined if the condition holds without one). The
 * condition is a function of yours, or one that `kubectl wait --for` takes. It reads the object, then watches it alone,
 * from the server; a watch that ends, fails or is refused is followed by a pause and a read, so that nothing is missed.
 * A client that cannot watch reads repeatedly.
 *
 * @throws DeadlineExceededError after `timeoutMs`; the signal's reason on abort; what a read throws, but for a 404;
 *   what the condition throws; TypeError when an argument is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { hasCondition, waitFor } from '@kctl/client';
 *
 * const key = { namespace: 'shop', name: 'web-0' };
 * const ready = await waitFor(client, Pod, key, { until: hasCondition('Ready'), timeoutMs: 60_000 });
 * await waitFor(client, Pod, key, { jsonPath: '{.status.phase}=Succeeded' });
 * await waitFor(client, Pod, key, { deleted: true });
 * ```
 */
export async function waitFor<K extends Kind, C extends WaitCondition<K> = WaitCondition<K>>(
  client: Reader | (Reader & Watcher),
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  options: WaitForOptions<K> & { readonly until?: C & NotOfErrors<C> },
): Promise<ReadObject<K> | undefined> {
  requireOptions('waitFor', options, optionNames);
  const { timeoutMs = Infinity, intervalMs = 1000, clock = systemClock } = options;
  const key = keyIn('waitFor', kind, named);
  const problem =
    targetProblem(options) ??
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true }) ??
    numberProblem('intervalMs', intervalMs);
  if (problem !== undefined) throw new TypeError(`waitFor ${kind.kind}: ${problem}`);
  const until = options.until ?? targetOf(kind, named, options);
  const message = `${kind.kind} ${key.name} was not as wanted${shownTarget(options)} within ${timeoutMs} ms`;
  const wait = new ObjectWait(client, kind, key, until);
  return await withDeadline(
    async (signal) => {
      // A watch that is refused each time must not become a storm of reads.
      const pause = createBackoff({
        initialMs: intervalMs,
        factor: 1.5,
        capMs: Math.max(intervalMs, 30_000),
        jitter: 0.1,
        clock,
      });
      for (;;) {
        const outcome = isWatchable(client) ? await wait.readAndWatch(client, signal) : await wait.read(signal);
        if (outcome.isMet) return outcome.object;
        if (outcome.hasProgressed) pause.reset();
        await sleep(isWatchable(client) ? pause.next() : intervalMs, { clock, signal });
      }
    },
    { ...options, timeoutMs, clock, message },
  );
}

function targetProblem(options: WaitForOptions<never>): string | undefined {
  const { until, deleted, created } = options;
  const set = (['until', ...waitTargetNames] as const).filter((name) => options[name] !== undefined);
  if (set.length > 1) return `${set.join(' and ')} are set: set one`;
  if (until !== undefined && typeof until !== 'function')
    return 'until is not a function: expected one, such as exists()';
  if (set.length === 0)
    return 'until is not set: expected a function, such as exists(), or one of condition, jsonPath, deleted and created';
  const flag: unknown = deleted ?? created ?? true;
  return flag === true ? undefined : `${set.join('')} is not true: leave it out`;
}

function targetOf<K extends Kind>(kind: K, named: KeyOrObject<K>, target: WaitTarget): (object: unknown) => boolean {
  const uid = 'metadata' in named ? metadataOf(named).uid : undefined;
  try {
    return targetCondition(target, uid);
  } catch (error) {
    if (error instanceof TypeError) throw new TypeError(`waitFor ${kind.kind}: ${error.message}`, { cause: error });
    throw error;
  }
}

function shownTarget(options: WaitTarget): string {
  const name = waitTargetNames.find((each) => options[each] !== undefined);
  return name === undefined ? '' : ` (${name}${options[name] === true ? '' : ` ${options[name] ?? ''}`})`;
}

type Outcome<K extends Kind> =
  | { readonly isMet: true; readonly object: ReadObject<K> | undefined }
  | { readonly isMet: false; readonly hasProgressed: boolean };

class ObjectWait<K extends Kind> {
  readonly #reader: Reader;
  readonly #kind: K;
  readonly #key: KeyOf<K>;
  readonly #until: WaitCondition<K>;
  /** Reports whether the key states the place of the object. */
  readonly #hasPlace: boolean;

  constructor(reader: Reader, kind: K, key: KeyOf<K>, until: WaitCondition<K>) {
    this.#reader = reader;
    this.#kind = kind;
    this.#key = key;
    this.#until = until;
    this.#hasPlace = kind.scope === 'Cluster' || (key.namespace ?? '') !== '';
  }

  async read(signal: AbortSignal): Promise<Outcome<K>> {
    return this.#check(await this.#get({ signal }));
  }

  async readAndWatch(watcher: Watcher, signal: AbortSignal): Promise<Outcome<K>> {
    const { namespace, name } = this.#key;
    // A list would be one of all namespaces. A client of one namespace fills it in here, too; any other refuses the get.
    if (!this.#hasPlace) await this.#get({ signal, live: true });
    const scope: ListOptions = {
      fieldSelector: { 'metadata.name': name },
      signal,
      ...(namespace === undefined ? {} : { namespace }),
    };
    const { items, metadata } = await this.#reader.list(this.#kind, { ...scope, live: true });
    const outcome = this.#check(items[0]);
    if (outcome.isMet) return outcome;
    const { resourceVersion = '' } = metadata;
    let stream: WatchStream<ReadObject<K>>;
    try {
      stream = readonlyStream(await watcher.watch(this.#kind, { ...scope, resourceVersion }));
    } catch {
      return outcome;
    }
    return await this.#follow(stream, signal);
  }

  async #follow(stream: WatchStream<ReadObject<K>>, signal: AbortSignal): Promise<Outcome<K>> {
    try {
      const events = stream[Symbol.asyncIterator]();
      let hasProgressed = false;
      for (;;) {
        const event = await nextOrEnd(events);
        if (signal.aborted) throw abortReason(signal);
        if (event === undefined || event.type === 'ERROR') return { isMet: false, hasProgressed };
        hasProgressed = true;
        if (event.type === 'BOOKMARK') continue;
        const outcome = this.#check(event.type === 'DELETED' ? undefined : event.object);
        if (outcome.isMet) return outcome;
      }
    } finally {
      await settled(() => stream[Symbol.asyncDispose]());
    }
  }

  async #get(options: GetOptions): Promise<ReadObject<K> | undefined> {
    try {
      return await this.#reader.get(this.#kind, this.#key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #check(object: ReadObject<K> | undefined): Outcome<K> {
    return this.#until(object) ? { isMet: true, object } : { isMet: false, hasProgressed: false };
  }
}

/** A stream that breaks has ended, so the next read shows the events that it would have delivered. */
async function nextOrEnd<T>(events: AsyncIterator<T>): Promise<T | undefined> {
  try {
    const result = await events.next();
    return result.done === true ? undefined : result.value;
  } catch {
    return undefined;
  }
}

function readonlyStream<K extends Kind>(stream: unknown): WatchStream<ReadObject<K>>;
function readonlyStream(stream: unknown): unknown {
  return stream;
}
