import { isThenable } from '@kctl/options';

/** Calls a hook of the caller. An error that it throws, or rejects with, is reported and has no other effect. */
export function callHook(hook: () => unknown, report: (error: unknown) => void): void {
  try {
    const result = hook();
    if (isThenable(result)) void Promise.resolve(result).catch(report);
  } catch (error) {
    report(error);
  }
}
