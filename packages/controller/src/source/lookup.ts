import { numberOption, type OptionCheck, shownType } from '@kctl/options';
import { type AbortLink, anySignal, type Clock, withDeadline } from '@kctl/wait';

/** How long a function that looks something up may take, in ms, unless its options name another time. */
export const defaultLookupTimeoutMs = 60_000;

/** A check of the option `timeoutMs`. */
export const lookupTimeoutOption: OptionCheck = numberOption({ above: 0, orInfinity: true });

/**
 * A list returned by a user's function. An error object, a string or bytes must not count as an empty list, because
 * objects missing from it would count as deleted.
 *
 * @param what the function, at the beginning of the message
 * @throws TypeError for what is not an iterable of values
 */
export function listed<T>(what: string, returned: Iterable<T>): readonly T[] {
  const given: unknown = returned;
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given) || ArrayBuffer.isView(given))
    throw new TypeError(`${what} returned ${shownType(given)}: expected a list, such as [] if there is nothing`);
  const items = [...returned];
  const place = items.findIndex((item) => item === undefined || item === null || typeof item === 'function');
  if (place >= 0) throw new TypeError(`${what} returned a list with ${shownType(items[place])} at ${place}`);
  return items;
}

/** Dependencies of {@link Lookup}. */
export interface LookupParts {
  readonly what: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends it. A function that ignores its own signal is no longer waited for. */
  readonly signal: AbortSignal;
}

/** Calls a user's function again and again, each time with a deadline. */
export class Lookup {
  #link: AbortLink | undefined;

  /**
   * The signal of a call is aborted at the deadline, and until the next call also by the signal of the parts, because
   * work that a call has begun may continue after its answer.
   *
   * @throws DeadlineExceededError, what `work` throws, and the reason of the signal
   */
  async run<T>(
    work: (signal: AbortSignal) => T | Promise<T>,
    { what, timeoutMs, clock, signal }: LookupParts,
  ): Promise<T> {
    this.#link?.[Symbol.dispose]();
    const link = anySignal([signal]);
    this.#link = link;
    const message = `${what} did not end within ${timeoutMs} ms`;
    try {
      return await withDeadline(() => work(link.signal), { timeoutMs, message, signal, clock });
    } catch (error) {
      link.abort(error);
      throw error;
    }
  }
}
