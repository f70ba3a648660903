import { messageOf } from '@kctl/telemetry/internal';
import { shownValue } from '@kctl/options';
import { Cron } from 'croner';

/** When a schedule is due, in full minutes, in ms since the epoch. All times are UTC. */
export interface CronSchedule {
  /** The first due time after a time; undefined if none. */
  next(time: number): number | undefined;
  /** The last due time before a time; undefined if none. */
  previous(time: number): number | undefined;
}

const minuteMs = 60_000;

/**
 * Parses the five fields of crontab (lists, ranges, steps, names of months and days, `@hourly` and its like, and `L`,
 * `W`, `#` of croner). If both day fields are restricted, either may match, as in a CronJob of Kubernetes. A step of
 * all days, as in `*` followed by `/2`, is a restriction.
 *
 * @throws TypeError naming what is not valid
 */
export function parseCron(expression: string): CronSchedule {
  const cron = parse(expression);
  const at = (date: Date | null | undefined): number | undefined => date?.getTime();
  return {
    next: (time) => at(cron.nextRun(new Date(time))),
    // croner looks back from the second before; occurrences are at the beginning of a minute.
    previous: (time) => at(cron.previousRuns(1, new Date((Math.ceil(time / minuteMs) - 1) * minuteMs + 1000))[0]),
  };
}

function parse(expression: string): Cron {
  const fail = (why: string, cause?: unknown): never => {
    throw new TypeError(
      `cron ${shownValue(expression)} is not valid: ${why}: expected 5 fields (minute hour day-of-month month day-of-week), or @hourly, @daily, @weekly, @monthly, @yearly`,
      { cause },
    );
  };
  // croner would take a date for a schedule of one occurrence.
  if (typeof expression !== 'string' || expression.includes(':')) return fail('it is not a schedule');
  try {
    return new Cron(expression.trim(), { utcOffset: 0, mode: '5-part', sloppyRanges: true, paused: true });
  } catch (error) {
    return fail(messageOf(error).replace(/^CronPattern: /, ''), error);
  }
}
