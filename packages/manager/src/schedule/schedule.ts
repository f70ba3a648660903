import type { AccessNeed } from '@kctl/rbac';
import type { Logger } from '@kctl/telemetry';
import type { Duration } from '@kctl/wait';

/**
 * What happens to an occurrence that comes while a run is under way, by the names of a CronJob's `concurrencyPolicy`.
 * `forbid`: it is skipped. `allow`: both run. `replace`: the signal of the run is aborted, and the new run begins when
 * it has ended.
 */
export type ScheduleOverlap = 'forbid' | 'allow' | 'replace';

/** What a run of a schedule is given. */
export interface ScheduleContext {
  /** Aborted when leadership is lost, at the stop, after `timeout`, and when the run is replaced. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The time of the occurrence, in ms since the epoch, without jitter. */
  readonly dueAt: number;
  /** The time of the occurrence before it, where that is remembered. */
  readonly lastDueAt: number | undefined;
}

/** Where the last occurrence of each schedule is remembered, so that a new process goes on from there. */
export interface ScheduleStore {
  /** The time of the last occurrence that was begun, in ms since the epoch; undefined for none. */
  load(name: string, options: { readonly signal: AbortSignal }): Promise<number | undefined>;
  save(name: string, dueAt: number, options: { readonly signal: AbortSignal }): Promise<void>;
  /** The rights that it needs, for `Manager.accessNeeds`. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/** Periodic work, see `Manager.schedule`. */
export interface ScheduleOptions {
  /** Unique in the manager: lower-case letters, digits and "-". The last run is remembered under it. */
  readonly name: string;
  /**
   * The interval; counted from the last occurrence, also over restarts, and from now where the wall clock was set back
   * (within a minute of that). Either this or `cron`.
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
  /** Whether the first run begins at once where none is remembered. @default false: at the first occurrence */
  readonly runAtStart?: boolean;
  /** Name of an own lease, instead of the manager's. @default the manager's */
  readonly leaderElectionScope?: string;
}
