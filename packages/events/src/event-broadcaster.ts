import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Writer } from '@kctl/client';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { Counter, Family, Logger, Metrics } from '@kctl/telemetry';
import {
  functionOption,
  clockOption,
  numberProblem,
  oneOfOption,
  optionWithMethods,
  requireOptions,
  requireSignal,
  shownValue,
} from '@kctl/options';
import { aborted, systemClock, systemRandom } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock, ClockTimer, Random } from '@kctl/wait';
import { guardedRandom, startTimer, wallTime } from '@kctl/wait/internal';
import { createCorrelator, spamSource } from './correlator.js';
import type { Correlated, Correlator } from './correlator.js';
import { combinedNote, toRecordedEvent } from './event.js';
import type { EventRecorder, RecordedEvent } from './event.js';
import { EventDelivery } from './event-delivery.js';
import type { EventApi } from './event-delivery.js';
import { eventName } from './event-object.js';
import type { Series } from './series.js';
import { createSpamFilter } from './spam-filter.js';
import type { SpamFilter } from './spam-filter.js';

/** Interval at which ongoing series are updated on the server, in ms. As in client-go. */
const refreshMs = 30 * 60_000;
/** Time without an event after which a series ends, in ms. As in client-go. */
const finishMs = 6 * 60_000;
const defaultMaxSeries = 4096;

/** Options of {@link createEventBroadcaster}. */
export interface EventBroadcasterOptions {
  /** Client that writes events, without a cache, so that events do not fill one. */
  readonly client: Pick<Writer, 'create' | 'patch'>;
  /** `auto`: events.k8s.io/v1, and core/v1 on servers that lack it. @default 'auto' */
  readonly api?: EventApi;
  /** Events that wait for delivery at most; more are dropped. @default 1000 */
  readonly queueLimit?: number;
  /** Deliveries at the same time. @default 8 */
  readonly maxConcurrentDeliveries?: number;
  /** Events about one object that each controller may send at once. @default 25 */
  readonly burst?: number;
  /** One more event about an object is allowed in this many ms. @default 300_000 */
  readonly refillMs?: number;
  /** Series that are followed at the same time; above that, the least recently used one ends early. @default 4096 */
  readonly maxSeries?: number;
  /** ms that remain for delivery after the stop. @default 5_000 */
  readonly flushTimeoutMs?: number;
  /**
   * Called synchronously with each valid recorded event, also with those that the spam filter drops. Its errors are
   * logged.
   *
   * @default none
   */
  readonly onEvent?: (event: RecordedEvent) => void;
  /** Receives a line per event at `debug`, with its note as the message. @default none */
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
  readonly random?: Random;
}

const optionNames: OptionNames<EventBroadcasterOptions> = {
  client: optionWithMethods(['create', 'patch'], 'a client, such as createHttpClient({ … }) of @kctl/client-http'),
  api: oneOfOption('auto', 'events.k8s.io/v1', 'v1'),
  queueLimit: true,
  maxConcurrentDeliveries: true,
  burst: true,
  refillMs: true,
  maxSeries: true,
  flushTimeoutMs: true,
  onEvent: true,
  logger: loggerOption,
  metrics: metricsOption,
  clock: clockOption,
  random: functionOption,
};

/** Delivers what recorders record. */
export interface EventBroadcaster {
  /**
   * A recorder for one controller.
   *
   * @param controller a qualified name: `example.com/widgets` or `widget-controller`
   * @param instance which process it is, at most 128 characters; `<controller>-<hostname>` by default
   * @throws TypeError when a name is not valid
   */
  recorder(controller: string, instance?: string): EventRecorder;
  /**
   * Delivers until the signal is aborted, then delivers the events recorded before, then resolves. Events recorded
   * before `run` wait; events recorded after it are dropped. It runs once.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when no event is pending. Before `run` that is after it has delivered them; after `run` it is at once. */
  flush(): Promise<void>;
}

/**
 * Makes a broadcaster of events.k8s.io/v1: the first event of its kind is created, its repetitions become a series
 * that is patched at the second one, every 30 minutes and when it has ended. Mirrors client-go's `tools/events`, with
 * the spam filter and the aggregation by notes of `tools/record`, so that a different note is not lost.
 *
 * @throws TypeError naming the option that is not valid
 */
export function createEventBroadcaster(options: EventBroadcasterOptions): EventBroadcaster {
  requireOptions('createEventBroadcaster', options, optionNames);
  checkOptions(options);
  return new QueueingBroadcaster(options);
}

function checkOptions(options: EventBroadcasterOptions): void {
  const {
    queueLimit = 1,
    maxConcurrentDeliveries = 1,
    burst = 1,
    refillMs = 1,
    maxSeries = 1,
    flushTimeoutMs = 0,
  } = options;
  const count = { least: 1, integer: true, orInfinity: true } as const;
  if (options.onEvent !== undefined && typeof options.onEvent !== 'function')
    throw new TypeError(`createEventBroadcaster: onEvent is of type ${typeof options.onEvent}: give a function`);
  const problem =
    numberProblem('queueLimit', queueLimit, count) ??
    numberProblem('maxConcurrentDeliveries', maxConcurrentDeliveries, count) ??
    numberProblem('burst', burst, count) ??
    numberProblem('refillMs', refillMs, { above: 0, orInfinity: true }) ??
    numberProblem('maxSeries', maxSeries, count) ??
    numberProblem('flushTimeoutMs', flushTimeoutMs);
  if (problem !== undefined) throw new TypeError(`createEventBroadcaster: ${problem}`);
}

const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;

type DropReason = 'invalid' | 'spam' | 'queue_full' | 'stopped' | 'refused' | 'undeliverable';

class QueueingBroadcaster implements EventBroadcaster {
  readonly #options: EventBroadcasterOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #filter: SpamFilter;
  readonly #correlator: Correlator;
  readonly #delivery: EventDelivery;
  readonly #dropped: Family<Counter>;
  readonly #unique = randomBytes(4).toString('hex');
  #sequence = 0;
  /** Least recently used first. */
  readonly #series = new Map<string, Series>();
  readonly #queue = new Set<Series>();
  readonly #delivering = new Set<Series>();
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  readonly #stopping = new AbortController();
  readonly #deadline = new AbortController();
  readonly #idleWaiters = new Set<() => void>();
  #lastDropLog = Number.NEGATIVE_INFINITY;

  constructor(options: EventBroadcasterOptions) {
    const { clock = systemClock } = options;
    const { logger, metrics } = guardSinks(options);
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#filter = createSpamFilter({
      clock,
      ...(options.burst === undefined ? {} : { burst: options.burst }),
      ...(options.refillMs === undefined ? {} : { refillMs: options.refillMs }),
    });
    this.#correlator = createCorrelator({ clock, capacity: options.maxSeries ?? defaultMaxSeries });
    this.#delivery = new EventDelivery({
      client: options.client,
      api: options.api ?? 'auto',
      clock,
      random: guardedRandom(options.random ?? systemRandom, (error) =>
        logger.error('random failed, Math.random is used instead', { error }),
      ),
      logger,
      rename: (series) => this.#newName(series.recorded),
    });
    this.#dropped = metrics.counter({
      name: 'kctl_events_dropped_total',
      help: 'Number of events that were not delivered, by reason.',
      labelNames: ['reason'],
    });
  }

  recorder(controller: string, given?: string): EventRecorder {
    if (typeof controller !== 'string' || !qualifiedName.test(controller))
      throw new TypeError(
        `controller ${shownValue(controller)} of an event recorder is not valid: expected a qualified name such as example.com/widgets`,
      );
    const instance = given === undefined ? `${controller.replace(/^.*\//, '')}-${hostname()}`.slice(0, 128) : given;
    if (typeof instance !== 'string' || instance === '' || instance.length > 128)
      throw new TypeError(
        `instance ${shownValue(instance)} of an event recorder is not valid: expected 1 to 128 characters`,
      );
    const source = { controller, instance };
    const event: EventRecorder['event'] = (regarding, details) => {
      try {
        const recorded = toRecordedEvent(source, regarding, details);
        this.#notify(recorded);
        this.#record(recorded);
      } catch (error) {
        this.#drop('invalid', { error });
      }
    };
    return {
      event,
      normal: (regarding, reason, note) => event(regarding, { type: 'Normal', reason, note }),
      warning: (regarding, reason, note) => event(regarding, { type: 'Warning', reason, note }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('EventBroadcaster.run', signal);
    if (this.#state !== 'new') throw new Error('EventBroadcaster.run: it runs already, or has run: make another one');
    this.#state = 'running';
    this.#pump();
    const timer = this.#tick(1);
    await aborted(signal);
    this.#state = 'stopping';
    timer.cancel();
    this.#stopping.abort();
    for (const series of this.#series.values()) this.#enqueue(series);
    const { flushTimeoutMs = 5_000 } = this.#options;
    const deadline = startTimer(this.#clock, () => this.#deadline.abort(), flushTimeoutMs);
    // A client that does not listen to the signal must not keep the process.
    await Promise.race([this.flush(), aborted(this.#deadline.signal)]);
    deadline.cancel();
    const left = new Set([...this.#queue, ...this.#delivering]).size;
    if (left > 0) {
      this.#logger.warn('events were not delivered before the stop', { count: left });
      this.#dropped.with({ reason: 'undeliverable' }).inc(left);
    }
    this.#state = 'stopped';
    this.#series.clear();
    this.#queue.clear();
    this.#wakeIdle(); // what was not delivered is dropped: nothing is pending any longer
  }

  flush(): Promise<void> {
    if (this.#state === 'stopped' || this.#queue.size + this.#delivering.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.add(resolve));
  }

  #wakeIdle(): void {
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters.clear();
  }

  #notify(event: RecordedEvent): void {
    if (this.#logger.isEnabled('debug')) {
      const { type, reason, action, regarding } = event;
      this.#logger.debug(event.note, { type, object: regarding, reason, action });
    }
    try {
      const result: unknown = this.#options.onEvent?.(event);
      // Also a promise of another realm, or any other thenable.
      if (result !== undefined) void Promise.resolve(result).catch((error: unknown) => this.#reportObserver(error));
    } catch (error) {
      this.#reportObserver(error);
    }
  }

  #reportObserver(error: unknown): void {
    this.#logger.error('onEvent of the event broadcaster failed', { error });
  }

  #record(recorded: RecordedEvent): void {
    if (this.#state === 'stopped') {
      this.#drop('stopped', { reason: recorded.reason });
      return;
    }
    const correlated = this.#correlator.correlate(recorded);
    const { key, isCombined } = correlated;
    const series = this.#series.get(key);
    if (series === undefined) {
      this.#begin(correlated, recorded);
      return;
    }
    series.count += 1;
    series.lastAt = wallTime(this.#clock);
    series.lastSeen = this.#clock.monotonicNow();
    this.#series.delete(key);
    this.#series.set(key, series);
    // A combined event shows the latest note, as often as the spam filter lets it.
    const hasNews = isCombined && combinedNote(recorded) !== series.note;
    if (hasNews) series.note = combinedNote(recorded);
    const isTold = hasNews && this.#filter.allows(spamSource(recorded));
    if (series.count === 2 || isTold) this.#enqueue(series);
  }

  #begin({ key, isCombined }: Correlated, recorded: RecordedEvent): void {
    if (!this.#filter.allows(spamSource(recorded))) {
      this.#drop('spam', { reason: recorded.reason });
      return;
    }
    if (this.#queue.size >= (this.#options.queueLimit ?? 1000)) {
      this.#drop('queue_full', { reason: recorded.reason });
      return;
    }
    const now = wallTime(this.#clock);
    const { namespace = '' } = recorded.regarding;
    const note = isCombined ? combinedNote(recorded) : recorded.note;
    const series: Series = {
      key,
      recorded,
      note,
      sentNote: note,
      namespace: namespace === '' ? 'default' : namespace,
      name: this.#newName(recorded),
      firstAt: now,
      lastAt: now,
      lastSeen: this.#clock.monotonicNow(),
      count: 1,
      sentCount: 0,
    };
    this.#series.set(key, series);
    this.#enqueue(series);
    if (this.#series.size <= (this.#options.maxSeries ?? defaultMaxSeries)) return;
    const [oldest] = this.#series.values();
    if (oldest !== undefined) this.#finish(oldest);
  }

  #finish(series: Series): void {
    this.#series.delete(series.key);
    this.#enqueue(series);
  }

  #enqueue(series: Series): void {
    if (series.count > series.sentCount) this.#queue.add(series);
    this.#pump();
  }

  /** Starts deliveries as far as allowed; one series is delivered once at a time. */
  #pump(): void {
    if (this.#state === 'new') return;
    for (const series of this.#queue) {
      if (this.#delivering.size >= (this.#options.maxConcurrentDeliveries ?? 8)) return;
      if (this.#delivering.has(series)) continue;
      this.#queue.delete(series);
      this.#delivering.add(series);
      void this.#deliver(series);
    }
    if (this.#queue.size + this.#delivering.size === 0) this.#wakeIdle();
  }

  async #deliver(series: Series): Promise<void> {
    const result = this.#deadline.signal.aborted
      ? 'gave up'
      : await this.#delivery.deliver(series, this.#stopping.signal, this.#deadline.signal);
    this.#delivering.delete(series);
    if (this.#state === 'stopped') return; // counted by then
    if (result !== 'sent') {
      this.#dropped.with({ reason: result === 'refused' ? 'refused' : 'undeliverable' }).inc();
      if (this.#series.get(series.key) === series) this.#series.delete(series.key);
      this.#queue.delete(series);
    } else if (this.#state === 'stopping' || (series.sentCount === 1 && series.count > 1)) this.#enqueue(series);
    this.#pump();
  }

  #tick(n: number): { cancel(): void } {
    let timer: ClockTimer | undefined;
    const arm = (count: number): void => {
      timer = startTimer(
        this.#clock,
        () => {
          this.#sweep((count * finishMs) % refreshMs === 0);
          arm(count + 1);
        },
        finishMs,
        { keepAlive: false },
      );
    };
    arm(n);
    return { cancel: () => timer?.cancel() };
  }

  #sweep(isRefresh: boolean): void {
    this.#correlator.sweep();
    const now = this.#clock.monotonicNow();
    for (const series of [...this.#series.values()]) {
      if (now - series.lastSeen > finishMs) this.#finish(series);
      else if (isRefresh) this.#enqueue(series);
    }
  }

  #newName({ regarding }: RecordedEvent): string {
    const nanoseconds = BigInt(Math.floor(wallTime(this.#clock))) * 1_000_000n + BigInt(this.#sequence++ % 1_000_000);
    return eventName(regarding, `${nanoseconds.toString(16)}${this.#unique}`);
  }

  /** Counts every drop and logs one in 10 s, because a flood of events must not become a flood of lines. */
  #drop(reason: DropReason, fields: Readonly<Record<string, unknown>>): void {
    this.#dropped.with({ reason }).inc();
    const now = this.#clock.monotonicNow();
    if (reason === 'spam' || now - this.#lastDropLog < 10_000) return;
    this.#lastDropLog = now;
    this.#logger.warn('an event was dropped', { cause: reason, ...fields });
  }
}
