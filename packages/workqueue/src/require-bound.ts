import { QueueArgumentError, requireFunction, requireInteger } from './errors.js';
import type { QueueBound } from './queue-options.js';

const overflowRules: readonly unknown[] = ['throw', 'dropNewest', 'dropOldest'];

/** @throws QueueArgumentError for a bound that makes no sense; an unknown rule would drop what is added */
export function requireBound<T>({ maxPending, overflow = 'throw', onDrop }: QueueBound<T>): void {
  requireInteger('bound.maxPending', maxPending, 1);
  if (!overflowRules.includes(overflow))
    throw new QueueArgumentError('bound.overflow', overflow, `give one of ${overflowRules.join(', ')}`);
  if (onDrop !== undefined) requireFunction('bound.onDrop', onDrop);
}
