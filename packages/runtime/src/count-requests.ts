import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection } from '@kctl/client-http';
import type { RequestCounter, RequestTally } from '@kctl/telemetry';

/** Result of {@link countRequests}. */
export interface CountedRequests {
  /** The connection, whose every client adds to the tally of the work that sends. */
  readonly connection: Connection;
  readonly requestCounter: RequestCounter;
}

/** Finds the tally of the work that sends a request. */
export interface Tallies extends RequestCounter {
  getStore(): RequestTally | undefined;
}

/** Has the requests of a connection counted for the work that sends them; its own observer is called as before. */
export function countRequests(
  connection: Connection,
  tallies: Tallies = new AsyncLocalStorage<RequestTally>(),
): CountedRequests {
  const { observe } = connection;
  // One that is not a function is refused by the client, by its name.
  if (observe !== undefined && typeof observe !== 'function') return { connection, requestCounter: tallies };
  return {
    requestCounter: tallies,
    connection: {
      ...connection,
      observe: (request) => {
        const tally = tallies.getStore();
        if (tally !== undefined) tally.requests++;
        observe?.(request);
      },
    },
  };
}
