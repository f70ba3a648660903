import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey, isSameJson } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { DelayingQueue, WorkerPool } from '@kctl/workqueue';
import { createDelayingQueue } from '@kctl/workqueue';
import { booleanOption, functionOption, requireOptions, shownType, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { orAborted } from '@kctl/wait';
import type { ObjectEvent } from '../event/object-event.js';
import { headerOfEvent } from '../event/object-event.js';
import type { InformerProvider } from './informer-provider.js';
import { scopedKindSource } from './kind-source.js';
import { defaultLookupTimeoutMs, Lookup, lookupTimeoutOption } from './lookup.js';
import { pollDelay, requireInterval } from './poll-delay.js';
import { replayContext } from './replay-context.js';
import { requireFunction, sameAnswer } from '../event/required.js';
import type { Source, SourceContext } from './source.js';

/** Options of {@link pollEachSource}. */
export interface PollEachSourceOptions<T> {
  readonly name: string;
  readonly informers: InformerProvider;
  /** The kind whose objects are polled. */
  readonly kind: Kind;
  /**
   * The state outside of the cluster for one object; undefined for none. The signal is aborted when the object is
   * deleted, when its namespace is no longer watched, after `timeoutMs`, or when the source ends. A rejection changes
   * nothing, nor does an Error or a function that is returned.
   */
  readonly poll: (request: { readonly key: ObjectKey; readonly signal: AbortSignal }) => Promise<T | undefined>;
  /** Whether an answer has not changed. @default equal as JSON */
  readonly isSame?: (before: T, after: T) => boolean;
  /** Time from the end of one object's poll to its next one, in ms; spread by ±10 %. */
  readonly everyMs: number;
  /** How long one poll may take, in ms; one that takes longer has failed. `Infinity`: without a limit. @default 60000 */
  readonly timeoutMs?: number;
  /** Maximum number of concurrent polls, an integer ≥ 1. @default 8 */
  readonly concurrency?: number;
  /** Whether the controller waits for the first answer about each object before it begins. @default false */
  readonly waitForFirst?: boolean;
}

const optionNames: OptionNames<PollEachSourceOptions<never>> = {
  name: textOption,
  informers: true,
  kind: true,
  poll: true,
  isSame: functionOption,
  everyMs: true,
  timeoutMs: lookupTimeoutOption,
  concurrency: true,
  waitForFirst: booleanOption,
};

/** A source that also returns the last results. */
export interface PollEachSource<T> extends Source<ObjectKey> {
  /** The last answer about an object; undefined if none (yet). */
  get(key: ObjectKey): T | undefined;
}

/**
 * Polls each object of a kind, again and again while it exists, and queues the object whenever the answer has changed;
 * the reconciler reads it with `get`. A poll that fails is repeated with growing delays, and no sooner than a
 * `Retry-After` requires. It runs with the controller, so only a leader polls.
 *
 * @throws TypeError when `everyMs` or `concurrency` is not valid
 */
export function pollEachSource<T>(options: PollEachSourceOptions<T>): PollEachSource<T> {
  requireOptions('pollEachSource', options, optionNames);
  const { informers, kind, everyMs, concurrency = 8, waitForFirst = false } = options;
  const name = `poll-each source: ${options.name}`;
  requireFunction(`pollEachSource ${options.name}`, 'poll', options.poll);
  requireInterval(`pollEachSource ${options.name}`, everyMs);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError(
      `pollEachSource ${options.name}: concurrency ${concurrency} is not valid: expected an integer ≥ 1`,
    );
  const answers = new Answers<T>();
  return {
    name,
    kind,
    get: (key) => answers.get(formatKey(key)),
    start: async (context) => {
      const poller = new EachPoller({ ...options, name, concurrency }, context, answers);
      const handler = (event: ObjectEvent): undefined => {
        poller.follow(event);
        return undefined;
      };
      const objects = scopedKindSource<Kind, ObjectKey>({ informers, kind, handler }, (header) => poller.leave(header));
      const followed = await objects.start(context);
      return {
        waitForSync: async (signal) => {
          await followed.waitForSync?.(signal);
          if (waitForFirst) await orAborted(poller.firstAnswers(), signal);
        },
        replay: () => poller.replay(),
        stop: async () => {
          await followed.stop();
          await poller.stop();
        },
      };
    },
  };
}

/** The last answer about each object, from all starts, which may be those of several controllers. */
class Answers<T> {
  readonly #answers = new Map<string, T>();
  /** How many starts follow an object. */
  readonly #followers = new Map<string, number>();

  get(id: string): T | undefined {
    return this.#answers.get(id);
  }

  set(id: string, answer: T | undefined): void {
    if (answer === undefined) this.#answers.delete(id);
    else this.#answers.set(id, answer);
  }

  follow(id: string): void {
    this.#followers.set(id, (this.#followers.get(id) ?? 0) + 1);
  }

  leave(id: string): void {
    const left = (this.#followers.get(id) ?? 0) - 1;
    if (left > 0) this.#followers.set(id, left);
    else {
      this.#followers.delete(id);
      this.#answers.delete(id);
    }
  }
}

interface Entry<T> {
  readonly key: ObjectKey;
  readonly abort: AbortController;
  readonly lookup: Lookup;
  /** Resolves with the first answer, or when the object goes. */
  readonly first: PromiseWithResolvers<undefined>;
  failures: number;
  /**
   * The last answer of this start, because an answer seen by another start is still new to the controller of this one.
   */
  answer: T | undefined;
}

/** The polls of one start. One queue holds the times of all objects, with one timer however many there are. */
class EachPoller<T> {
  readonly #options: PollEachSourceOptions<T> & { readonly concurrency: number };
  readonly #context: SourceContext<ObjectKey>;
  readonly #answers: Answers<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #queue: DelayingQueue<string>;
  readonly #pool: WorkerPool;

  constructor(
    options: PollEachSourceOptions<T> & { readonly concurrency: number },
    context: SourceContext<ObjectKey>,
    answers: Answers<T>,
  ) {
    this.#options = options;
    this.#context = context;
    this.#answers = answers;
    this.#queue = createDelayingQueue({ clock: context.clock });
    this.#pool = this.#queue.run({ concurrency: options.concurrency }, (id) => this.#poll(id));
    this.#pool.ended.catch(context.fail);
  }

  follow(event: ObjectEvent): void {
    const key = keyOfHeader(headerOfEvent(event));
    const id = formatKey(key);
    if (event.type === 'delete') this.#leave(id);
    else if (!this.#entries.has(id)) {
      const first = Promise.withResolvers<undefined>();
      const own = { abort: new AbortController(), lookup: new Lookup() };
      this.#entries.set(id, { key, ...own, first, failures: 0, answer: undefined });
      this.#answers.follow(id);
      this.#queue.add(id);
    }
  }

  /** Enqueues every object that it polls. */
  replay(): void {
    const { queue } = replayContext(this.#context);
    for (const [id, { key }] of this.#entries) queue.add(key, { reason: `${this.#options.name} ${id}` });
  }

  /** Stops polling an object. */
  leave(header: ObjectHeader): void {
    this.#leave(formatKey(keyOfHeader(header)));
  }

  /** Resolves when there is an answer about each object that is there now. */
  async firstAnswers(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ first }) => first.promise));
  }

  async stop(): Promise<void> {
    this.#queue.shutDown();
    for (const id of [...this.#entries.keys()]) this.#leave(id);
    await this.#pool.ended;
  }

  #leave(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#answers.leave(id);
    entry.abort.abort(new DOMException('the object is no longer polled', 'AbortError'));
    entry.first.resolve(undefined);
  }

  async #poll(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const { everyMs, poll, timeoutMs = defaultLookupTimeoutMs } = this.#options;
    const { clock } = this.#context;
    const { signal } = entry.abort;
    let failure: unknown;
    try {
      const work = (one: AbortSignal): Promise<T | undefined> => poll({ key: entry.key, signal: one });
      const answer = await entry.lookup.run(work, { what: 'the poll', timeoutMs, signal, clock });
      if (signal.aborted) return;
      if (answer instanceof Error || typeof answer === 'function')
        throw new TypeError(`poll returned ${shownType(answer)}: expected what there is, or undefined`);
      this.#take(id, entry, answer);
      entry.failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      entry.failures++;
      failure = error;
      this.#context.logger.error('poll failed; keeping the previous result', { object: id, error });
    }
    this.#queue.addAfter(id, pollDelay({ everyMs, failures: entry.failures, error: failure }, this.#context.random));
  }

  #take(id: string, entry: Entry<T>, answer: T | undefined): void {
    const { isSame = isSameJson, name } = this.#options;
    const { key, first, answer: before } = entry;
    // First, because if `isSame` throws, the known state stays, and the next poll finds the change again.
    const isUnchanged =
      before === undefined || answer === undefined ? before === answer : sameAnswer(isSame(before, answer));
    entry.answer = answer;
    this.#answers.set(id, answer);
    if (!isUnchanged) this.#context.queue.add(key, { reason: `${name} ${id}` });
    first.resolve(undefined);
  }
}

function keyOfHeader({ namespace, name }: ObjectHeader): ObjectKey {
  return namespace === '' ? { name } : { namespace, name };
}
