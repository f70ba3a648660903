/** Calls a hook of the caller's. What it throws, or rejects with, is reported and concerns nothing else. */
export function callHook(hook: () => unknown, report: (error: unknown) => void): void {
  try {
    const result = hook();
    if (isThenable(result)) void Promise.resolve(result).catch(report);
  } catch (error) {
    report(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
