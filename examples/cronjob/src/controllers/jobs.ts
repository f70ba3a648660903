import { isConditionTrue, type DeepReadonly } from '@kctl/apimachinery';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import type { ObjectReference } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/runtime';
import { CronJob, type CronJobObject } from '../api/cron-job.js';

/** A Job as it was read. */
export type JobObject = ReadObject<typeof Job>;

/** A Job to apply. */
type NamedJob = DeepReadonly<Job> & { readonly metadata: { readonly name: string } };

/** On each Job: the time of the schedule that it was created for. */
export const scheduledAtAnnotation: string = `${CronJob.group}/scheduled-at`;

/** The Jobs of a CronJob by what became of them, each list from the oldest to the newest. */
export interface JobsByState {
  readonly active: readonly JobObject[];
  readonly successful: readonly JobObject[];
  readonly failed: readonly JobObject[];
}

/** Sorts Jobs by their state. */
export function byState(jobs: readonly JobObject[]): JobsByState {
  const sorted = jobs.toSorted((a, b) => startOf(a) - startOf(b));
  const failed = sorted.filter(({ status }) => isConditionTrue(status?.conditions, 'Failed'));
  const successful = sorted.filter(({ status }) => isConditionTrue(status?.conditions, 'Complete'));
  const active = sorted.filter((job) => !failed.includes(job) && !successful.includes(job));
  return { active, successful, failed };
}

function startOf({ status, metadata }: JobObject): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0;
}

/** The time of the schedule that a Job was created for, in ms since the epoch; undefined if it does not say. */
export function scheduledTimeOf({ metadata }: JobObject): number | undefined {
  const time = Date.parse(metadata.annotations?.[scheduledAtAnnotation] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The Job of a run. Its name follows from the time of the schedule: applying the same run again changes nothing, instead of
 * running it twice.
 */
export function jobFor({ metadata: { name }, spec: { jobTemplate } }: CronJobObject, scheduledAt: number): NamedJob {
  const { metadata = {}, spec } = jobTemplate;
  return {
    metadata: {
      name: `${name}-${Math.floor(scheduledAt / 1000)}`,
      labels: { ...metadata.labels },
      annotations: { ...metadata.annotations, [scheduledAtAnnotation]: new Date(scheduledAt).toISOString() },
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** A reference for `status.active`. */
export function referenceTo({ metadata: { name, namespace, uid } }: JobObject): ObjectReference {
  return { apiVersion: Job.apiVersion, kind: Job.kind, name, namespace, uid };
}
