import { isSameJson } from '@kctl/apimachinery';
import { Turn } from '@kctl/delivery';
import { booleanOption, functionOption, requireOptions, shownType, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { orAborted, sleep } from '@kctl/wait';
import type { ObjectEvent } from '../event/object-event.js';
import type { EventHandler } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import { defaultLookupTimeoutMs, listed, Lookup, lookupTimeoutOption } from './lookup.js';
import { pollDelay, requireInterval } from './poll-delay.js';
import { replayContext } from './replay-context.js';
import { requireFunction, requireHandler, requirePredicates, sameAnswer } from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** Options of {@link pollingSource}. */
export interface PollingSourceOptions<T, R> {
  readonly name: string;
  /**
   * All present objects. A rejection, and an answer that is not a list, such as `{ error: 'rate limited' }`, changes
   * nothing and is not taken for "all gone". The signal is aborted after `timeoutMs` and when the source ends.
   */
  readonly poll: (options: { readonly signal: AbortSignal }) => Promise<Iterable<T>>;
  /** Identity of an object. */
  readonly identify: (object: T) => string;
  /** Whether an object has not changed. @default equal as JSON */
  readonly isSame?: (before: T, after: T) => boolean;
  readonly handler: EventHandler<T, R>;
  /** All must agree; called in order. @default none */
  readonly predicates?: readonly Predicate<T>[];
  /**
   * Maximum number of objects for which the handler runs at the same time, if it waits for look-ups. An integer ≥ 1.
   * Events of one object stay in order; with more than 1, those of different objects overtake one another.
   *
   * @default 1
   */
  readonly handlerConcurrency?: number | undefined;
  /** Time from the end of a poll to the next one, in ms; spread by ±10 %. */
  readonly everyMs: number;
  /** How long one poll may take, in ms; one that takes longer has failed. `Infinity`: without a limit. @default 60000 */
  readonly timeoutMs?: number;
  /** Whether the controller waits for the first result before it begins. @default true */
  readonly waitForFirst?: boolean;
}

const optionNames: OptionNames<PollingSourceOptions<never, never>> = {
  name: textOption,
  poll: true,
  identify: true,
  isSame: functionOption,
  handler: true,
  predicates: true,
  handlerConcurrency: true,
  everyMs: true,
  timeoutMs: lookupTimeoutOption,
  waitForFirst: booleanOption,
};

/** A source that also returns the last result. */
export interface PollingSource<T, R> extends Source<R> {
  /** The object of an identity in the last answer. */
  get(identity: string): T | undefined;
  /** All objects of the last answer; none before there was one. */
  list(): readonly T[];
}

/**
 * Watches a system that can only be polled. Compares each answer with the previous one and makes create, update and
 * delete events of the difference. A poll that fails is repeated with growing delays, and no sooner than a
 * `Retry-After` requires. A poll in progress when the source ends is not waited for.
 *
 * @throws TypeError when `everyMs` is not a number > 0, or a function is missing
 *
 * @example
 * ```ts
 * import { handlerFuncs, pollingSource } from '@kctl/controller';
 *
 * const buckets = pollingSource<{ id: string; size: number }, { name: string }>({
 *   name: 'buckets',
 *   poll: async () => [{ id: 'tea', size: 3 }],
 *   identify: ({ id }) => id,
 *   handler: handlerFuncs({ create: ({ object }, queue) => queue.add({ name: object.id }) }),
 *   everyMs: 30_000,
 * });
 * ```
 */
export function pollingSource<T, R>(options: PollingSourceOptions<T, R>): PollingSource<T, R> {
  requireOptions('pollingSource', options, optionNames);
  const what = `pollingSource ${options.name}`;
  requireInterval(what, options.everyMs);
  requireFunction(what, 'poll', options.poll);
  requireFunction(what, 'identify', options.identify);
  requireHandler(what, options.handler, options.handlerConcurrency);
  requirePredicates(what, options.predicates);
  const name = `polling source: ${options.name}`;
  const turn = new Turn();
  /**
   * From all starts, which may be those of several controllers. Each compares its own answers, and `get` has the last
   * one.
   */
  const answers: Answers<T> = { last: undefined, polling: 0 };
  return {
    name,
    get: (identity) => answers.last?.get(identity),
    list: () => [...(answers.last?.values() ?? [])],
    start: (context): Promise<StartedSource> => {
      if (answers.polling++ === 0) answers.last = undefined;
      const poller = new Poller({ ...options, name, turn }, context, answers);
      const ended = poller
        .run()
        .catch(context.fail)
        .finally(() => void answers.polling--);
      const { waitForFirst = true } = options;
      return Promise.resolve({
        ...(waitForFirst ? { waitForSync: (signal: AbortSignal) => orAborted(poller.first, signal) } : {}),
        replay: () => poller.replay(),
        stop: () => ended,
      });
    },
  };
}

interface Answers<T> {
  last: ReadonlyMap<string, T> | undefined;
  /** Starts that have not ended. */
  polling: number;
}

type PollerOptions<T, R> = PollingSourceOptions<T, R> & { readonly turn: Turn };

class Poller<T, R> {
  readonly #options: PollerOptions<T, R>;
  readonly #context: SourceContext<R>;
  readonly #newDispatcher: (context: SourceContext<R>) => EventDispatcher<T, R>;
  readonly #dispatcher: EventDispatcher<T, R>;
  #replaying: EventDispatcher<T, R> | undefined;
  readonly #first = Promise.withResolvers<undefined>();
  readonly #answers: Answers<T>;
  readonly #lookup = new Lookup();
  #known: Map<string, T> | undefined;

  constructor(options: PollerOptions<T, R>, context: SourceContext<R>, answers: Answers<T>) {
    const { name, handler, predicates = [], identify, turn, handlerConcurrency } = options;
    this.#options = options;
    this.#context = context;
    this.#answers = answers;
    const identifyEvent = ({ object }: ObjectEvent<T>): string => identify(object);
    const common = { source: name, handler, predicates, turn, handlerConcurrency, identify: identifyEvent };
    this.#newDispatcher = (to) => new EventDispatcher({ ...common, context: to });
    this.#dispatcher = this.#newDispatcher(context);
  }

  get first(): Promise<void> {
    return this.#first.promise;
  }

  async replay(): Promise<void> {
    this.#replaying ??= this.#newDispatcher(replayContext(this.#context));
    for (const object of this.#known?.values() ?? [])
      this.#replaying.dispatch({ type: 'create', object, isInInitialList: true });
    await this.#replaying.idle();
  }

  async run(): Promise<void> {
    const { signal, clock, random } = this.#context;
    let failures = 0;
    while (!signal.aborted) {
      const error = await this.#poll();
      failures = error === undefined ? 0 : failures + 1;
      const delay = pollDelay({ everyMs: this.#options.everyMs, failures, error }, random);
      if (signal.aborted) return;
      await sleep(delay, { clock, signal }).catch((reason: unknown) => {
        if (!signal.aborted) throw reason;
      });
    }
  }

  /** One poll; its failure, if it was one. */
  async #poll(): Promise<unknown> {
    const { signal, logger, clock } = this.#context;
    try {
      const { poll, timeoutMs = defaultLookupTimeoutMs } = this.#options;
      const objects = await this.#lookup.run((one) => poll({ signal: one }), {
        what: 'the poll',
        timeoutMs,
        signal,
        clock,
      });
      if (signal.aborted) return undefined;
      this.#apply(new Map(listed('poll', objects).map((object) => [this.#identityOf(object), object])));
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      logger.error('poll failed; keeping the previous result', { error });
      return error ?? new Error('poll failed without a reason');
    }
  }

  /** @throws TypeError for a value that is not a string, because objects without an identity would be one object */
  #identityOf(object: T): string {
    const identity: unknown = this.#options.identify(object);
    if (typeof identity !== 'string' && typeof identity !== 'number')
      throw new TypeError(`identify returned ${shownType(identity)}: expected a string`);
    return identity as string;
  }

  #apply(now: Map<string, T>): void {
    const before = this.#known;
    // First, because if `isSame` throws, the known state stays, and the next poll finds the change again.
    const events = [...difference(before, now, this.#options.isSame ?? isSameJson)];
    this.#known = now;
    this.#answers.last = now;
    for (const event of events) this.#dispatcher.dispatch(event);
    if (before === undefined)
      this.#dispatcher.delivered().then(() => this.#first.resolve(undefined), this.#first.reject);
  }
}

function* difference<T>(
  before: ReadonlyMap<string, T> | undefined,
  now: ReadonlyMap<string, T>,
  isSame: (before: T, after: T) => boolean,
): Iterable<ObjectEvent<T>> {
  for (const [identity, object] of now) {
    const oldObject = before?.get(identity);
    if (oldObject === undefined) yield { type: 'create', object, isInInitialList: before === undefined };
    else if (!sameAnswer(isSame(oldObject, object))) yield { type: 'update', oldObject, object };
  }
  for (const [identity, object] of before ?? [])
    if (!now.has(identity)) yield { type: 'delete', object, deleteStateUnknown: false };
}
