import { coalesce } from '@kctl/delivery';
import type { EventTraits } from '@kctl/delivery';
import type { Logger } from '@kctl/telemetry';
import type { Clock, ClockTimer, Random } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { ObjectEvent } from '../event/object-event.js';

const firstRetryMs = 100;
const maxRetryMs = 30_000;
/**
 * Pause between two events whose handler did not settle. Each of them may take 30 s of the watch's time, so a tenth of
 * it.
 */
const hungPauseMs = 300_000;
/** How often an event is tried before a newer one of its object takes its place. */
const attemptsBeforeNewer = 6;
/** Of events without identity, so many are tried again at the same time. */
const maxUnnamed = 1000;

/** Dependencies of {@link FailedEvents}. */
export interface FailedEventsOptions<T> {
  readonly traits: EventTraits<ObjectEvent<T>>;
  /** How many events of an object wait behind one that failed before they merge. */
  readonly keep: number;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Delivers an event once more; `handled`, `failed` or `hung` follows. */
  readonly deliver: (event: ObjectEvent<T>) => void;
}

/** The events of one object, from the one that failed on. */
interface Line<T> {
  readonly events: ObjectEvent<T>[];
  /** How often the first one has failed. */
  attempts: number;
  /** How often the handler has not settled for this object, since it last did. */
  hangs: number;
  /** The one that is being delivered again. */
  current: ObjectEvent<T> | undefined;
  timer: ClockTimer | undefined;
}

/**
 * Events whose handler failed, tried again with growing delays, in order per object, while the other objects go on. An
 * event that keeps failing yields to a newer one of its object, so that a repaired object is handled. If a handler did
 * not settle, newer events of the object merge with the one that it has; the first of them is tried at once, and
 * otherwise one object in five minutes, so that objects whose handler hangs never take much of the time of all others.
 * Retains one line per object with a failed event, with at most `keep + 1` events.
 */
export class FailedEvents<T> {
  readonly #options: FailedEventsOptions<T>;
  /** By object; an event without identity stands for itself. */
  readonly #lines = new Map<unknown, Line<T>>();
  /** Objects whose handler did not settle, in the order in which they are tried again. */
  readonly #hung = new Set<unknown>();
  #hungTimer: ClockTimer | undefined;

  constructor(options: FailedEventsOptions<T>) {
    this.#options = options;
  }

  /** Takes an event that has to wait behind a failed one of its object. False if it is to be delivered now. */
  holds(event: ObjectEvent<T>): boolean {
    if (this.#lines.size === 0) return false;
    const object = this.#keyOf(event);
    const line = this.#lines.get(object);
    if (line === undefined || line.current === event) return false;
    const { keep, traits } = this.#options;
    // An event being delivered stays unchanged.
    const kept = line.hangs === 0 ? keep : line.current === undefined ? 1 : 2;
    coalesce(line.events, event, { keep: kept, traits });
    if (line.hangs === 1 || line.attempts >= attemptsBeforeNewer) this.#retry(object, line);
    return true;
  }

  /** The handler has settled for an event; it may be one that had been given up. */
  handled(event: ObjectEvent<T>): void {
    if (this.#lines.size === 0) return;
    const object = this.#keyOf(event);
    const line = this.#lines.get(object);
    if (line === undefined || line.events[0] !== event) return;
    const wasHung = line.hangs > 0;
    line.hangs = 0;
    this.#hung.delete(object);
    this.#next(object, line);
    // The dependencies of the others may answer again, too.
    if (wasHung) this.#retryHungAfter(firstRetryMs);
  }

  failed(event: ObjectEvent<T>, error: unknown): void {
    const { logger, clock, random } = this.#options;
    const object = this.#keyOf(event);
    const line = this.#lineOf(object, event, error);
    if (line === undefined) return;
    line.current = undefined;
    line.hangs = 0;
    line.attempts++;
    if (line.attempts >= attemptsBeforeNewer && line.events.length > 1) {
      logger.error('event handler failed, a newer event of the object takes its place', {
        object: nameOf(object),
        error,
      });
      this.#next(object, line);
      return;
    }
    const delay = Math.min(firstRetryMs * 2 ** (line.attempts - 1), maxRetryMs);
    logger.error('event handler failed, will be called again', { object: nameOf(object), error, retryInMs: delay });
    const retry = (): void => this.#retry(object, line);
    line.timer = startTimer(clock, retry, delay * (0.9 + 0.2 * random()), { keepAlive: false });
  }

  /** The handler has not settled in time, and perhaps never will. */
  hung(event: ObjectEvent<T>, error: unknown): void {
    const object = this.#keyOf(event);
    const line = this.#lineOf(object, event, error);
    if (line === undefined) return;
    line.current = undefined;
    line.hangs++;
    if (line.hangs > 1 && line.events.length > 1) line.events.shift();
    this.#hung.add(object);
    const retryInMs = hungPauseMs * this.#hung.size;
    this.#options.logger.error('event handler failed, will be called again', {
      object: nameOf(object),
      error,
      retryInMs,
    });
    this.#retryHungAfter(hungPauseMs);
  }

  /** Tries nothing again. */
  clear(): void {
    for (const { timer } of this.#lines.values()) timer?.cancel();
    this.#lines.clear();
    this.#hung.clear();
    this.#hungTimer?.cancel();
    this.#hungTimer = undefined;
  }

  #lineOf(object: unknown, event: ObjectEvent<T>, error: unknown): Line<T> | undefined {
    const present = this.#lines.get(object);
    if (present !== undefined) return present;
    if (typeof object !== 'string' && this.#lines.size >= maxUnnamed) {
      const message = 'event handler failed, too many events without a name failed before: the event is dropped';
      this.#options.logger.error(message, { error });
      return undefined;
    }
    const line: Line<T> = { events: [event], attempts: 0, hangs: 0, current: undefined, timer: undefined };
    this.#lines.set(object, line);
    return line;
  }

  #next(object: unknown, line: Line<T>): void {
    line.events.shift();
    line.attempts = 0;
    line.current = undefined;
    if (line.events.length === 0) this.#lines.delete(object);
    else this.#retry(object, line);
  }

  #retry(object: unknown, line: Line<T>): void {
    if (line.current !== undefined) return;
    line.timer?.cancel();
    line.timer = undefined;
    this.#hung.delete(object);
    const [event] = line.events;
    line.current = event;
    if (event === undefined) this.#lines.delete(object);
    else this.#options.deliver(event);
  }

  #retryHungAfter(delayMs: number): void {
    if (this.#hung.size === 0) return;
    if (delayMs < hungPauseMs) this.#hungTimer?.cancel();
    else if (this.#hungTimer !== undefined) return;
    this.#hungTimer = startTimer(this.#options.clock, () => this.#retryHung(), delayMs, { keepAlive: false });
  }

  #retryHung(): void {
    this.#hungTimer = undefined;
    const [object] = this.#hung;
    const line = this.#lines.get(object);
    if (line !== undefined) this.#retry(object, line);
    this.#retryHungAfter(hungPauseMs);
  }

  #keyOf(event: ObjectEvent<T>): unknown {
    return this.#options.traits.keyOf(event) ?? event;
  }
}

function nameOf(object: unknown): string {
  return typeof object === 'string' ? object : '';
}
