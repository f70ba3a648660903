/** Severity of a log line, least severe first. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Key/value pairs of a log line. Keys are those of controller-runtime (`controller`, `namespace`, `name`, `reconcileID`, …). */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logging, reduced to what @kctl needs. pino, winston or OpenTelemetry fit behind it in a few lines.
 * Implementations must not throw and must not keep `fields` after the call.
 *
 * @example
 * ```ts
 * import type { Logger } from '@kctl/telemetry';
 *
 * function sweep(logger: Logger): void {
 *   const forNamespace = logger.child({ namespace: 'shop' });
 *   forNamespace.info('Sweeping', { objects: 3 });
 * }
 * ```
 */
export interface Logger {
  /** Whether a line of this level would be written, as a guard for fields that are expensive to make. */
  isEnabled(level: LogLevel): boolean;
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** Pass the failure as `fields.error`. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}
