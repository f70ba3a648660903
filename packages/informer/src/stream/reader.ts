import type { KubeObject } from '@kctl/apimachinery';
import type { Slicer } from '@kctl/wait/internal';
import type { AbortLink } from '@kctl/wait';
import type { EventHandlerOptions, InformerEvent } from '../handlers/event.js';
import type { SharedInformer } from '../informer.js';
import { PendingEvents } from './pending-events.js';

/** One loop over a stream, shared by its operators. */
export interface Reading {
  /** Aborted when the reader has left, or the stream ends. */
  readonly signal: AbortSignal;
  /** Called for each deleted object, before its delete is passed on, for operators that remember objects. */
  readonly onGone: Set<(key: string) => void>;
  /** A loop that always has something to read shares the event loop as a handler does. */
  readonly slicer: Slicer;
}

/** Events of an informer, one reader's. They end with the informer, after what waits was read, or at once with the signal. */
export async function* readEvents<T extends KubeObject>(
  informer: Pick<SharedInformer<T>, 'addEventHandler'>,
  options: EventHandlerOptions<T>,
  { signal, onGone, slicer }: Reading,
): AsyncGenerator<InformerEvent<T>, void> {
  if (signal.aborted) return;
  const pending = new PendingEvents<T>(options.delivery);
  let wake: (() => void) | undefined;
  let hasEnded = false;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const onEvent = (event: InformerEvent<T>): void => {
    pending.put(event);
    notify();
  };
  const registration = informer.addEventHandler({ onEvent }, options);
  void registration.ended.then(() => {
    hasEnded = true;
    notify();
  });
  signal.addEventListener('abort', notify, { once: true });
  try {
    while (!signal.aborted) {
      if (slicer.isOver) {
        await slicer.breathe();
        continue;
      }
      const event = pending.take();
      if (event !== undefined) {
        if (event.type === 'delete') for (const forget of onGone) forget(event.key);
        yield event;
      } else if (hasEnded) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener('abort', notify);
    await registration.remove();
  }
}

/**
 * The iterator of one loop. Leaving it ends a read that waits, too, which a generator would first wait for.
 */
export class ReaderIterator<E> implements AsyncIterableIterator<E, undefined> {
  readonly #events: AsyncGenerator<E, void>;
  readonly #link: AbortLink;

  constructor(events: AsyncGenerator<E, void>, link: AbortLink) {
    this.#events = events;
    this.#link = link;
  }

  async next(): Promise<IteratorResult<E, undefined>> {
    try {
      const result = await this.#events.next();
      if (result.done !== true) return result;
    } catch (error) {
      this.#link.abort();
      throw error;
    }
    this.#link[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<E, undefined>> {
    this.#link.abort();
    await this.#events.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
