import type { LogFields, Logger, LogLevel } from '@kctl/telemetry';
import { toFailure, type FromWorker } from './protocol.js';

/** A logger whose lines are written by the main thread. */
export function portLogger(post: (message: FromWorker) => void, bound: LogFields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      post({ type: 'log', level, message, fields: plain({ ...bound, ...fields }) });
    };
  return {
    isEnabled: () => true,
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => portLogger(post, { ...bound, ...fields }),
  };
}

/** Values that can be transferred, which are strings, numbers, and errors by name and message. */
function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]): [string, unknown] => {
      if (typeof value === 'number' || typeof value === 'boolean') return [key, value];
      return [key, value instanceof Error ? toFailure(value) : String(value)];
    }),
  );
}
