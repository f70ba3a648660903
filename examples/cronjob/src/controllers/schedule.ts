import { Cron } from 'croner';

/** More missed runs than this are a clock that jumped, or an operator that was away for long. As upstream. */
const maxMissed = 100;

/** Runs of a schedule around a point in time, in ms since the epoch. */
export interface DueRuns {
  /** The last run that should have started and did not; undefined if none. */
  readonly missed: number | undefined;
  /** The first run after now; undefined for a schedule that has ended. */
  readonly next: number | undefined;
}

/** Too many runs were missed to say which one to start. */
export class TooManyMissedRunsError extends Error {
  override readonly name = 'TooManyMissedRunsError';
}

/**
 * Parses the five fields of cron, in UTC.
 *
 * @throws TypeError naming the field that is not valid
 */
export function parseSchedule(schedule: string): Cron {
  return new Cron(schedule, { mode: '5-part', timezone: 'UTC', paused: true });
}

/**
 * Looks for runs later than `since` and not later than `now`.
 *
 * @throws TooManyMissedRunsError when there are more than 100 of them
 */
export function dueRuns(schedule: Cron, { since, now }: { readonly since: number; readonly now: number }): DueRuns {
  const after = (time: number): number | undefined => schedule.nextRun(new Date(time))?.getTime();
  let missed: number | undefined;
  let next = after(Math.min(since, now));
  for (let count = 1; next !== undefined && next <= now; count++) {
    if (count > maxMissed)
      throw new TooManyMissedRunsError(
        `more than ${maxMissed} runs were missed since ${new Date(since).toISOString()}: set or decrease spec.startingDeadlineSeconds, or check the clock`,
      );
    missed = next;
    next = after(next);
  }
  return { missed, next };
}
