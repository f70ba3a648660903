import { describeError, isError } from './describe-error.js';
import { LogSampler } from './log-sampler.js';
import type { LogSampling } from './log-sampler.js';
import { loggable } from './loggable.js';
import type { Loggable } from './loggable.js';
import { messageOf } from './message-of.js';
import type { LogFields, Logger, LogLevel } from './logger.js';
import { readCall, readFields } from './read-fields.js';
import { requireOptions, type OptionNames } from '@kctl/options';

const severity: Readonly<Record<LogLevel, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 };
const formats = ['json', 'text'] as const;
const timeFormats = ['rfc3339', 'seconds', 'ms'] as const;

/** Options of {@link createConsoleLogger}. */
export interface ConsoleLoggerOptions {
  /** The least severe level that is written; `logger.level` changes it later. @default 'info' */
  readonly level?: LogLevel;
  /** `json`: one object a line; `text`: for people, with the stacks of errors on lines below. @default 'json' */
  readonly format?: 'json' | 'text';
  /** The least severe level at which errors are written with their stacks. @default 'error' */
  readonly stackLevel?: LogLevel;
  /**
   * Format of `ts`, which is RFC 3339, seconds since 1970 with a fraction (zap's default), or ms since 1970.
   *
   * @default 'rfc3339'
   */
  readonly timeFormat?: 'rfc3339' | 'seconds' | 'ms';
  /**
   * Leaves out entries that repeat the level and message of many others. Of those in one period the first ones are
   * written, then every n-th one, with the field `suppressed`. `{}` for the numbers of zap.
   *
   * @default every entry is written
   */
  readonly sampling?: LogSampling;
  /** Receives each finished entry, without its line end. @default standard error */
  readonly write?: (line: string) => void;
  /** Wall-clock time in ms, for the `ts` field. @default the system clock */
  readonly now?: () => number;
  /** Fields of every line. */
  readonly fields?: LogFields;
}

const optionNames: OptionNames<ConsoleLoggerOptions> = {
  level: true,
  format: true,
  stackLevel: true,
  timeFormat: true,
  sampling: true,
  write: true,
  now: true,
  fields: true,
};

/** Result of {@link createConsoleLogger}. */
export interface ConsoleLogger extends Logger {
  /**
   * The least severe level that is written. Setting it takes effect at once, for this logger and for all that have the
   * same origin (its children and its ancestors).
   *
   * @throws TypeError (when set) for an unknown level
   */
  level: LogLevel;
  child(fields: LogFields): ConsoleLogger;
}

/**
 * Creates a logger that writes one entry for each call.
 *
 * Field values are written as {@link loggable} describes, with the messages and stacks of the whole cause chain of
 * errors, and kind, namespace, name and resourceVersion of Kubernetes objects. The keys `ts`, `level` and `msg` belong
 * to the entry; fields of these names are written as `fields.ts`, `fields.level` and `fields.msg`. A call does not
 * throw, whatever its fields are; an entry that `write` throws on is lost. A field that cannot be read is written as a
 * note that states this; an error given in the place of the message or of the fields is written as the field `error`.
 *
 * @throws TypeError naming an option with an unknown value
 *
 * @example
 * ```ts
 * import { createConsoleLogger } from '@kctl/telemetry';
 *
 * const logger = createConsoleLogger({ format: 'text', level: 'info' }).child({ component: 'sweeper' });
 * logger.info('Starting', { namespaces: 3 });
 * ```
 */
export function createConsoleLogger(options: ConsoleLoggerOptions = {}): ConsoleLogger {
  requireOptions('createConsoleLogger', options, optionNames);
  const { level = 'info', format = 'json', stackLevel = 'error', now = () => new Date().getTime() } = options;
  const {
    write = (line: string) => void process.stderr.write(`${line}\n`),
    timeFormat = 'rfc3339',
    sampling,
  } = options;
  requireOneOf('level', level, Object.keys(severity));
  requireOneOf('stackLevel', stackLevel, Object.keys(severity));
  requireOneOf('format', format, formats);
  requireOneOf('timeFormat', timeFormat, timeFormats);
  requireFunction('write', write);
  requireFunction('now', now);
  const sampler = sampling === undefined ? undefined : new LogSampler(sampling);
  return loggerWith(readFields(options.fields), {
    level,
    format,
    stackLevel,
    now,
    timestamp: (ms) => timestamp(ms, timeFormat),
    send: write,
    sampler,
  });
}

/** State that a logger and its children share. */
interface Sink {
  level: LogLevel;
  readonly format: 'json' | 'text';
  readonly stackLevel: LogLevel;
  readonly now: () => number;
  readonly timestamp: (ms: () => number) => string | number;
  /** An async function is allowed in place of one without a result. */
  readonly send: (line: string) => unknown;
  readonly sampler: LogSampler | undefined;
}

function loggerWith(fields: LogFields, sink: Sink): ConsoleLogger {
  const isEnabled = (wanted: LogLevel): boolean => severity[wanted] >= severity[sink.level];
  const log = (lineLevel: LogLevel, message: unknown, extra: unknown): void => {
    if (!isEnabled(lineLevel)) return;
    try {
      const call = readCall(message, extra);
      const msg = call.text;
      const suppressed =
        sink.sampler?.admit(lineLevel, msg, sink.now()) ?? (sink.sampler === undefined ? 0 : undefined);
      if (suppressed === undefined) return;
      const entry: Entry = {
        ts: sink.timestamp(sink.now),
        level: lineLevel,
        msg,
        fields: {
          ...fields,
          ...call.fields,
          ...(suppressed > 0 ? { suppressed } : {}),
        },
        stacks: severity[lineLevel] >= severity[sink.stackLevel],
      };
      const written = sink.send(sink.format === 'json' ? formatJson(entry) : formatText(entry));
      if (written instanceof Promise) void written.catch(() => undefined);
    } catch {
      // A logger must not fail the work that it reports on.
    }
  };
  return {
    get level() {
      return sink.level;
    },
    set level(value) {
      requireOneOf('level', value, Object.keys(severity));
      sink.level = value;
    },
    isEnabled,
    trace: (message, extra) => log('trace', message, extra),
    debug: (message, extra) => log('debug', message, extra),
    info: (message, extra) => log('info', message, extra),
    warn: (message, extra) => log('warn', message, extra),
    error: (message, extra) => log('error', message, extra),
    child: (extra) => loggerWith({ ...fields, ...readFields(extra) }, sink),
  };
}

interface Entry {
  readonly ts: string | number;
  readonly level: LogLevel;
  readonly msg: string;
  readonly fields: LogFields;
  readonly stacks: boolean;
}

const reserved = new Set(['ts', 'level', 'msg']);

function formatJson({ ts, level, msg, fields, stacks }: Entry): string {
  const converted = Object.entries(fields).map(([key, value]) => [nameOf(key), loggable(value, { stacks })]);
  return JSON.stringify({ ts, level, msg, ...Object.fromEntries(converted) });
}

function formatText({ ts, level, msg, fields, stacks }: Entry): string {
  const pairs = Object.entries(fields).map(([key, value]) => ` ${quoted(nameOf(key))}=${formatValue(value)}`);
  const shown = isControlFree(msg) ? msg : printable(msg);
  const line = `${ts} ${level.toUpperCase().padEnd(5)} ${shown}${pairs.join('')}`;
  return stacks ? [line, ...stackLines(fields)].join('\n') : line;
}

function nameOf(key: string): string {
  return reserved.has(key) ? `fields.${key}` : key;
}

function formatValue(given: unknown): string {
  if (isError(given)) return printable(describeError(given, { stack: false }).message);
  const value = loggable(given, { stacks: false });
  return typeof value === 'string' ? quoted(value) : printable(value);
}

/** The stacks of the errors among the fields, indented, with control characters escaped. */
function stackLines(fields: LogFields): string[] {
  return Object.values(fields).flatMap((value) => {
    if (!isError(value)) return [];
    const lines = describeError(value).stack?.split('\n') ?? [];
    return lines.map((line) => `    ${isControlFree(line) ? line : printable(line)}`);
  });
}

function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : printable(text);
}

/** JSON of a value, with every control character and line separator escaped: C1 and U+2028 are valid in JSON. */
function printable(value: Loggable): string {
  return (JSON.stringify(value) ?? 'undefined').replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether a string cannot end its line or control a terminal. */
function isControlFree(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text);
}

/** A number that is not a time is written as it is. */
function timestamp(now: () => number, format: (typeof timeFormats)[number]): string | number {
  try {
    const ms = now();
    if (!Number.isFinite(ms)) return String(ms);
    if (format === 'ms') return ms;
    return format === 'seconds' ? ms / 1000 : new Date(ms).toISOString();
  } catch (error) {
    return `[no time: ${messageOf(error)}]`;
  }
}

function requireOneOf(option: string, value: string, known: readonly string[]): void {
  if (!known.includes(value))
    throw new TypeError(`createConsoleLogger: ${option} is ${JSON.stringify(value)}: use one of ${known.join(', ')}`);
}

function requireFunction(option: string, value: unknown): void {
  if (typeof value !== 'function')
    throw new TypeError(`createConsoleLogger: ${option} is of type ${typeof value}: give a function`);
}
