import { requireRateLimiter } from './limiters/rate-limiter.js';
import { metricsOption } from '@kctl/telemetry/internal';
import type { Metrics } from '@kctl/telemetry';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { booleanOption, clockOption, numberOption, optionProblems, textOption } from '@kctl/options';
import type { BackingQueue } from './backing-queue.js';
import type { RateLimiter } from './limiters/rate-limiter.js';
import type { KeyFunction } from './work-queue.js';

/** Policy for an add that finds a bounded queue full. */
export type OverflowRule = 'throw' | 'dropNewest' | 'dropOldest';

/**
 * The bound of a queue. Keys that wait or are delayed count; an add of a key that is queued, delayed or being worked
 * on is merged and never overflows; what was accepted is never refused later (a retry that falls due, a key added
 * while it was worked on).
 */
export interface QueueBound<T> {
  /** Maximum number of distinct pending keys, an integer ≥ 1. */
  readonly maxPending: number;
  /**
   * With `throw`, `add` throws QueueFullError. With `dropNewest`, the add is ignored. With `dropOldest`, the item that
   * would be handed out next is dropped instead (the least urgent one on a priority queue), and further ones if keys
   * that were worked on wait again, until there is room for one; if nothing is ready, the add is ignored.
   *
   * @default 'throw'
   */
  readonly overflow?: OverflowRule;
  /**
   * Called with each dropped item when the add is complete, so that it may add; the add then throws its errors. Items
   * dropped by its own adds follow when it has returned; if that has no end, the add throws a RangeError.
   */
  readonly onDrop?: (item: T) => void;
}

/** Options of `createWorkQueue`. */
export interface WorkQueueOptions<T> {
  /** Label of the metrics; no metrics without it. */
  readonly name?: string;
  /** Destination of metrics. A failure there only loses the measurement. @default none */
  readonly metrics?: Metrics;
  /** Value of the `controller` label of the metrics. @default the name */
  readonly controller?: string;
  /**
   * Identity of items.
   *
   * @default strings and numbers are their own key; objects of only `name`, `namespace` and `cluster` (all strings) are
   * identified by these; for any other item `add` throws and requires this option
   */
  readonly key?: KeyFunction<T>;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Limits the number of pending keys. @default unbounded */
  readonly bound?: QueueBound<T>;
  /**
   * Decides the order of hand-out; not for priority queues, which have a built-in one.
   *
   * @default first in, first out
   */
  readonly queue?: BackingQueue<T>;
}

/** Options of `createDelayingQueue`. */
export interface DelayingQueueOptions<T> extends WorkQueueOptions<T> {
  /** Whether a pending delay keeps the process alive. @default true */
  readonly keepAlive?: boolean;
}

/** Options of `createRateLimitingQueue`. */
export interface RateLimitingQueueOptions<T> extends DelayingQueueOptions<T> {
  /** @default defaultControllerRateLimiter */
  readonly rateLimiter?: RateLimiter<T>;
}

/** Raises the priority of what waits, so that nothing starves. */
export interface Ageing {
  /** A waiting key gains 1 of priority for each `stepMs` ms that it is ready. */
  readonly stepMs: number;
}

/** Options of `createPriorityQueue`. */
export interface PriorityQueueOptions<T> extends Omit<RateLimitingQueueOptions<T>, 'queue'> {
  /** @default none, so low priorities can starve, as in controller-runtime */
  readonly ageing?: Ageing;
}

/** Complete by type, so that none can be forgotten here. */
const optionNames: OptionNames<RateLimitingQueueOptions<never> & PriorityQueueOptions<never>> = {
  queue: true,
  name: textOption,
  metrics: metricsOption,
  controller: textOption,
  key: true,
  clock: clockOption,
  bound: true,
  keepAlive: booleanOption,
  rateLimiter: true,
  ageing: true,
};
const boundNames: OptionNames<QueueBound<never>> = { maxPending: true, overflow: true, onDrop: true };
const ageingNames: OptionNames<Ageing> = { stepMs: numberOption({ above: 0 }) };

/**
 * Refuses options that no queue has. An option of a more capable queue has no effect on a simpler one, so that options
 * may be shared.
 *
 * @throws TypeError naming every option that is not known, those of `bound` and `ageing` included
 */
export function requireQueueOptions<T>(
  what: string,
  options: RateLimitingQueueOptions<T> & PriorityQueueOptions<T>,
): void {
  const problems = optionProblems(options, optionNames);
  if (problems.length === 0) {
    problems.push(...optionProblems(options.bound, boundNames, 'bound'));
    problems.push(...optionProblems(options.ageing, ageingNames, 'ageing'));
  }
  if (problems.length > 0) throw new TypeError(`${what}: ${problems.join('; ')}`);
  if (options.rateLimiter !== undefined) requireRateLimiter(options.rateLimiter);
}
