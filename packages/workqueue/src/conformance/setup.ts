import type { Clock } from '@kctl/wait';
import type { RateLimiter } from '../rate-limiter.js';

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
  /** `held`: a drain waits for what workers hold only (client-go). `ready`: also for what is ready (priority queue). */
  readonly drainWaitsFor: 'held' | 'ready';
}
