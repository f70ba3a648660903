import { createConsoleLogger } from '@kctl/telemetry';
import { guardLogger } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';

/**
 * Destination of failures of a caller's own code (handlers, stores and process functions that throw). Without a logger
 * they are written to standard error (sampled if there are many of one kind), as client-go does, because an event is
 * lost with each. `noopLogger` silences them.
 */
export function failureLogger(logger: Logger | undefined): Logger {
  return guardLogger(logger ?? createConsoleLogger({ sampling: {} }));
}
