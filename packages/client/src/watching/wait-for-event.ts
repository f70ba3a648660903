import { StatusError } from '@kctl/apimachinery';
import type { Status } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { clockOption, numberProblem, requireOptions, signalOption } from '@kctl/options';
import { orAborted, withDeadline } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { AbortOptions } from '../options.js';
import { WatchClosedError } from './errors.js';
import { settled } from './settled.js';

/** Reports whether an event is the expected one. An error that it throws ends the wait. */
export type EventCondition<E> = (event: E) => boolean | Promise<boolean>;

/** Options of {@link waitForEvent}. */
export interface WaitForEventOptions extends AbortOptions {
  /** How long to wait, in ms. @default Infinity */
  readonly timeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** The options of {@link waitForEvent}, for what takes them among others. */
export const waitForEventOptionNames: OptionNames<WaitForEventOptions> = {
  timeoutMs: true,
  clock: clockOption,
  signal: signalOption,
};

/**
 * Reads a stream of events until its conditions have held, one after the other, each of a later event than the one
 * before; returns the event of which the last one held, and leaves the stream. A bookmark or an ERROR event goes through
 * the conditions like any other. Mirrors `watch.UntilWithoutRetry`; with the stream of `createRetryWatcher`,
 * `watch.Until`.
 *
 * @throws WatchClosedError when the stream ends before, with the status of its last ERROR event as cause;
 *   DeadlineExceededError after `timeoutMs`; the signal's reason on abort; what a condition or the stream throws;
 *   TypeError when an argument is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createRetryWatcher, waitForEvent } from '@kctl/client';
 *
 * const { metadata } = await client.list(Pod, { namespace: 'shop' });
 * const events = createRetryWatcher(client, Pod, { namespace: 'shop', resourceVersion: metadata.resourceVersion ?? '' });
 * await waitForEvent(events, ({ type }) => type === 'DELETED', { timeoutMs: 60_000 });
 * ```
 */
export async function waitForEvent<E>(
  events: AsyncIterable<E>,
  until: EventCondition<E> | readonly EventCondition<E>[],
  options: WaitForEventOptions = {},
): Promise<E> {
  requireOptions('waitForEvent', options, waitForEventOptionNames);
  const { timeoutMs = Infinity } = options;
  const conditions = typeof until === 'function' ? [until] : until;
  const problem =
    (isIterable(events) ? undefined : 'events is not a stream: expected an async iterable') ??
    (areConditions(conditions) ? undefined : 'until is not valid: expected a function of an event, or several') ??
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`waitForEvent: ${problem}`);
  const message = `waitForEvent: no such event within ${timeoutMs} ms`;
  return await withDeadline((signal) => find(events, conditions, signal), { ...options, timeoutMs, message });
}

async function find<E>(
  events: AsyncIterable<E>,
  conditions: readonly EventCondition<E>[],
  signal: AbortSignal,
): Promise<E> {
  const iterator = events[Symbol.asyncIterator]();
  let met = 0;
  let failure: Status | undefined;
  let hasEnded = false;
  try {
    for (;;) {
      const result = await orAborted(iterator.next(), signal);
      if (result.done === true) {
        hasEnded = true;
        throw closedError(met, conditions.length, failure);
      }
      const event = result.value;
      failure = statusOf(event);
      if (!(await conditions[met]?.(event))) continue;
      met++;
      if (met === conditions.length) return event;
    }
  } finally {
    if (!hasEnded) leave(events, iterator);
  }
}

/**
 * Not awaited, because `return` of a generator that waits for its next event waits too, unless the stream is disposed
 * of.
 */
function leave<E>(events: AsyncIterable<E>, iterator: AsyncIterator<E>): void {
  void settled(() => iterator.return?.());
  if (isDisposable(events)) void settled(() => events[Symbol.asyncDispose]());
}

function closedError(met: number, conditions: number, failure: Status | undefined): WatchClosedError {
  const seen = conditions === 1 ? '' : `: ${met} of ${conditions} conditions held`;
  return new WatchClosedError(
    `waitForEvent: the stream ended before the event that was waited for${seen}`,
    failure === undefined ? undefined : { cause: new StatusError(failure) },
  );
}

function statusOf(event: unknown): Status | undefined {
  if (!isJsonObject(event) || event['type'] !== 'ERROR') return undefined;
  const status: object | undefined = isJsonObject(event['status']) ? event['status'] : undefined;
  return status;
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function areConditions(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'function');
}

function isDisposable(value: object): value is AsyncDisposable {
  return Symbol.asyncDispose in value;
}
