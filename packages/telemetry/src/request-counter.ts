/** How many requests a piece of work has sent. */
export interface RequestTally {
  requests: number;
}

/**
 * Attributes requests to the work that sends them. An `AsyncLocalStorage<RequestTally>` is one, if the client adds to
 * the tally that `getStore` returns.
 */
export interface RequestCounter {
  /** Calls `work` with `given`. Requests of `work`, and of everything that it awaits, are added to the tally. */
  run<A extends readonly unknown[], T>(tally: RequestTally, work: (...given: A) => T, ...given: A): T;
}
