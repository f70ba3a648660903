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
import type { Patch, Writer } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import { retry, sleep } from '@kctl/wait';
import type { Clock, Random } from '@kctl/wait';
import { toCoreEvent, toCorePatch, toEvent, toNotePatch, toPatch } from './event-object.js';
import type { Series } from './series.js';

/** client-go: 12 attempts, 10 s apart, a quarter of it jitter. */
const maxAttempts = 12;
const retryMs = 10_000;
const jitter = 0.25;

/** Which API events are written to. */
export type EventApi = 'events.k8s.io/v1' | 'v1' | 'auto';

/** Dependencies of {@link EventDelivery}. */
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
  #mayPatchNotes = true;

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
    const fieldsOf = (error: unknown) => ({
      reason: series.recorded.reason,
      event: `${series.namespace}/${series.name}`,
      error,
    });
    let attempts = 0;
    let hasRecovered = false;
    try {
      await retry(
        async (attempt) => {
          attempts = attempt;
          await this.#send(series, signal);
        },
        {
          isRetriable: (error) => {
            if (attempts >= maxAttempts) return false;
            hasRecovered = this.#recovers(series, error);
            return hasRecovered || (mayPass(error) && !stopping.aborted && !signal.aborted);
          },
          pause: (error) => {
            if (hasRecovered) return undefined;
            logger.debug('an event cannot be delivered yet', fieldsOf(error));
            return this.#pause(stopping);
          },
        },
      );
      return 'sent';
    } catch (error) {
      if (mayPass(error)) {
        logger.warn('an event cannot be delivered; it is dropped', { ...fieldsOf(error), attempts });
        return 'gave up';
      }
      // A terminating namespace accepts no new objects, which is expected and not a failure.
      const log = isForbidden(error) && isTerminating(error) ? 'debug' : 'warn';
      logger[log]('The server refuses an event; it is dropped', fieldsOf(error));
      return 'refused';
    }
  }

  async #send(series: Series, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { count, note, namespace, name } = series;
    const key = { namespace, name };
    if (series.sentCount === 0) {
      if (this.#isCore) await client.create(CoreEvent, toCoreEvent(series), { signal });
      else await client.create(Event, toEvent(series), { signal });
    } else if (count > series.sentCount) {
      if (this.#isCore) await client.patch(CoreEvent, key, mergePatch(toCorePatch(series)), { signal });
      else if (note === series.sentNote || !(await this.#patchNote(series, signal)))
        await client.patch(Event, key, mergePatch(toPatch(series)), { signal });
    }
    series.sentCount = count;
    series.sentNote = note;
  }

  /**
   * Changes the note of an event. events.k8s.io/v1 refuses that, and core/v1, which has the same objects, does not.
   * Returns whether the note was changed; if a role allows only the former, only the count is written.
   */
  async #patchNote(series: Series, signal: AbortSignal): Promise<boolean> {
    const { client, logger, api } = this.#options;
    if (!this.#mayPatchNotes || api === 'events.k8s.io/v1') return false;
    const { namespace, name } = series;
    try {
      await client.patch(CoreEvent, { namespace, name }, mergePatch(toNotePatch(series)), { signal });
      return true;
    } catch (error) {
      if (!isForbidden(error) || isTerminating(error)) throw error;
      this.#mayPatchNotes = false;
      logger.info('events that are combined keep their first note: allow patch on events of the core group', { error });
      return false;
    }
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
      this.#options.logger.info('the server has no events.k8s.io/v1: events go to core/v1');
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

function mergePatch(body: object): Patch {
  return { type: 'merge', body };
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
