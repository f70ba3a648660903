import { coalesce } from '@kctl/delivery';
import type { EventTraits } from '@kctl/delivery';
import type { Logger } from '@kctl/telemetry';
import type { Clock, ClockTimer, Random } from '@kctl/wait';
import type { ObjectEvent } from '../event/object-event.js';

const firstRetryMs = 100;
const maxRetryMs = 30_000;
/** How often an event is tried before a newer one of its object takes its place. */
const attemptsBeforeNewer = 6;
/** Of events without identity, so many are tried again at the same time. */
const maxUnnamed = 1000;

/** What {@link FailedEvents} needs. */
export interface FailedEventsOptions<T> {
  readonly traits: EventTraits<ObjectEvent<T>>;
  /** How many events of an object wait behind one that failed before they merge. */
  readonly keep: number;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Delivers an event once more; {@link FailedEvents.handled} or {@link FailedEvents.failed} follows. */
  readonly deliver: (event: ObjectEvent<T>) => void;
}

/** The events of one object, from the one that failed on. */
interface Line<T> {
  readonly events: ObjectEvent<T>[];
  /** How often the first one has failed. */
  attempts: number;
  /** The one that is being delivered again. */
  current: ObjectEvent<T> | undefined;
  timer: ClockTimer | undefined;
}

/**
 * Events that a handler failed for, tried again beside the others with growing delays, in order per object. An event that
 * goes on failing yields to a newer one of its object, so that an object that was mended is handled. It retains one line
 * per object with a failed event, with at most `keep + 1` events.
 */
export class FailedEvents<T> {
  readonly #options: FailedEventsOptions<T>;
  /** By object; an event without identity stands for itself. */
  readonly #lines = new Map<unknown, Line<T>>();

  constructor(options: FailedEventsOptions<T>) {
    this.#options = options;
  }

  /** Takes an event that has to wait behind a failed one of its object. False where it is to be delivered now. */
  holds(event: ObjectEvent<T>): boolean {
    if (this.#lines.size === 0) return false;
    const object = this.#keyOf(event);
    const line = this.#lines.get(object);
    if (line === undefined || line.current === event) return false;
    coalesce(line.events, event, this.#options);
    if (line.attempts >= attemptsBeforeNewer) this.#retry(object, line);
    return true;
  }

  handled(event: ObjectEvent<T>): void {
    if (this.#lines.size === 0) return;
    const object = this.#keyOf(event);
    const line = this.#lines.get(object);
    if (line?.current === event) this.#next(object, line);
  }

  failed(event: ObjectEvent<T>, error: unknown): void {
    const { logger, clock, random } = this.#options;
    const object = this.#keyOf(event);
    let line = this.#lines.get(object);
    if (line === undefined && typeof object !== 'string' && this.#lines.size >= maxUnnamed) {
      logger.error('event handler failed, too many events without a name failed before: the event is dropped', {
        error,
      });
      return;
    }
    if (line === undefined)
      this.#lines.set(object, (line = { events: [event], attempts: 0, current: undefined, timer: undefined }));
    line.current = undefined;
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
    line.timer = clock.setTimer(retry, delay * (0.9 + 0.2 * random()), { keepAlive: false });
  }

  /** Tries nothing again. */
  clear(): void {
    for (const { timer } of this.#lines.values()) timer?.cancel();
    this.#lines.clear();
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
    const [event] = line.events;
    line.current = event;
    if (event === undefined) this.#lines.delete(object);
    else this.#options.deliver(event);
  }

  #keyOf(event: ObjectEvent<T>): unknown {
    return this.#options.traits.keyOf(event) ?? event;
  }
}

function nameOf(object: unknown): string {
  return typeof object === 'string' ? object : '';
}
