/** Options of {@link createEventChannel}. */
export interface EventChannelOptions<T> {
  /**
   * How many objects are kept until somebody reads them. @default 1024, as in `source.Channel`
   */
  readonly capacity?: number;
  /** Identity of an object: one that waits is replaced by a newer one of the same identity. @default nothing is replaced */
  readonly identify?: (object: T) => string;
}

/** Where code outside of a controller puts objects that something happened to; give it to `channelSource`. */
export interface EventChannel<T> extends AsyncIterable<T> {
  /** How many objects wait. */
  readonly length: number;
  /**
   * Hands an object over. False when the channel is full or closed: then it is not taken, and the sender must try again
   * later or let go.
   */
  send(object: T): boolean;
  /** Ends the channel: what waits is still delivered. Idempotent. */
  close(): void;
}

/** Makes a channel for one reader (several controllers share it through one `channelSource`). */
export function createEventChannel<T>(options: EventChannelOptions<T> = {}): EventChannel<T> {
  const { capacity = 1024, identify } = options;
  const waiting = new Map<string | number, T>();
  let sent = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  async function* read(): AsyncGenerator<T> {
    // A Map's iterator sees what is added while it is open. A new one for each object would walk over all that was
    // deleted since the Map was last compacted.
    let entries = waiting.entries();
    for (;;) {
      let next = entries.next();
      if (next.done === true) {
        entries = waiting.entries(); // one that came to its end sees nothing any more
        next = entries.next();
      }
      if (next.done !== true) {
        const [identity, object] = next.value;
        waiting.delete(identity);
        yield object;
      } else if (isClosed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
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
