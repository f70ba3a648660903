import type { Logger } from '@kctl/telemetry';

/** Calls a callback of the owner; what it throws, or rejects with, is logged and ends nothing. */
export function callSafely(logger: Logger, name: string, callback: () => unknown): void {
  const report = (error: unknown): void => logger.error(`${name} failed`, { error });
  try {
    // Plain JavaScript may pass an async function if a synchronous one is required.
    Promise.resolve(callback()).catch(report);
  } catch (error) {
    report(error);
  }
}
