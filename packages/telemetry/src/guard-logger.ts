import type { LogFields, Logger, LogLevel } from './logger.js';
import { noopLogger } from './noop.js';

/**
 * A logger that never throws and never rejects. If the given one fails, its line is lost and the work goes on. For code
 * that must not stop because a log sink does. Of a sink that lacks methods, such as `console` or a stub of a test, the
 * lines that it can write are written. Children of a sink without `child` add their fields themselves.
 */
export function guardLogger(logger: Logger): Logger {
  return logger === noopLogger || logger instanceof GuardedLogger ? logger : new GuardedLogger(logger);
}

class GuardedLogger implements Logger {
  readonly #sink: Partial<Logger>;
  /** Of a child that the sink did not make. */
  readonly #fields: LogFields | undefined;

  constructor(sink: Partial<Logger>, fields?: LogFields) {
    this.#sink = sink;
    this.#fields = fields;
  }

  isEnabled(level: LogLevel): boolean {
    try {
      return this.#sink.isEnabled?.(level) ?? true;
    } catch {
      return true;
    }
  }

  trace(message: string, fields?: LogFields): void {
    this.#write('trace', message, fields);
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  child(fields: LogFields): Logger {
    try {
      const child: unknown = this.#sink.child?.(fields);
      if (isLogger(child)) return guardLogger(child);
    } catch {
      // Its lines are worth more without the fields of the sink's child than not at all.
    }
    return new GuardedLogger(this.#sink, { ...this.#fields, ...fields });
  }

  #write(level: LogLevel, message: string, fields: LogFields | undefined): void {
    try {
      const sink: Readonly<Partial<Record<LogLevel, (message: string, fields?: LogFields) => unknown>>> = this.#sink;
      const written = sink[level]?.(message, this.#fields === undefined ? fields : { ...this.#fields, ...fields });
      // A sink that is asynchronous may reject.
      if (written !== undefined) void Promise.resolve(written).catch(() => undefined);
    } catch {
      // There is no place left to report that the log itself fails.
    }
  }
}

/** The mock of a test may return nothing. */
function isLogger(value: unknown): value is Logger {
  return typeof value === 'object' && value !== null;
}
