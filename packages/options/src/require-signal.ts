import { isSignal } from './option-check.js';

/**
 * Refuses to begin without a signal: a run that nothing can end. For everything with `run(signal)`.
 *
 * @param what names the method, at the beginning of the message, e.g. `manager.run`
 * @throws TypeError when it is not an AbortSignal; one of another realm is
 */
export function requireSignal(what: string, signal: unknown): void {
  if (isSignal(signal)) return;
  throw new TypeError(`${what} needs an AbortSignal, which ends it: run(new AbortController().signal)`);
}
