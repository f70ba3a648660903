import type { AccessNeed } from '@kctl/rbac';
import type { Logger } from '@kctl/telemetry';
import { shownValue } from '@kctl/options';
import { anySignal, createBackoff, orAborted, sleep } from '@kctl/wait';
import { DeadlineExceededError, throwIfAborted, startTimer, wallTime } from '@kctl/wait/internal';
import type { Clock, Random } from '@kctl/wait';
import type { Runnable } from '../runnable.js';
import type { ResolvedSchedule } from './occurrences.js';
import type { ScheduleMetrics } from './schedule-metrics.js';
import type { ScheduleStore } from './schedule.js';

/** The wall clock is checked at least this often, because it may be set while waiting. */
const longestSleepMs = 60_000;

/** Dependencies of a {@link Scheduler}. */
export interface SchedulerParts {
  readonly schedule: ResolvedSchedule;
  readonly store: ScheduleStore | undefined;
  readonly leaderElectionScope: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: ScheduleMetrics;
}

/** Runs the occurrences of one schedule while this process leads. */
export class Scheduler implements Runnable {
  readonly name: string;
  readonly needLeaderElection = true;
  readonly leaderElectionScope?: string;
  readonly #parts: SchedulerParts;
  readonly #running = new Map<AbortController, Promise<void>>();
  /** The last occurrence that was begun, or given up; kept over a lost lease. */
  #last: number | undefined;
  /** Resolved when it is resumed; undefined while it is not paused. */
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.name = `schedule ${parts.schedule.name}`;
    if (parts.leaderElectionScope !== undefined) this.leaderElectionScope = parts.leaderElectionScope;
  }

  get inFlight(): readonly string[] {
    return this.#running.size === 0 ? [] : [this.name];
  }

  accessNeeds(): readonly AccessNeed[] {
    return this.#parts.store?.accessNeeds?.() ?? [];
  }

  setPaused(isPaused: boolean): void {
    if (isPaused) this.#resumed ??= Promise.withResolvers();
    else {
      this.#resumed?.resolve();
      this.#resumed = undefined;
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await Promise.all(this.#running.values());
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { schedule, clock, random, metrics, logger } = this.#parts;
    let startedAt = wallTime(clock);
    const isSetBack = (from: number): boolean => schedule.isInterval && clock.now() < from;
    this.#last = await this.#load(signal);
    await orAborted(this.#resumed?.promise, signal);
    if (this.#last === undefined && schedule.runAtStart) await this.#begin(startedAt, signal);
    for (;;) {
      // An occurrence begun by another process, or by this one in an earlier term, is not begun again.
      let from = this.#last ?? startedAt;
      if (isSetBack(from)) {
        // The interval is counted from now, as with a store whose clock was ahead (see #load).
        from = wallTime(clock);
        if (this.#last === undefined) startedAt = from;
        else this.#last = from;
      }
      const occurrences = schedule.occurrences(from);
      const missed = occurrences.lastBetween(from, wallTime(clock));
      const due = missed ?? occurrences.after(from);
      if (due === undefined) {
        logger.warn('the schedule has no further occurrences', { schedule: schedule.name });
        return;
      }
      const at = due + schedule.jitterMs * random();
      while (clock.now() < at && !isSetBack(from))
        await sleep(Math.min(at - clock.now(), longestSleepMs), { clock, signal });
      if (isSetBack(from)) continue;
      if (this.#resumed !== undefined) {
        // Others may come due meanwhile; only the last of them runs.
        await orAborted(this.#resumed.promise, signal);
        continue;
      }
      if (clock.now() - at > schedule.startingDeadlineMs) {
        metrics.omitted('missed', 1);
        logger.info('missed an occurrence of the schedule: it is too late to begin it', {
          schedule: schedule.name,
          dueAt: new Date(due).toISOString(),
        });
        this.#last = due;
      } else await this.#begin(due, signal);
    }
  }

  /** Begins the run of an occurrence, by the overlap policy; does not wait for its end. */
  async #begin(dueAt: number, signal: AbortSignal): Promise<void> {
    const { schedule, metrics, logger } = this.#parts;
    const { name, overlap } = schedule;
    if (this.#running.size > 0 && overlap === 'forbid') {
      metrics.omitted('skipped', 1);
      logger.info('skipped an occurrence of the schedule: the run before it is under way', { schedule: name });
      this.#last = dueAt;
      return;
    }
    if (overlap === 'replace') {
      for (const controller of this.#running.keys())
        controller.abort(new DOMException('the run was replaced by the next occurrence', 'AbortError'));
      await Promise.all(this.#running.values());
      throwIfAborted(signal);
    }
    const lastDueAt = this.#last;
    await this.#save(dueAt, signal);
    throwIfAborted(signal);
    this.#last = dueAt;
    const controller = new AbortController();
    const run = this.#call({ dueAt, lastDueAt, controller, signal }).finally(() => this.#running.delete(controller));
    this.#running.set(controller, run);
  }

  async #call({ dueAt, lastDueAt, controller, signal }: Occurrence): Promise<void> {
    const { schedule, clock, logger: base, metrics } = this.#parts;
    const logger = base.child({ schedule: schedule.name });
    const link = anySignal([signal, controller.signal]);
    const begunAt = clock.monotonicNow();
    const timer = Number.isFinite(schedule.timeoutMs)
      ? startTimer(clock, () => controller.abort(new DeadlineExceededError(schedule.timeoutMs)), schedule.timeoutMs)
      : undefined;
    metrics.began(dueAt);
    const ended = (result: 'success' | 'error'): void => metrics.ended(result, clock.monotonicNow() - begunAt);
    try {
      await schedule.run({ signal: link.signal, logger, dueAt, lastDueAt });
      // A run that returns because its time was over has not done its work.
      if (controller.signal.reason instanceof DeadlineExceededError) throw controller.signal.reason;
      ended('success');
    } catch (error) {
      ended('error');
      if (!signal.aborted) logger.error('the run of a schedule failed, the next occurrence will try again', { error });
    } finally {
      timer?.cancel();
      link[Symbol.dispose]();
    }
  }

  /**
   * The value in the store, or an occurrence that this process has begun in an earlier term and could not save. Waits
   * until the store answers, because without the last run everything would begin anew.
   */
  async #load(signal: AbortSignal): Promise<number | undefined> {
    const { store, schedule, clock, random, logger } = this.#parts;
    if (store === undefined) return this.#last;
    const backoff = createBackoff({ initialMs: 1000, capMs: 60_000, jitter: 0.5, clock, random });
    for (;;) {
      try {
        // A store that ignores the signal must not keep the manager from its stop.
        const loaded = requireTime(await orAborted(store.load(schedule.name, { signal }), signal));
        const known = [loaded, this.#last].filter((time) => time !== undefined);
        // A clock that was ahead when it was saved does not silence the schedule until then.
        return known.length === 0 ? undefined : Math.min(Math.max(...known), clock.now());
      } catch (error) {
        throwIfAborted(signal);
        logger.error('cannot read the last run of a schedule, it waits until it can', {
          schedule: schedule.name,
          error,
        });
        await sleep(backoff.next(), { clock, signal });
      }
    }
  }

  async #save(dueAt: number, signal: AbortSignal): Promise<void> {
    const { store, schedule, logger } = this.#parts;
    try {
      await orAborted(store?.save(schedule.name, dueAt, { signal }), signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.error('cannot remember the run of a schedule: another process may repeat it', {
        schedule: schedule.name,
        error,
      });
    }
  }
}

/**
 * Validates the result of a store. @throws TypeError if it is not a time, because counted from it, every moment would
 * be due
 */
function requireTime(loaded: unknown): number | undefined {
  if (loaded === undefined || loaded === null) return undefined;
  if (typeof loaded === 'number' && Math.abs(loaded) <= 8.64e15) return loaded;
  throw new TypeError(`the store returned ${shownValue(loaded)}: expected a time in ms since 1970, or undefined`);
}

interface Occurrence {
  readonly dueAt: number;
  readonly lastDueAt: number | undefined;
  readonly controller: AbortController;
  readonly signal: AbortSignal;
}
