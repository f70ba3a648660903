import { createConsoleLogger, guardLogger } from '@kctl/telemetry';
import type { Logger } from '@kctl/telemetry';

/**
 * Where failures of a caller's own code go: handlers, stores and process functions that throw. Without a logger they are
 * written to standard error, as client-go does it, because an event is lost with each: of many of one kind, some.
 * `noopLogger` silences them.
 */
export function failureLogger(logger: Logger | undefined): Logger {
  return guardLogger(logger ?? createConsoleLogger({ sampling: {} }));
}
