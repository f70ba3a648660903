import type { LogFields, Logger, LogLevel } from './logger.js';
import { noopLogger } from './noop.js';

/**
 * A logger that never throws and never rejects: where the given one fails, its line is lost and the work goes on. For
 * code that must not stop because a log sink does.
 */
export function guardLogger(logger: Logger): Logger {
  return logger === noopLogger || logger instanceof GuardedLogger ? logger : new GuardedLogger(logger);
}

class GuardedLogger implements Logger {
  readonly #sink: Logger;

  constructor(sink: Logger) {
    this.#sink = sink;
  }

  isEnabled(level: LogLevel): boolean {
    try {
      return this.#sink.isEnabled(level);
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
      return guardLogger(this.#sink.child(fields));
    } catch {
      return this;
    }
  }

  #write(level: LogLevel, message: string, fields: LogFields | undefined): void {
    try {
      const sink: Readonly<Record<LogLevel, (message: string, fields?: LogFields) => unknown>> = this.#sink;
      const written = sink[level](message, fields);
      // A sink that is asynchronous may reject.
      if (written !== undefined) void Promise.resolve(written).catch(() => undefined);
    } catch {
      // There is no place left to report that the log itself fails.
    }
  }
}
