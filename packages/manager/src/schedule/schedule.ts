import type { AccessNeed } from '@kctl/rbac';
import type { Logger } from '@kctl/telemetry';
import type { Duration } from '@kctl/wait';

/**
 * Handling of an occurrence that comes while a run is in progress, by the names of a CronJob's `concurrencyPolicy`.
 * With `forbid`, it is skipped. With `allow`, both run. With `replace`, the signal of the run is aborted, and the new
 * run begins when it has ended.
 */
export type ScheduleOverlap = 'forbid' | 'allow' | 'replace';

/** Context of a run of a schedule. */
export interface ScheduleContext {
  /** Aborted when leadership is lost, at the stop, after `timeout`, and when the run is replaced. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The time of the occurrence, in ms since the epoch, without jitter. */
  readonly dueAt: number;
  /** The time of the previous occurrence, if remembered. */
  readonly lastDueAt: number | undefined;
}

/** Store of the last occurrence of each schedule, so that a new process continues from there. */
export interface ScheduleStore {
  /** The time of the last occurrence that was begun, in ms since the epoch; undefined for none. */
  load(name: string, options: { readonly signal: AbortSignal }): Promise<number | undefined>;
  save(name: string, dueAt: number, options: { readonly signal: AbortSignal }): Promise<void>;
  /** The rights that it needs, for `Manager.accessNeeds`. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/** Periodic work, see `Manager.schedule`. */
export interface ScheduleOptions {
  /** Unique in the manager; consists of lower-case letters, digits and "-". The last run is remembered under it. */
  readonly name: string;
  /**
   * The interval; counted from the last occurrence, also over restarts, and from now if the wall clock was set back
   * (within a minute after that). Either this or `cron`.
   */
  readonly every?: Duration;
  /** Five fields as in crontab, or `@hourly`, `@daily`, …; in UTC. No time happens twice when the wall clock is set back. */
  readonly cron?: string;
  /** The work. A rejection is logged and counted; the schedule goes on. */
  readonly run: (context: ScheduleContext) => unknown;
  /** @default 'forbid' */
  readonly overlap?: ScheduleOverlap;
  /** Each occurrence begins up to this much later, at random. @default 0 */
  readonly jitter?: Duration;
  /** How long a run may take until its signal is aborted and it counts as failed. @default no limit */
  readonly timeout?: Duration;
  /**
   * How late an occurrence that was missed, because no process led, may begin. Of several that were missed the last one
   * is made up for, once. Mirrors `startingDeadlineSeconds`.
   *
   * @default no limit
   */
  readonly startingDeadline?: Duration;
  /**
   * Whether the first run begins at once if no run is remembered. @default false, so it begins at the first occurrence
   */
  readonly runAtStart?: boolean;
  /** Name of an own lease, instead of the manager's. @default the manager's */
  readonly leaderElectionScope?: string;
}
