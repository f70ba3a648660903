import type { FunctionEntry } from '../check/functions.js';
import { Duration, Failure, noSuchOverload, Timestamp } from '../values/value.js';

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  readonly weekday: number;
  readonly dayOfYear: number;
}

/** The offset of a zone at a time in seconds: `+01:00`, or a name of the time zone database. */
function offsetSeconds(zone: string, millis: number): number | undefined {
  const fixed = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed !== null) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
  if (zone === 'UTC' || zone === '') return 0;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(new Date(millis)).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name);
    if (match === null) return undefined;
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] = match;
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  } catch {
    return undefined;
  }
}

function partsOf(time: Timestamp, zone: string): Parts | Failure {
  const second = 1_000_000_000n;
  const rest = ((time.unixNanos % second) + second) % second;
  const utc = Number((time.unixNanos - rest) / 1_000_000n);
  const offset = offsetSeconds(zone, utc);
  if (offset === undefined) return new Failure(`unknown time zone ${zone}`);
  const date = new Date(utc + offset * 1000);
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: Number(rest / 1_000_000n),
    weekday: date.getUTCDay(),
    dayOfYear: Math.floor((date.getTime() - start.getTime()) / 86_400_000),
  };
}

function accessor(name: string, read: (parts: Parts) => number): FunctionEntry[] {
  const call: FunctionEntry['call'] = ([time, zone = 'UTC']) => {
    if (!(time instanceof Timestamp) || typeof zone !== 'string') return noSuchOverload;
    const parts = partsOf(time, zone);
    return parts instanceof Failure ? parts : BigInt(read(parts));
  };
  return [
    { name, id: `timestamp_${name}`, type: 'timestamp.(): int', call },
    { name, id: `timestamp_${name}_with_tz`, type: 'timestamp.(string): int', call },
  ];
}

function ofDuration(name: string, read: (nanos: bigint) => bigint): FunctionEntry {
  return {
    name,
    id: `duration_${name}`,
    type: 'duration.(): int',
    call: ([duration]) => (duration instanceof Duration ? read(duration.nanos) : noSuchOverload),
  };
}

/** `getFullYear()` and the like. */
export const timeLibrary: readonly FunctionEntry[] = [
  ...accessor('getFullYear', (parts) => parts.year),
  ...accessor('getMonth', (parts) => parts.month),
  ...accessor('getDayOfYear', (parts) => parts.dayOfYear),
  ...accessor('getDayOfMonth', (parts) => parts.day - 1),
  ...accessor('getDate', (parts) => parts.day),
  ...accessor('getDayOfWeek', (parts) => parts.weekday),
  ...accessor('getHours', (parts) => parts.hour),
  ...accessor('getMinutes', (parts) => parts.minute),
  ...accessor('getSeconds', (parts) => parts.second),
  ...accessor('getMilliseconds', (parts) => parts.millisecond),
  ofDuration('getHours', (nanos) => nanos / 3_600_000_000_000n),
  ofDuration('getMinutes', (nanos) => nanos / 60_000_000_000n),
  ofDuration('getSeconds', (nanos) => nanos / 1_000_000_000n),
  ofDuration('getMilliseconds', (nanos) => (nanos / 1_000_000n) % 1000n),
];
