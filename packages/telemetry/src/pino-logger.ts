import { loggable } from './loggable.js';
import type { LogFields, Logger, LogLevel } from './logger.js';
import { readCall, readFields } from './read-fields.js';

/** The part of a pino logger that {@link createPinoLogger} needs. */
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
 * The Logger contract over a logger of pino, which provides levels, redaction and transports. Field values are written
 * as {@link loggable} describes, so that Kubernetes objects are a summary and errors lead to the line. The keys
 * `level`, `time` and `msg` belong to pino, so fields of these names are written as `fields.level`, `fields.time` and
 * `fields.msg`. A call does not throw, whatever its fields are; an entry that pino throws on is lost.
 */
export function createPinoLogger(pino: PinoLike): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      try {
        if (!pino.isLevelEnabled(level)) return;
        const call = readCall(message, fields);
        pino[level](converted(call.fields), call.text);
      } catch {
        // A logger must not fail the work that it reports on.
      }
    };
  return {
    isEnabled: (level) => pino.isLevelEnabled(level),
    trace: log('trace'),
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => createPinoLogger(pino.child(converted(readFields(fields)))),
  };
}

/** If a key is twice in one line of JSON, most readers take the last, so a field would hide the severity. */
const reserved = new Set(['level', 'time', 'msg']);

function converted(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [reserved.has(key) ? `fields.${key}` : key, loggable(value)]),
  );
}
