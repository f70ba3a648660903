/**
 * The behaviour that every implementation of the queue contracts has, as vitest suites: call them in a test file with
 * a function that makes the queue.
 *
 * @packageDocumentation
 */
export { describeDelayingQueue } from './delaying-queue.js';
export { describePriorityQueue } from './priority-queue.js';
export { describeRateLimitingQueue } from './rate-limiting-queue.js';
export type { QueueFactory, QueueSetup, WorkQueueTraits } from './setup.js';
export { describeWorkQueue } from './work-queue.js';
