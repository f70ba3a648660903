import { requireName } from '@kctl/client/internal';
import type { OptionNames } from '@kctl/options';
import { requireOptions } from '@kctl/options';
import { sleep } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { defaultLookupTimeoutMs, listed, Lookup, lookupTimeoutOption } from './lookup.js';
import { requireFunction } from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';
import { parseCron } from './cron-schedule.js';

/** Options of {@link cronSource}. */
export interface CronSourceOptions<R> {
  readonly name: string;
  /** Five fields as in crontab, or `@hourly`, `@daily`, …; in UTC. */
  readonly schedule: string;
  /**
   * The requests of one occurrence. A rejection, and what is not a list, is logged; the schedule goes on, also after
   * `timeoutMs`.
   */
  readonly requests: (options: {
    /** The time that the schedule names, in ms since the epoch. */
    readonly time: number;
    readonly signal: AbortSignal;
  }) => Iterable<R> | Promise<Iterable<R>>;
  /** How long `requests` may take, in ms. `Infinity`: without a limit. @default 60000 */
  readonly timeoutMs?: number;
}

const optionNames: OptionNames<CronSourceOptions<never>> = {
  name: true,
  schedule: true,
  requests: true,
  timeoutMs: lookupTimeoutOption,
};

/** The wall clock is checked at least this often, because it may be set while waiting. */
const longestSleepMs = 60_000;

/**
 * Queues requests at times of the wall clock. An occurrence that was slept through (a suspended machine, a clock that
 * was set forward) happens once, late; none happens twice when the clock is set back within a minute or more.
 *
 * @throws TypeError when the schedule is not valid
 */
export function cronSource<R>(options: CronSourceOptions<R>): Source<R> {
  requireOptions('cronSource', options, optionNames);
  requireName('cronSource', 'name', options.name);
  requireFunction(`cronSource ${options.name}`, 'requests', options.requests);
  const { timeoutMs = defaultLookupTimeoutMs } = options;
  const schedule = parseCron(options.schedule);
  const name = `cron source: ${options.name}`;
  const run = async (context: SourceContext<R>): Promise<void> => {
    const { clock, signal, logger } = context;
    const lookup = new Lookup();
    let last = wallTime(clock);
    for (;;) {
      const due = schedule.next(last);
      if (due === undefined) {
        logger.warn('the schedule has no further occurrences', { schedule: options.schedule });
        return;
      }
      while (wallTime(clock) < due) await sleep(Math.min(due - wallTime(clock), longestSleepMs), { clock, signal });
      // Of several occurrences that were slept through only this one happens; the next is looked for from now on.
      last = Math.max(due, wallTime(clock));
      try {
        const work = (one: AbortSignal): Iterable<R> | Promise<Iterable<R>> =>
          options.requests({ time: due, signal: one });
        const requests = await lookup.run(work, { what: 'requests', timeoutMs, signal, clock });
        for (const request of listed('requests', requests)) context.queue.add(request, { reason: name });
      } catch (error) {
        if (signal.aborted) return;
        logger.error('the requests of a schedule failed, the next occurrence will try again', { error });
      }
    }
  };
  return {
    name,
    start: (context): Promise<StartedSource> => {
      const ended = run(context).catch((error: unknown) => {
        if (!context.signal.aborted) context.fail(error);
      });
      return Promise.resolve({ stop: () => ended });
    },
  };
}
