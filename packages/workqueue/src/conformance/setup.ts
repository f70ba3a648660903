import type { Clock } from '@kctl/wait';
import type { RateLimiter } from '../limiters/rate-limiter.js';

/** What a queue under test has to be made with. */
export interface QueueSetup {
  /** Time that stands still until the suite moves it. */
  readonly clock: Clock;
  /** To be used by rate-limiting queues. */
  readonly rateLimiter?: RateLimiter<string>;
}

/** Makes a queue under test. */
export type QueueFactory<Q> = (setup: QueueSetup) => Q;

/** Where the contracts leave a choice. */
export interface WorkQueueTraits {
  /** `serve`: what waits at `shutDown` is still handed out (client-go). `abandon`: not (priority queue). */
  readonly afterShutDown: 'serve' | 'abandon';
  /** A drain where keys wait but no worker is there: `resolves` at once (client-go), or `waits` for a first worker. */
  readonly drainWithoutWorkers: 'resolves' | 'waits';
}
