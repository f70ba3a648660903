import { createFence, type Fence } from './fence.js';

/** One period of leadership. */
export class Term {
  /** Guards this term alone, and is closed forever once it has ended, even if this process leads again. */
  readonly fence: Fence;
  readonly #controller = new AbortController();
  readonly #given = new AbortController();
  readonly #ended = Promise.withResolvers<undefined>();
  readonly #limits: TermLimits;
  #renewedAt: number;
  #lostBy: Error | undefined;

  /** `renewedAt`: when the request that won was sent. */
  constructor(limits: TermLimits, renewedAt: number) {
    this.#limits = limits;
    this.#renewedAt = renewedAt;
    this.fence = createFence(limits.description, {
      isOpen: () => this.isOpen,
      signal: () => this.#controller.signal,
    });
  }

  /** Aborted when leadership ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborted when the owner wants to step down. */
  get stepDownSignal(): AbortSignal {
    return this.#given.signal;
  }

  /** Looks at the clock, not at a timer. */
  get isOpen(): boolean {
    return !this.#controller.signal.aborted && this.#limits.now() < this.openUntil;
  }

  /** Monotonic time at which the last successful renewal was *sent*: other candidates count from a later moment. */
  get renewedAt(): number {
    return this.#renewedAt;
  }

  /** Monotonic time from which on nothing protected may begin. */
  get openUntil(): number {
    return this.#renewedAt + this.#limits.renewDeadlineMs;
  }

  /** Monotonic time from which on others may lead. */
  get expiresAt(): number {
    return this.#renewedAt + this.#limits.leaseDurationMs;
  }

  /** Resolves when the work has ended (or was given up on) and the lock was released. */
  get ended(): Promise<undefined> {
    return this.#ended.promise;
  }

  renewed(sentAt: number): void {
    this.#renewedAt = sentAt;
  }

  giveUp(): void {
    this.#given.abort(new DOMException('asked to step down', 'AbortError'));
  }

  /** Ends the term as lost, without a release. */
  lose(reason: Error): void {
    this.#lostBy ??= reason;
    this.#given.abort(reason);
  }

  /** The argument of {@link lose}. */
  get lostBy(): Error | undefined {
    return this.#lostBy;
  }

  /** From here on nothing protected may begin. */
  close(reason: Error): void {
    this.#controller.abort(reason);
  }

  markEnded(): void {
    this.#ended.resolve(undefined);
  }
}

/** State shared by the terms of an elector. */
export interface TermLimits {
  readonly description: string;
  readonly renewDeadlineMs: number;
  readonly leaseDurationMs: number;
  now(): number;
}
