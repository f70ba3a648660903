import type { LogFields, Logger, LogLevel } from './logger.js';

const severity: Readonly<Record<LogLevel, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 };

/** Options of {@link createConsoleLogger}. */
export interface ConsoleLoggerOptions {
  /** The least severe level that is written. @default 'info' */
  readonly level?: LogLevel;
  /** `json`: one object a line; `text`: for people. @default 'json' */
  readonly format?: 'json' | 'text';
  /** Receives each finished line, without its line end. @default standard error */
  readonly write?: (line: string) => void;
  /** Wall-clock time in ms, for the `ts` field. @default the system clock */
  readonly now?: () => number;
  /** Fields of every line. */
  readonly fields?: LogFields;
}

/** A logger that writes a line for each call. Errors are written with their causes and, in JSON, their stack. */
export function createConsoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = 'info', format = 'json', fields = {} } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const now = options.now ?? (() => new Date().getTime());
  const isEnabled = (wanted: LogLevel): boolean => severity[wanted] >= severity[level];
  const log = (lineLevel: LogLevel, message: string, extra: LogFields = {}): void => {
    if (!isEnabled(lineLevel)) return;
    const ts = new Date(now()).toISOString();
    write(
      format === 'json'
        ? formatJson({ ts, level: lineLevel, msg: message, ...fields, ...extra })
        : formatText({ ts, level: lineLevel, message }, { ...fields, ...extra }),
    );
  };
  return {
    isEnabled,
    trace: (message, extra) => log('trace', message, extra),
    debug: (message, extra) => log('debug', message, extra),
    info: (message, extra) => log('info', message, extra),
    warn: (message, extra) => log('warn', message, extra),
    error: (message, extra) => log('error', message, extra),
    child: (extra) => createConsoleLogger({ ...options, fields: { ...fields, ...extra } }),
  };
}

function formatJson(line: LogFields): string {
  const seen = new Set<unknown>();
  return JSON.stringify(line, (_key, value: unknown) => {
    if (value instanceof Error) return describeError(value);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value === 'object' && value !== null) {
      if (seen.has(value)) return '[seen above]';
      seen.add(value);
    }
    return value;
  });
}

function formatText(line: { ts: string; level: LogLevel; message: string }, fields: LogFields): string {
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${line.ts} ${line.level.toUpperCase().padEnd(5)} ${line.message}${pairs.join('')}`;
}

function formatValue(value: unknown): string {
  if (value instanceof Error)
    return JSON.stringify(
      causeChain(value)
        .map((error) => error.message)
        .join(': '),
    );
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return formatJson({ value }).slice('{"value":'.length, -1);
}

function describeError(error: Error): Record<string, unknown> {
  return {
    name: error.name,
    message: causeChain(error)
      .map((link) => link.message)
      .join(': '),
    stack: error.stack,
  };
}

function causeChain(error: Error): Error[] {
  const chain: Error[] = [];
  for (let link: unknown = error; link instanceof Error && !chain.includes(link); link = link.cause) chain.push(link);
  return chain;
}
