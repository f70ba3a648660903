import { type BodyPeer, peerOf } from './body-peer.js';
import { BodyReceiver } from './body-receiver.js';
import { BodyError } from './errors.js';
import type { HttpRequest } from './http-server-options.js';
import type { ReadBodyOptions } from './body-receiver.js';

/** The body of one request, which counts in a {@link BodyBudget} until it is disposed. */
export interface HeldBody extends Disposable {
  /**
   * Reads the whole body once, as `readBody` does.
   *
   * @throws BodyError as `readBody`, and with `httpCode` 503 if bodies of other requests have used up the budget
   */
  read(options: ReadBodyOptions): Promise<Buffer>;
}

/**
 * Limit of the bytes of request bodies that are in memory at a time, over many requests. Bytes count from their
 * arrival; an announced length holds nothing. If they do not fit, bodies that still arrive are evicted with a 503,
 * first those of peers without the requested client certificate, then those of the address, and of the connection, that
 * hold most, the largest first. One connection holds at most a half, one address three quarters, and all peers without
 * the requested certificate a half. One body alone always fits.
 */
export interface BodyBudget {
  /** Bytes that are in memory now. */
  readonly heldBytes: number;
  /** Begins to count the body of a request. */
  hold(request: HttpRequest): HeldBody;
}

/** Makes a budget of `maxBytes` bytes. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  return new SharedBudget(maxBytes);
}

/** Groups peers, which together hold at most a part of the budget. */
interface Share {
  /** Undefined if the peer is in no group. */
  readonly groupOf: (peer: BodyPeer) => unknown;
  readonly part: number;
}

/** In the order in which they decide which body makes room. */
const shares: readonly Share[] = [
  { groupOf: ({ trust }) => (trust === 'unverified' ? trust : undefined), part: 1 / 2 },
  { groupOf: ({ address, trust }) => `${trust} ${address}`, part: 3 / 4 },
  { groupOf: ({ connection }) => connection, part: 1 / 2 },
];

class SharedBudget implements BodyBudget {
  readonly #maxBytes: number;
  readonly #bodies = new Set<CountedBody>();
  /** Bytes by group. */
  readonly #held = new Map<unknown, number>();
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  hold(request: HttpRequest): HeldBody {
    const body = new CountedBody(request, this);
    this.#bodies.add(body);
    return body;
  }

  /** Counts bytes that have arrived. @throws BodyError if they do not fit and no other body makes room */
  take(body: CountedBody, bytes: number): void {
    for (let exhausted = this.#exhausted(body, bytes); exhausted !== undefined; ) {
      const victim = this.#victim(body, exhausted);
      if (victim === undefined) throw overBudget();
      victim.evict(overBudget());
      exhausted = this.#exhausted(body, bytes);
    }
    this.#add(body, bytes);
  }

  release(body: CountedBody): void {
    this.#bodies.delete(body);
    this.#add(body, -body.bytes);
  }

  /** Returns whether a peer is in what is used up; undefined if the bytes fit. */
  #exhausted(body: CountedBody, bytes: number): ((peer: BodyPeer) => boolean) | undefined {
    if (this.#heldBytes === body.bytes) return undefined;
    if (this.#heldBytes + bytes > this.#maxBytes) return () => true;
    for (const { groupOf, part } of shares) {
      const group = groupOf(body.peer);
      const held = this.#heldBy(group);
      if (group === undefined || held === body.bytes || held + bytes <= this.#maxBytes * part) continue;
      return (peer) => groupOf(peer) === group;
    }
    return undefined;
  }

  /** The body that makes room for another one; undefined if that one ranks first itself. */
  #victim(body: CountedBody, isCandidate: (peer: BodyPeer) => boolean): CountedBody | undefined {
    let victim = body;
    for (const other of this.#bodies)
      if (other.isArriving && other.bytes > 0 && isCandidate(other.peer) && this.#compare(other, victim) > 0)
        victim = other;
    return victim === body ? undefined : victim;
  }

  #compare(left: CountedBody, right: CountedBody): number {
    for (const { groupOf } of shares) {
      const difference = this.#heldBy(groupOf(left.peer)) - this.#heldBy(groupOf(right.peer));
      if (difference !== 0) return difference;
    }
    return left.bytes - right.bytes;
  }

  #heldBy(group: unknown): number {
    return group === undefined ? 0 : (this.#held.get(group) ?? 0);
  }

  #add(body: CountedBody, bytes: number): void {
    body.bytes += bytes;
    this.#heldBytes += bytes;
    for (const { groupOf } of shares) {
      const group = groupOf(body.peer);
      if (group === undefined) continue;
      const held = this.#heldBy(group) + bytes;
      if (held > 0) this.#held.set(group, held);
      else this.#held.delete(group);
    }
  }
}

class CountedBody implements HeldBody {
  readonly #request: HttpRequest;
  readonly #budget: SharedBudget;
  readonly peer: BodyPeer;
  bytes = 0;
  #receiver: BodyReceiver | undefined;
  #isDisposed = false;

  constructor(request: HttpRequest, budget: SharedBudget) {
    this.#request = request;
    this.#budget = budget;
    this.peer = peerOf(request);
  }

  get isArriving(): boolean {
    return this.#receiver?.isArriving === true;
  }

  async read(options: ReadBodyOptions): Promise<Buffer> {
    if (this.#isDisposed) throw new BodyError('the body is no longer needed', 400);
    const receiver = new BodyReceiver(this.#request, options, (bytes) => this.#budget.take(this, bytes));
    this.#receiver = receiver;
    try {
      return await receiver.body;
    } catch (error) {
      this[Symbol.dispose](); // nothing of it is in memory any more
      throw error;
    }
  }

  evict(reason: BodyError): void {
    this.#receiver?.fail(reason);
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#receiver?.fail(new BodyError('the body is no longer needed', 400));
    this.#budget.release(this);
  }
}

function overBudget(): BodyError {
  return new BodyError('too many request bodies at a time; try again', 503);
}
