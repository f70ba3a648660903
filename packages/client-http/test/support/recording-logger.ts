import type { LogFields, Logger, LogLevel } from '@kctl/telemetry';

/** Keeps its lines, at every level. */
export class RecordingLogger implements Logger {
  readonly lines: { readonly level: LogLevel; readonly message: string; readonly fields: LogFields | undefined }[] = [];
  isEnabled(): boolean {
    return true;
  }
  trace(message: string, fields?: LogFields): void {
    this.lines.push({ level: 'trace', message, fields });
  }
  debug(message: string, fields?: LogFields): void {
    this.lines.push({ level: 'debug', message, fields });
  }
  info(message: string, fields?: LogFields): void {
    this.lines.push({ level: 'info', message, fields });
  }
  warn(message: string, fields?: LogFields): void {
    this.lines.push({ level: 'warn', message, fields });
  }
  error(message: string, fields?: LogFields): void {
    this.lines.push({ level: 'error', message, fields });
  }
  child(): Logger {
    return this;
  }
}
