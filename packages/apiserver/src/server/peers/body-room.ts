import { tooManyRequests } from '../../protocol/status.js';

/** Sender of a body. */
export interface BodySender {
  /** HTTP/2 session or socket. */
  readonly connection: object;
  /** Whether its request was authenticated. */
  readonly isKnown: boolean;
}

/** One body that counts in a {@link BodyRoom} until it is released. */
export interface RoomedBody {
  /** Counts bytes that have arrived. @throws StatusError 429 if they do not fit, and no other body makes room */
  take(bytes: number): void;
  /** Marks the body as complete, so that it is no longer evicted. */
  complete(): void;
  release(): void;
}

/**
 * Limit of the bytes of request bodies that are in memory at a time. Bytes count from their arrival; an announced
 * length holds nothing. If they do not fit, bodies that still arrive make room, first those of senders that were not
 * authenticated, then those of the connection that holds most, the largest first. One connection holds at most a half
 * of the room, and so do all senders together that were not authenticated. One body alone always fits.
 */
export class BodyRoom {
  readonly #maxBytes: number;
  readonly #bodies = new Set<CountedBody>();
  readonly #byConnection = new WeakMap<object, number>();
  #bytesOfStrangers = 0;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are in memory now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param onEvict is called if the body has to make room; it is released then */
  enter(sender: BodySender, onEvict: (reason: Error) => void): RoomedBody {
    const body: CountedBody = {
      sender,
      onEvict,
      bytes: 0,
      isArriving: true,
      take: (bytes) => this.#take(body, bytes),
      complete: () => void (body.isArriving = false),
      release: () => this.#release(body),
    };
    this.#bodies.add(body);
    return body;
  }

  #take(body: CountedBody, bytes: number): void {
    for (let full = this.#full(body, bytes); full !== undefined; full = this.#full(body, bytes)) {
      const victim = this.#victim(body, full);
      if (victim === undefined) throw noRoom();
      this.#release(victim);
      victim.onEvict(noRoom());
    }
    this.#add(body, bytes);
  }

  /** Returns whose part is used up; undefined if the bytes fit. */
  #full(body: CountedBody, bytes: number): ((other: CountedBody) => boolean) | undefined {
    const { connection, isKnown } = body.sender;
    const half = this.#maxBytes / 2;
    if (this.#heldBytes === body.bytes) return undefined;
    if (this.#heldBytes + bytes > this.#maxBytes) return () => true;
    const ofConnection = this.#heldBy(connection);
    if (ofConnection > body.bytes && ofConnection + bytes > half)
      return (other) => other.sender.connection === connection;
    const areStrangersFull = this.#bytesOfStrangers > body.bytes && this.#bytesOfStrangers + bytes > half;
    return !isKnown && areStrangersFull ? (other) => !other.sender.isKnown : undefined;
  }

  /** The body that makes room for another one; undefined if that one ranks first itself. */
  #victim(body: CountedBody, isCandidate: (other: CountedBody) => boolean): CountedBody | undefined {
    let victim = body;
    for (const other of this.#bodies)
      if (other.isArriving && other.bytes > 0 && isCandidate(other) && this.#compare(other, victim) > 0) victim = other;
    return victim === body ? undefined : victim;
  }

  #compare(left: CountedBody, right: CountedBody): number {
    const strangers = Number(right.sender.isKnown) - Number(left.sender.isKnown);
    if (strangers !== 0) return strangers;
    const connections = this.#heldBy(left.sender.connection) - this.#heldBy(right.sender.connection);
    return connections !== 0 ? connections : left.bytes - right.bytes;
  }

  #heldBy(connection: object): number {
    return this.#byConnection.get(connection) ?? 0;
  }

  #release(body: CountedBody): void {
    if (this.#bodies.delete(body)) this.#add(body, -body.bytes);
  }

  #add(body: CountedBody, bytes: number): void {
    const { connection, isKnown } = body.sender;
    body.bytes += bytes;
    this.#heldBytes += bytes;
    if (!isKnown) this.#bytesOfStrangers += bytes;
    this.#byConnection.set(connection, this.#heldBy(connection) + bytes);
  }
}

interface CountedBody extends RoomedBody {
  readonly sender: BodySender;
  readonly onEvict: (reason: Error) => void;
  bytes: number;
  isArriving: boolean;
}

function noRoom(): Error {
  return tooManyRequests('too many request bodies at a time, please try again later', 1);
}
