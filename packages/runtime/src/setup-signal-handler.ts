import { stopOnSignals } from '@kctl/manager';

/**
 * A signal that the first SIGINT or SIGTERM aborts; the second one exits the process with code 1. The handlers stay for
 * the life of the process. Mirrors `ctrl.SetupSignalHandler`.
 *
 * @example
 * ```ts
 * import { createManager, setupSignalHandler } from '@kctl/runtime';
 *
 * const manager = await createManager();
 * await manager.run(setupSignalHandler());
 * ```
 */
export function setupSignalHandler(): AbortSignal {
  return stopOnSignals().signal;
}
