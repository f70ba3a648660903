import type { Kind } from '@kctl/apimachinery';
import type { Clock, ClockTimer } from '@kctl/wait';

/** What a gate asks about own writes. */
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

/** One update of an object, as some handler knows it. */
export interface Update<E> {
  readonly object: string;
  readonly versions: Versions;
  readonly event: E;
}

/** What {@link UpdateGate} needs. */
export interface UpdateGateOptions<E> {
  readonly kind: Kind;
  readonly writes: OwnWrites;
  readonly clock: Clock;
  /** ms after which an update is delivered although a write of its object is still under way. */
  readonly maxHoldMs: number;
  /** One event for two that follow one another. */
  readonly merge: (first: E, last: E) => E;
  readonly deliver: (event: E) => void;
}

interface Held<E> {
  from: string;
  update: Update<E>;
  readonly timer: ClockTimer;
  readonly forget: () => void;
}

/**
 * What stands before one handler: updates that own writes caused stay out; those of an object that is being written
 * wait for the answer, merged into one.
 */
export class UpdateGate<E> {
  readonly #options: UpdateGateOptions<E>;
  readonly #held = new Map<string, Held<E>>();

  constructor(options: UpdateGateOptions<E>) {
    this.#options = options;
  }

  /** Whether the update is to be delivered now; otherwise it is own, or waits. */
  admits(update: Update<E>): boolean {
    const { kind, writes } = this.#options;
    const { object, versions } = update;
    const held = this.#held.get(object);
    const isResync = versions.from === versions.to;
    if (held !== undefined) {
      // A resync says nothing that is not held already.
      if (!isResync) held.update = { ...update, event: this.#options.merge(held.update.event, update.event) };
      return false;
    }
    if (isResync) return true;
    if (!writes.isWriting(object)) return !writes.isOwn(kind, object, versions);
    this.#hold(update);
    return false;
  }

  /** Forgets what waits for an object: an add or a delete says all there is to say. */
  drop(object: string): void {
    const held = this.#held.get(object);
    if (held === undefined) return;
    this.#held.delete(object);
    held.timer.cancel();
    held.forget();
  }

  /** Forgets everything that waits. */
  close(): void {
    for (const object of [...this.#held.keys()]) this.drop(object);
  }

  #hold(update: Update<E>): void {
    const { clock, maxHoldMs, writes } = this.#options;
    const { object, versions } = update;
    const release = (): void => this.#release(object);
    this.#held.set(object, {
      from: versions.from,
      update,
      timer: clock.setTimer(release, maxHoldMs, { keepAlive: false }),
      forget: writes.onceWritten(object, release),
    });
  }

  #release(object: string): void {
    const held = this.#held.get(object);
    if (held === undefined) return;
    this.drop(object);
    const { kind, writes, deliver } = this.#options;
    const versions = { from: held.from, to: held.update.versions.to };
    if (!writes.isOwn(kind, object, versions)) deliver(held.update.event);
  }
}
