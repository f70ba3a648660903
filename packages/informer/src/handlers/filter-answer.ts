import { isThenable } from '@kctl/options';

/**
 * Reports whether a filter lets its event pass. The result counts as in an `if`, so that a filter that returns nothing
 * refuses, as a predicate of a controller does.
 *
 * @throws TypeError for a promise, which would count as true; its rejection is ignored
 */
export function filterAnswer(what: string, answer: unknown): boolean {
  if (!isThenable(answer)) return Boolean(answer);
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(`${what} returned a promise: filters are synchronous; await in the handler instead`);
}
