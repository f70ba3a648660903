import type { Clock } from '@kctl/wait';
import type { EventTraits } from './event-traits.js';
import type { Slicer } from '@kctl/wait/internal';
import type { Turn } from './turn.js';

/** A callback that threw, rejected, or did not settle in time. */
export interface DeliveryFailure<E> {
  readonly event: E;
  /** The error that the callback threw or rejected with; a `DeadlineExceededError` if it did not settle. */
  readonly error: unknown;
  /** False if the callback still runs; it is no longer waited for. */
  readonly hasSettled: boolean;
}

/** Options of {@link Delivery}. */
export interface DeliveryOptions<E> {
  /** The handler. Its errors and the rejections of a promise or thenable that it returns go to `onFailure`. */
  readonly call: (event: E) => unknown;
  readonly traits: EventTraits<E>;
  /** Receives each failure, once; the event counts as delivered. Its own errors are ignored. */
  readonly onFailure: (failure: DeliveryFailure<E>) => void;
  readonly clock: Clock;
  /** For the error of a callback that does not settle. */
  readonly name: string;
  /**
   * How many events of an object wait as they are; later ones merge. An integer ≥ 1.
   *
   * @default 1
   */
  readonly keep?: number;
  /**
   * How many objects may have a callback that runs; of one object at most one does. With more than 1, events of
   * different objects overtake one another, and so do events without identity.
   *
   * @default 1
   */
  readonly lanes?: number;
  /** Shared with the other deliveries to the same handler. @default a separate turn */
  readonly turn?: Turn;
  /** No callback begins before this has settled. @default it does not wait */
  readonly after?: Promise<unknown>;
  /**
   * Gives the slices of the event loop in which it delivers what waited. One that is given is shared with others, and
   * events are delivered at once only while its slice is not over.
   *
   * @default a separate slicer of 5 ms
   */
  readonly slicer?: Slicer;
  /** ms after which a callback that has not settled is reported and waited for no more. @default 30_000 */
  readonly timeoutMs?: number;
  /** The same for a callback that runs when the delivery ends. @default 5_000 */
  readonly endTimeoutMs?: number;
}
