import { defaultControllerRateLimiter } from './limiters/default-rate-limiters.js';
import { DelayingFifoQueue } from './delaying/delaying-queue.js';
import { requireNumber } from './errors.js';
import type { FailurePolicy } from './pool.js';
import type { RateLimitingQueueOptions } from './queue-options.js';
import { requireQueueOptions } from './queue-options.js';
import type { RateLimiter } from './limiters/rate-limiter.js';
import { requireRateLimiter } from './limiters/rate-limiter.js';
import type { InspectableQueue, RateLimitingQueue, RequeueCause } from './work-queue.js';

/**
 * Makes a queue that spaces out retries.
 *
 * @throws QueueArgumentError for an option out of range; TypeError for one that is not known
 *
 * @example
 * ```ts
 * import { createRateLimitingQueue } from '@kctl/workqueue';
 *
 * const queue = createRateLimitingQueue();
 * const pool = queue.run({ concurrency: 4, signal }, async (key) => {
 *   console.log('work on', key); // what throws is tried again, later each time
 * });
 * queue.add('shop/web-0');
 * await pool.ended;
 * ```
 */
export function createRateLimitingQueue<T = string>(
  options: RateLimitingQueueOptions<T> = {},
): RateLimitingQueue<T> & InspectableQueue<T> {
  requireQueueOptions('createRateLimitingQueue', options);
  return new RateLimitingFifoQueue<T>(options);
}

class RateLimitingFifoQueue<T> extends DelayingFifoQueue<T> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;

  override readonly failurePolicy: FailurePolicy<T> = {
    verdict: 'retry',
    attempt: (item) => this.numRequeues(item) + 1,
    retry: (item, error) => this.addRateLimited(item, { error }),
    forget: (item) => this.forget(item),
  };

  constructor(options: RateLimitingQueueOptions<T>) {
    super(options);
    const { key, clock, rateLimiter } = options;
    if (rateLimiter !== undefined) requireRateLimiter(rateLimiter);
    this.#limiter = rateLimiter ?? defaultControllerRateLimiter<T>(clock === undefined ? {} : { clock });
    if (key !== undefined) this.#limiter.adoptKey?.(key);
  }

  addRateLimited(item: T, cause?: RequeueCause): void {
    if (this.isDown) return;
    const delay = this.#limiter.when(item, cause);
    requireNumber('the delay of the rate limiter', delay);
    this.addAfter(item, delay);
  }

  forget(item: T): void {
    this.#limiter.forget(item);
    if (this.table.failures.size > 0) this.endFailures(this.table.find(item));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }
}
