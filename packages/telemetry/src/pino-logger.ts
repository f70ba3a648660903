import { loggable } from './loggable.js';
import type { LogFields, Logger, LogLevel } from './logger.js';

/** What {@link createPinoLogger} needs of a logger of pino. */
export interface PinoLike {
  isLevelEnabled(level: string): boolean;
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(bindings: Record<string, unknown>): PinoLike;
}

/**
 * The Logger contract over a logger of pino: levels, redaction and transports are pino's. Field values are written as
 * {@link loggable} describes, so that Kubernetes objects are a summary and errors lead to the line.
 */
export function createPinoLogger(pino: PinoLike): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (pino.isLevelEnabled(level)) pino[level](converted(fields), message);
    };
  return {
    isEnabled: (level) => pino.isLevelEnabled(level),
    trace: log('trace'),
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => createPinoLogger(pino.child(converted(fields))),
  };
}

function converted(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, loggable(value)]));
}
