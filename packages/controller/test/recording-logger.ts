import type { LogFields, Logger, LogLevel } from '@kctl/telemetry';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps its lines. */
export function createRecordingLogger(lines: LogLine[] = [], base: LogFields = {}): Logger & { lines: LogLine[] } {
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields: { ...base, ...fields } });
  return {
    lines,
    isEnabled: () => true,
    trace: log('trace'),
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => createRecordingLogger(lines, { ...base, ...fields }),
  };
}
