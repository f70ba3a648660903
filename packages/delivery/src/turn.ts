/** Waiter for a {@link Turn}. */
export interface TurnTaker {
  /** The turn may be free, so take it, or leave the line. */
  proceed(): void;
}

/**
 * One callback at a time. Deliveries that share a turn never call at the same time, so that one handler may serve
 * several sources; they get the turn in the order of their requests.
 */
export class Turn {
  #isTaken = false;
  readonly #line = new Set<TurnTaker>();

  /** Whether a callback runs, or is about to end a promise. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Whether the taker may call at once. */
  isFreeFor(taker: TurnTaker): boolean {
    return !this.#isTaken && (this.#line.size === 0 || this.#first() === taker);
  }

  /** Whether the taker may call at once; if not, it stands in line and {@link TurnTaker.proceed} is called. */
  ask(taker: TurnTaker): boolean {
    if (this.isFreeFor(taker)) return true;
    this.#line.add(taker);
    return false;
  }

  /** Takes the turn, or stands in line as with {@link ask}. */
  take(taker: TurnTaker): boolean {
    if (!this.ask(taker)) return false;
    this.enter(taker);
    return true;
  }

  /** Takes a turn that {@link isFreeFor} has just reported as free. */
  enter(taker: TurnTaker): void {
    if (this.#line.size > 0) this.#line.delete(taker);
    this.#isTaken = true;
  }

  /** Ends a turn that was taken. */
  release(): void {
    this.#isTaken = false;
    if (this.#line.size > 0) this.#first()?.proceed();
  }

  /** Stands in line no more. */
  leave(taker: TurnTaker): void {
    const wasFirst = this.#line.size > 0 && this.#first() === taker;
    this.#line.delete(taker);
    if (wasFirst && !this.#isTaken) this.#first()?.proceed();
  }

  #first(): TurnTaker | undefined {
    for (const taker of this.#line) return taker;
    return undefined;
  }
}
