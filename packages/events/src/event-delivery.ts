import {
  isAlreadyExists,
  isForbidden,
  isInternalError,
  isNoKindMatch,
  isNotFound,
  isServerTimeout,
  isServiceUnavailable,
  isStatusError,
  isTimeout,
  isTooManyRequests,
} from '@kctl/apimachinery';
import { Event as CoreEvent } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import type { Writer } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import type { Clock, Random } from '@kctl/wait';
import { toCoreEvent, toEvent, toPatch } from './event-object.js';
import type { Series } from './series.js';

/** client-go: 12 attempts, 10 s apart, a quarter of it jitter. */
const maxAttempts = 12;
const retryMs = 10_000;
const jitter = 0.25;

/** Which API events are written to. */
export type EventApi = 'events.k8s.io/v1' | 'v1' | 'auto';

/** What {@link EventDelivery} needs. */
export interface EventDeliveryOptions {
  readonly client: Pick<Writer, 'create' | 'patch'>;
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** A new name for an event that the server has forgotten. */
  readonly rename: (series: Series) => string;
}

/** How a delivery ended. */
export type DeliveryResult = 'sent' | 'refused' | 'gave up';

/** Brings the server up to date with a series. */
export class EventDelivery {
  readonly #options: EventDeliveryOptions;
  #isCore: boolean;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
    this.#isCore = options.api === 'v1';
  }

  /**
   * Sends what the server does not know yet. While `stopping` is not aborted, a failure that may pass is repeated;
   * from then on everything is tried once. `signal` ends it at once.
   */
  async deliver(series: Series, stopping: AbortSignal, signal: AbortSignal): Promise<DeliveryResult> {
    const { logger } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send(series, signal);
        return 'sent';
      } catch (error) {
        if (this.#recovers(series, error)) continue;
        const fields = { reason: series.happening.reason, event: `${series.namespace}/${series.name}`, error };
        if (!mayPass(error)) {
          // The namespace of what is being deleted takes no new objects: that is how things end, not a failure.
          const log = isForbidden(error) && isTerminating(error) ? 'debug' : 'warn';
          logger[log]('The server refuses an event; it is dropped', fields);
          return 'refused';
        }
        if (attempt >= maxAttempts || stopping.aborted || signal.aborted) {
          logger.warn('An event cannot be delivered; it is dropped', { ...fields, attempts: attempt });
          return 'gave up';
        }
        logger.debug('An event cannot be delivered yet', fields);
        await this.#pause(stopping);
      }
    }
  }

  async #send(series: Series, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { count, namespace, name } = series;
    if (series.sentCount === 0) {
      if (this.#isCore) await client.create(CoreEvent, toCoreEvent(series), { signal });
      else await client.create(Event, toEvent(series), { signal });
    } else if (count > series.sentCount) {
      const patch = { type: 'merge', body: toPatch(series, this.#isCore) } as const;
      await client.patch(this.#isCore ? CoreEvent : Event, { namespace, name }, patch, { signal });
    }
    series.sentCount = count;
  }

  /** Failures after which the next attempt is another request. */
  #recovers(series: Series, error: unknown): boolean {
    if (series.sentCount > 0 && isNotFound(error)) {
      // Events live for an hour on the server.
      series.sentCount = 0;
      series.name = this.#options.rename(series);
      return true;
    }
    if (series.sentCount === 0 && isAlreadyExists(error)) {
      // An attempt got through whose answer was lost. It had a count of at least one.
      series.sentCount = 1;
      return true;
    }
    if (!this.#isCore && this.#options.api === 'auto' && isNoKindMatch(error)) {
      this.#options.logger.info('The server has no events.k8s.io/v1: events go to core/v1');
      this.#isCore = true;
      return true;
    }
    return false;
  }

  async #pause(stopping: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const ms = retryMs * (1 + jitter * random());
    await sleep(ms, { clock, signal: stopping, keepAlive: false }).catch(() => undefined);
  }
}

/** client-go repeats transport errors alone; a server that is overloaded or restarting is one more reason here. */
function mayPass(error: unknown): boolean {
  if (error instanceof TypeError || isNoKindMatch(error)) return false;
  return (
    !isStatusError(error) ||
    [isTooManyRequests, isServiceUnavailable, isServerTimeout, isTimeout, isInternalError].some((is) => is(error))
  );
}

function isTerminating(error: unknown): boolean {
  return (
    isStatusError(error) && (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
  );
}
