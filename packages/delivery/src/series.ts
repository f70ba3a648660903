/** Events that are made when their turn comes, such as a store's content. */
export interface Series<E> {
  /** How many are left, those that {@link next} will skip included. */
  readonly left: number;
  /** Whether it has to wait; {@link Delivery.proceed} is called when that is over. @default false */
  readonly isPaused?: boolean;
  /**
   * Makes the next event; undefined if this one is skipped. `isWaiting` states whether an event of the object waits, so
   * that the handler does not know its newest state.
   */
  next(isWaiting: (key: string) => boolean): E | undefined;
}
