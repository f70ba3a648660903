import type { EventTraits } from '@kctl/delivery';
import { Delivery } from '@kctl/delivery';
import type { Kind } from '@kctl/apimachinery';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';

/** View of own writes for a gate. */
export interface OwnWrites {
  /** Whether a write of the object is under way. */
  isWriting(object: string): boolean;
  /** Whether own writes alone lead from one version of the object to the other; if so, the update is counted. */
  isOwn(kind: Kind, object: string, versions: Versions): boolean;
  /** Calls back once, when the last write of the object has ended. Returns what takes the call back. */
  onceWritten(object: string, callback: () => void): () => void;
}

/** From which version an update led to which. */
export interface Versions {
  readonly from: string;
  readonly to: string;
}

/** An event as a gate reads it, always with an object. */
export interface GateTraits<E> extends EventTraits<E> {
  keyOf(event: E): string;
  versionsOf(update: E): Versions;
}

/** State shared by the gates of one filter. */
export interface GateParts {
  readonly writes: OwnWrites;
  readonly clock: Clock;
  /** ms after which an update is delivered although a write of its object is still under way. */
  readonly maxHoldMs: number;
  /** Receives the failure of a handler on a held update, because no caller waits for it. */
  readonly onFailure: (error: unknown, object: string) => void;
}

/** Options for {@link UpdateGate}. */
export interface UpdateGateOptions<E> extends GateParts {
  readonly kind: Kind;
  readonly traits: GateTraits<E>;
  /** The handler. */
  readonly call: (event: E) => unknown;
}

interface Held<E> {
  update: E;
  readonly timer: ClockTimer;
  readonly forget: () => void;
}

/** An event on its way to the handler. */
interface Passing<E> {
  readonly event: E;
  /** Whether the caller of {@link UpdateGate.take} waits for it, and so receives its failure. */
  readonly isAwaited: boolean;
  failure?: { readonly error: unknown };
}

/**
 * A gate in front of one handler. It blocks updates that own writes caused; those of an object that is being written
 * wait for the answer, merged into one. Updates that pass, even later, are delivered one callback at a time. It retains
 * one update per object that is being written.
 */
export class UpdateGate<E> {
  readonly #options: UpdateGateOptions<E>;
  readonly #delivery: Delivery<Passing<E>>;
  readonly #held = new Map<string, Held<E>>();

  constructor(options: UpdateGateOptions<E>) {
    this.#options = options;
    const { call, clock, traits, onFailure, kind } = options;
    this.#delivery = new Delivery({
      name: `handler of ${kind.kind} without own events`,
      clock,
      call: ({ event }) => call(event),
      traits: passingTraits(traits),
      onFailure: ({ event: passing, error }) => {
        if (passing.isAwaited) passing.failure = { error };
        else onFailure(error, traits.keyOf(passing.event));
      },
    });
  }

  /**
   * Takes an event and delivers it, holds it, or keeps it from the handler. The promise, if the handler takes time,
   * resolves when the event is delivered.
   *
   * @throws what the handler throws; the promise rejects with it
   */
  take(event: E): Promise<void> | undefined {
    const { traits } = this.#options;
    if (traits.typeOf(event) !== 'update') this.#drop(traits.keyOf(event));
    else if (!this.#admits(event)) return undefined;
    const passing: Passing<E> = { event, isAwaited: true };
    this.#delivery.offer(passing);
    if (!this.#delivery.isIdle) return this.#delivery.caughtUp().then(() => throwFailure(passing));
    throwFailure(passing);
    return undefined;
  }

  /** Forgets everything that waits. Resolves when no callback runs. */
  async close(): Promise<void> {
    for (const object of [...this.#held.keys()]) this.#drop(object);
    this.#delivery.end();
    await this.#delivery.ended();
  }

  /** Whether the update is to be delivered now; otherwise it is own, or waits. */
  #admits(update: E): boolean {
    const { kind, traits, writes } = this.#options;
    const object = traits.keyOf(update);
    const held = this.#held.get(object);
    const isResync = traits.isResync(update);
    if (held !== undefined) {
      // A resync contains nothing that is not held already.
      if (!isResync) held.update = traits.mergeUpdate(held.update, update);
      return false;
    }
    if (isResync) return true;
    if (!writes.isWriting(object)) return !writes.isOwn(kind, object, traits.versionsOf(update));
    this.#hold(object, update);
    return false;
  }

  /** Drops the pending update of an object, because an add or a delete contains everything. */
  #drop(object: string): void {
    const held = this.#held.get(object);
    if (held === undefined) return;
    this.#held.delete(object);
    held.timer.cancel();
    held.forget();
  }

  #hold(object: string, update: E): void {
    const { clock, maxHoldMs, writes } = this.#options;
    const release = (): void => this.#release(object);
    this.#held.set(object, {
      update,
      timer: startTimer(clock, release, maxHoldMs, { keepAlive: false }),
      forget: writes.onceWritten(object, release),
    });
  }

  #release(object: string): void {
    const held = this.#held.get(object);
    if (held === undefined) return;
    this.#drop(object);
    const { kind, traits, writes } = this.#options;
    if (!writes.isOwn(kind, object, traits.versionsOf(held.update)))
      this.#delivery.offer({ event: held.update, isAwaited: false });
  }
}

function throwFailure({ failure }: Passing<unknown>): void {
  if (failure !== undefined) throw failure.error;
}

function passingTraits<E>(traits: GateTraits<E>): EventTraits<Passing<E>> {
  return {
    keyOf: ({ event }) => traits.keyOf(event),
    typeOf: ({ event }) => traits.typeOf(event),
    isResync: ({ event }) => traits.isResync(event),
    mergeAdd: (add, latest) => ({ event: traits.mergeAdd(add.event, latest.event), isAwaited: false }),
    mergeUpdate: (first, latest) => ({ event: traits.mergeUpdate(first.event, latest.event), isAwaited: false }),
  };
}
