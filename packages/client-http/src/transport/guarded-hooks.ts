import { isThenable } from '@kctl/options';

/** Calls a hook of the caller's. What it throws, or rejects with, is reported and concerns nothing else. */
export function callHook(hook: () => unknown, report: (error: unknown) => void): void {
  try {
    const result = hook();
    if (isThenable(result)) void Promise.resolve(result).catch(report);
  } catch (error) {
    report(error);
  }
}
