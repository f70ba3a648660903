import { parseCron } from '@kctl/controller/internal';
import { booleanOption, numberProblem, requireOptions, shownValue, textOption } from '@kctl/options';
import { parseDuration } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { ScheduleOptions, ScheduleOverlap } from './schedule.js';

/** The times of a schedule, in ms since the epoch. */
export interface Occurrences {
  /** The first one after a time; undefined if none. */
  after(time: number): number | undefined;
  /** The last one that is later than `from` and not later than `to`; undefined if none. */
  lastBetween(from: number, to: number): number | undefined;
}

/** {@link ScheduleOptions} with every choice made. */
export interface ResolvedSchedule {
  readonly name: string;
  /**
   * Whether it is an interval. An interval is kept although the wall clock was set back, a time of a cron schedule
   * happens once.
   */
  readonly isInterval: boolean;
  /** The occurrences, counted from the last one, or from the start. */
  readonly occurrences: (origin: number) => Occurrences;
  readonly run: ScheduleOptions['run'];
  readonly overlap: ScheduleOverlap;
  readonly jitterMs: number;
  readonly timeoutMs: number;
  readonly startingDeadlineMs: number;
  readonly runAtStart: boolean;
}

const optionNames: OptionNames<ScheduleOptions> = {
  name: true,
  every: true,
  cron: true,
  run: true,
  overlap: true,
  jitter: true,
  timeout: true,
  startingDeadline: true,
  runAtStart: booleanOption,
  leaderElectionScope: textOption,
};
const overlaps: readonly unknown[] = ['forbid', 'allow', 'replace'];
/** Shorter intervals are a loop, not a schedule. */
const leastEveryMs = 100;

/** @throws TypeError naming the option that is not valid */
export function resolveSchedule(options: ScheduleOptions): ResolvedSchedule {
  requireOptions('schedule', options, optionNames);
  const { name, every, cron, run, overlap = 'forbid', runAtStart = false } = options;
  const where = `schedule ${JSON.stringify(name)}`;
  const fail = (problem: string): never => {
    throw new TypeError(`${where}: ${problem}`);
  };
  if (typeof name !== 'string' || !/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    fail('name is not valid: expected at most 63 lower-case letters, digits and "-"');
  if (typeof run !== 'function') fail(`run ${shownValue(run)} is not valid: expected a function`);
  if (!overlaps.includes(overlap))
    fail(`overlap ${shownValue(overlap)} is not valid: expected "forbid", "allow" or "replace"`);
  if ((every === undefined) === (cron === undefined)) fail('give every or cron, one of them');
  const duration = (field: 'jitter' | 'timeout' | 'startingDeadline', unset: number): number => {
    const given = options[field];
    if (given === undefined) return unset;
    const ms = parseDuration(given, `${where}: ${field}`);
    const problem = numberProblem(field, ms, field === 'timeout' ? { above: 0 } : {});
    return problem === undefined ? ms : fail(problem);
  };
  return {
    name,
    isInterval: cron === undefined,
    occurrences: cron === undefined ? everyOccurrences(every, where) : cronOccurrences(cron),
    run,
    overlap,
    jitterMs: duration('jitter', 0),
    timeoutMs: duration('timeout', Infinity),
    startingDeadlineMs: duration('startingDeadline', Infinity),
    runAtStart,
  };
}

function everyOccurrences(every: ScheduleOptions['every'], where: string): ResolvedSchedule['occurrences'] {
  const ms = parseDuration(every ?? 0, `${where}: every`);
  const problem = numberProblem('every', ms, { least: leastEveryMs });
  if (problem !== undefined) throw new TypeError(`${where}: ${problem}`);
  return (origin) => {
    const after = (time: number): number => origin + (Math.floor((time - origin) / ms) + 1) * ms;
    return {
      after,
      lastBetween: (from, to) => {
        const last = origin + Math.floor((to - origin) / ms) * ms;
        return last > from ? last : undefined;
      },
    };
  };
}

function cronOccurrences(expression: string): ResolvedSchedule['occurrences'] {
  const schedule = parseCron(expression);
  return () => ({
    after: (time) => schedule.next(time),
    lastBetween: (from, to) => {
      const last = schedule.previous(to + 1);
      return last !== undefined && last > from ? last : undefined;
    },
  });
}
