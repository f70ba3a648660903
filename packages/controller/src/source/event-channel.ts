import type { OptionNames } from '@kctl/options';
import { numberProblem, requireOptions, functionOption } from '@kctl/options';

/** Options of {@link createEventChannel}. */
export interface EventChannelOptions<T> {
  /**
   * How many objects are kept until they are read. @default 1024, as in `source.Channel`
   */
  readonly capacity?: number;
  /**
   * Identity of an object. A waiting object is replaced by a newer one of the same identity. @default nothing is
   * replaced
   */
  readonly identify?: (object: T) => string;
}

const optionNames: OptionNames<EventChannelOptions<never>> = {
  capacity: true,
  identify: functionOption,
};

/** The place into which code outside of a controller puts objects with changes; give it to `channelSource`. */
export interface EventChannel<T> extends AsyncIterable<T> {
  /** How many objects wait. */
  readonly length: number;
  /**
   * Hands an object over. False when the channel is full or closed; the object is then not taken, and the sender must
   * try again later or let go.
   */
  send(object: T): boolean;
  /** Ends the channel; waiting objects are still delivered. Idempotent. */
  close(): void;
}

/**
 * Makes a channel for one reader (several controllers share it through one `channelSource`).
 *
 * @throws TypeError when `capacity` is not an integer ≥ 1
 *
 * @example
 * ```ts
 * import { createEventChannel } from '@kctl/controller';
 *
 * const channel = createEventChannel<{ id: string }>({ identify: ({ id }) => id });
 * if (!channel.send({ id: 'tea' })) console.log('full: send it again later');
 * channel.close();
 * ```
 */
export function createEventChannel<T>(options: EventChannelOptions<T> = {}): EventChannel<T> {
  requireOptions('createEventChannel', options, optionNames);
  const { capacity = 1024, identify } = options;
  const problem = numberProblem('capacity', capacity, { least: 1, integer: true, orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createEventChannel: ${problem}`);
  const waiting = new Map<string | number, T>();
  let sent = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  // A Map's iterator sees what is added while it is open. A new one for each object would walk over all that was
  // deleted since the Map was last compacted.
  let entries = waiting.entries();
  const take = (): IteratorResult<T, undefined> | undefined => {
    let next = entries.next();
    if (next.done === true) {
      if (waiting.size === 0) return isClosed ? { done: true, value: undefined } : undefined;
      entries = waiting.entries(); // one that came to its end sees nothing further
      next = entries.next();
    }
    if (next.done === true) return undefined;
    const [identity, object] = next.value;
    waiting.delete(identity);
    return { done: false, value: object };
  };
  // Written by hand, because a generator takes three turns of the microtask queue and as many promises for each object.
  const read = (): AsyncIterator<T, undefined> => {
    let hasEnded = false;
    const waitForNext = async (): Promise<IteratorResult<T, undefined>> => {
      for (;;) {
        const taken = hasEnded ? end : take();
        if (taken !== undefined) return taken;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    };
    const end: IteratorResult<T, undefined> = { done: true, value: undefined };
    return {
      next: () => {
        const taken = hasEnded ? end : take();
        return taken === undefined ? waitForNext() : Promise.resolve(taken);
      },
      return: () => {
        hasEnded = true;
        notify();
        return Promise.resolve(end);
      },
    };
  };
  return {
    get length() {
      return waiting.size;
    },
    send: (object) => {
      const identity = identify?.(object) ?? sent++;
      if (isClosed || (waiting.size >= capacity && !waiting.has(identity))) return false;
      waiting.set(identity, object);
      notify();
      return true;
    },
    close: () => {
      isClosed = true;
      notify();
    },
    [Symbol.asyncIterator]: read,
  };
}
