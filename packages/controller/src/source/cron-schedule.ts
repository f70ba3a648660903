/** When a schedule is due. All times are UTC. */
export interface CronSchedule {
  /** The first full minute after `time` (ms since the epoch) that the schedule names; undefined if none within 8 years. */
  next(time: number): number | undefined;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  { name: 'day of week', min: 0, max: 7, names: days },
];
const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const minuteMs = 60_000;
/** Reaches the next 29th of February from anywhere, also across 2100. */
const horizonDays = 8 * 366;

/**
 * Parses the five fields of crontab (lists, ranges, steps, names of months and days, `@hourly` and its like). Where both
 * day fields are restricted, either may match, as in cron.
 *
 * @throws TypeError naming the field that is not valid
 */
export function parseCron(expression: string): CronSchedule {
  const parts = (macros[expression.trim().toLowerCase()] ?? expression).trim().split(/\s+/);
  if (parts.length !== fields.length)
    throw new TypeError(
      `cron ${JSON.stringify(expression)} is not valid: expected 5 fields (minute hour day-of-month month day-of-week), got ${parts.length}`,
    );
  const [minutes, hours, dates, monthSet, weekdays] = fields.map((field, index) =>
    parseField(field, parts[index] ?? '', expression),
  );
  if (!minutes || !hours || !dates || !monthSet || !weekdays) throw new TypeError('cron: unreachable');
  if (weekdays.has(7)) weekdays.add(0);
  const anyDate = parts[2]?.startsWith('*') === true;
  const anyWeekday = parts[4]?.startsWith('*') === true;
  const isDay = (date: Date): boolean => {
    const byDate = dates.has(date.getUTCDate());
    const byWeekday = weekdays.has(date.getUTCDay());
    return monthSet.has(date.getUTCMonth() + 1) && (anyDate || anyWeekday ? byDate && byWeekday : byDate || byWeekday);
  };
  const times = [...hours]
    .toSorted(ascending)
    .flatMap((hour) => [...minutes].toSorted(ascending).map((minute) => hour * 60 + minute));
  return { next: (time) => findNext(time, isDay, times) };
}

function findNext(time: number, isDay: (date: Date) => boolean, minutesOfDay: readonly number[]): number | undefined {
  const from = Math.floor(time / minuteMs) * minuteMs + minuteMs;
  const start = new Date(from);
  const midnight = Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  for (let day = 0; day < horizonDays; day++) {
    const dayStart = midnight + day * 86_400_000;
    if (!isDay(new Date(dayStart))) continue;
    const minute = minutesOfDay.find((candidate) => dayStart + candidate * minuteMs >= from);
    if (minute !== undefined) return dayStart + minute * minuteMs;
  }
  return undefined;
}

function parseField(field: Field, text: string, expression: string): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part);
    const step = match?.[4] === undefined ? 1 : Number(match[4]);
    const first = match?.[1] === '*' ? field.min : parseValue(field, match?.[2]);
    const last =
      match?.[1] === '*'
        ? lastOf(field)
        : match?.[3] !== undefined
          ? parseValue(field, match[3])
          : match?.[4] === undefined
            ? first
            : lastOf(field);
    if (first === undefined || last === undefined || first > last || step < 1)
      throw new TypeError(
        `cron ${JSON.stringify(expression)} is not valid: ${field.name} ${JSON.stringify(part)}: expected values from ${field.min} to ${field.max}, ranges, steps or *`,
      );
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return values;
}

/** Sunday is 0 and 7; `*` means it once. */
function lastOf(field: Field): number {
  return field.names === days ? 6 : field.max;
}

function parseValue(field: Field, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const index = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (index >= 0) return index + field.min;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.min && value <= field.max ? value : undefined;
}

function ascending(a: number, b: number): number {
  return a - b;
}
