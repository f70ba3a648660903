const units: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const maxNanos = 2n ** 63n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const minTime = -62_135_596_800_000_000_000n;
const maxTime = 253_402_300_799_999_999_999n;

/** Reads a duration as Go does (`1h30m`, `-1.5s`), in nanoseconds. */
export function parseGoDuration(text: string): bigint | undefined {
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)\.?(\d*)(ns|us|µs|\u03bcs|ms|s|m|h)/g)) {
    const size = units.get(unit) ?? 0n;
    total += BigInt(whole === '' ? '0' : whole) * size;
    if (fraction !== '') total += (BigInt(fraction.slice(0, 18)) * size) / 10n ** BigInt(Math.min(fraction.length, 18));
    if (total > maxNanos + 1n) return undefined;
  }
  if (text.startsWith('-')) return -total;
  return total > maxNanos ? undefined : total;
}

/** The names of a unit; those of the last column may go on, as `hours` does. */
const wordyUnits: readonly (readonly [names: readonly string[], stem: string, nanos: bigint])[] = [
  [['ns'], 'nano', 1n],
  [['us', 'µs'], 'micro', 1_000n],
  [['ms'], 'milli', 1_000_000n],
  [['s'], 'sec', 1_000_000_000n],
  [['m'], 'min', 60_000_000_000n],
  [['h', 'hr'], 'hour', 3_600_000_000_000n],
  [['d'], 'day', 86_400_000_000_000n],
  [['w', 'wk'], 'week', 604_800_000_000_000n],
];

/**
 * Reads a field of the format `duration` as the API server does, which is Go's syntax, or the sum of every number with
 * a unit in it.
 */
export function parseDurationField(text: string): bigint | undefined {
  const nanos = parseGoDuration(text);
  if (nanos !== undefined) return nanos;
  let total: bigint | undefined;
  for (const [, count = '', word = ''] of text.matchAll(/(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    if (BigInt(count) > maxNanos) return undefined;
    const unit = word.toLowerCase();
    const found = wordyUnits.find(([names, stem]) => names.includes(unit) || unit.startsWith(stem));
    if (found !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(count) * found[2]);
  }
  return total;
}

/** A duration as CEL prints it, in seconds such as `90.5s`. */
export function formatSeconds(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const fraction = String(magnitude % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${sign}${magnitude / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}

export function isTimeInRange(nanos: bigint): boolean {
  return nanos >= minTime && nanos <= maxTime;
}

/** Reads a time of RFC 3339, in nanoseconds since 1970. */
export function parseRfc3339(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = ''] = match;
  const [sign = '', zoneHour = '0', zoneMinute = '0'] = match.slice(8);
  const parts = [month, day, hour, minute, second, zoneHour, zoneMinute].map(Number);
  const [m = 0, d = 0, h = 0, min = 0, s = 0, zh = 0, zm = 0] = parts;
  const daysOfMonth = new Date(Date.UTC(2000 + (Number(year) % 400), m, 0)).getUTCDate();
  if (m < 1 || m > 12 || d < 1 || d > daysOfMonth || h > 23 || min > 59 || s > 59 || zh > 23 || zm > 59)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), m - 1, d);
  date.setUTCHours(h, min, s);
  const offset = BigInt((zh * 60 + zm) * 60) * (sign === '-' ? -1n : 1n);
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return (BigInt(date.getTime() / 1000) - offset) * 1_000_000_000n + nanos;
}

/**
 * Reads a field of the format `date-time` as the API server does, with capitals only and an optional zone; an empty
 * string is 1970.
 */
export function parseDateTimeField(text: string): bigint | undefined {
  if (text === '') return 0n;
  if (/[tz]/.test(text)) return undefined;
  return parseRfc3339(text) ?? parseRfc3339(`${text}Z`);
}

/** A time as RFC 3339 in UTC, with as many decimals as it needs. */
export function formatRfc3339(nanos: bigint): string {
  const second = 1_000_000_000n;
  const rest = ((nanos % second) + second) % second;
  const base = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = String(rest).padStart(9, '0').replace(/0+$/, '');
  return `${base}${fraction === '' ? '' : `.${fraction}`}Z`;
}
