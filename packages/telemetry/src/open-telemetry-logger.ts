import { describeError, isError } from './describe-error.js';
import { loggable } from './loggable.js';
import type { Loggable } from './loggable.js';
import type { LogFields, Logger, LogLevel } from './logger.js';
import { readCall, readFields } from './read-fields.js';
import { requireOptions, type OptionNames } from '@kctl/options';

/** A record as `@opentelemetry/api-logs` takes it. */
export interface OpenTelemetryRecord {
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Record<string, OpenTelemetryValue>;
}

/** A value of an attribute, as `AnyValue` of `@opentelemetry/api-logs`. */
export type OpenTelemetryValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | OpenTelemetryValue[]
  | { [key: string]: OpenTelemetryValue };

/** The part of a logger of `@opentelemetry/api-logs` that {@link createOpenTelemetryLogger} needs. */
export interface OpenTelemetryLike {
  emit(record: OpenTelemetryRecord): void;
}

/** Options of {@link createOpenTelemetryLogger}. */
export interface OpenTelemetryLoggerOptions {
  /** The least severe level that is emitted. @default 'info' */
  readonly level?: LogLevel;
  /** Attributes of every record. */
  readonly fields?: LogFields;
}

const optionNames: OptionNames<OpenTelemetryLoggerOptions> = { level: true, fields: true };

/** `SeverityNumber` of the OpenTelemetry data model. */
const severityNumber: Readonly<Record<LogLevel, number>> = { trace: 1, debug: 5, info: 9, warn: 13, error: 17 };

/**
 * The Logger contract over a logger of `@opentelemetry/api-logs`, e.g. `logs.getLogger('my-operator')`. Records carry
 * the context that is active at the call, so that lines of a reconcile belong to its span. An error in a field becomes
 * the attributes `exception.type`, `exception.message` and `exception.stacktrace` too; other values are written as
 * {@link loggable} describes. A call does not throw, whatever its fields are; a record that `emit` throws on is lost.
 */
export function createOpenTelemetryLogger(logger: OpenTelemetryLike, options: OpenTelemetryLoggerOptions = {}): Logger {
  requireOptions('createOpenTelemetryLogger', options, optionNames);
  const { level: least = 'info' } = options;
  const own = readFields(options.fields);
  const lowest = severityNumber[least];
  if (lowest === undefined)
    throw new TypeError(
      `createOpenTelemetryLogger: level is ${JSON.stringify(least)}: use one of ${Object.keys(severityNumber).join(', ')}`,
    );
  const isEnabled = (level: LogLevel): boolean => severityNumber[level] >= lowest;
  const log =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (!isEnabled(level)) return;
      try {
        const call = readCall(message, fields);
        const all = Object.entries({ ...own, ...call.fields });
        logger.emit({
          severityNumber: severityNumber[level],
          severityText: level.toUpperCase(),
          body: call.text,
          attributes: Object.fromEntries(all.flatMap(([key, value]) => attributesOf(key, value))),
        });
      } catch {
        // A logger must not fail the work that it reports on.
      }
    };
  return {
    isEnabled,
    trace: log('trace'),
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => createOpenTelemetryLogger(logger, { level: least, fields: { ...own, ...readFields(fields) } }),
  };
}

function attributesOf(key: string, value: unknown): [string, OpenTelemetryValue][] {
  if (!isError(value)) return [[key, toValue(loggable(value))]];
  const { name, message, stack } = describeError(value);
  const attributes: [string, OpenTelemetryValue][] = [
    [key, message],
    ['exception.type', name],
    ['exception.message', message],
  ];
  return stack === undefined ? attributes : [...attributes, ['exception.stacktrace', stack]];
}

/** The same value, of a type that can be changed. */
function toValue(value: Loggable): OpenTelemetryValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((entry) => toValue(entry));
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toValue(entry)]));
}

function isList(value: object): value is readonly Loggable[] {
  return Array.isArray(value);
}
