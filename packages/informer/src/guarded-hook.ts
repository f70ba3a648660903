import { isThenable } from '@kctl/options';
import type { Logger } from '@kctl/telemetry';

/** A hook that receives errors. Its own errors and rejections are logged. */
export function guardedHook<A extends readonly unknown[]>(
  hook: (...args: A) => unknown,
  name: string,
  logger: Logger,
): (...args: A) => void {
  const onFailure = (failure: unknown): void => logger.error(`${name} failed`, { error: failure });
  return (...args) => {
    try {
      const result = hook(...args);
      if (isThenable(result)) Promise.resolve(result).catch(onFailure);
    } catch (failure) {
      onFailure(failure);
    }
  };
}
