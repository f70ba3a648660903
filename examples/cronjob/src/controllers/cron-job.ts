import { controllerOf } from '@kctl/apimachinery';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { controllerManagedBy, ignoreNotFound, type Client, type RuntimeManager } from '@kctl/runtime';
import { CronJob, type CronJobObject } from '../api/cron-job.js';
import { byState, jobFor, referenceTo, scheduledTimeOf, type JobObject } from './jobs.js';
import { dueRuns, parseSchedule, TooManyMissedRunsError, type DueRuns } from './schedule.js';

/** Index of Jobs by the name of the CronJob that controls them. */
const ownerField = 'metadata.controller';

/**
 * Creates a Job for each run of a CronJob's schedule, deletes finished ones beyond its limits, and reports the active ones
 * and the time of the last run.
 */
export function addCronJobController(manager: RuntimeManager): void {
  const { cache, clock } = manager;
  const events = manager.recorder('cronjob-controller');
  cache.addIndex(Job, ownerField, (job) => {
    const owner = controllerOf(job);
    return owner?.kind === CronJob.kind && owner.apiVersion.startsWith(`${CronJob.group}/`) ? [owner.name] : [];
  });

  controllerManagedBy(manager)
    .for(CronJob)
    .owns(Job)
    .onlyNeeds(Job, ['create', 'patch', 'delete'])
    .reconcile(async (cronJob, { apply, client, logger, signal }) => {
      const { name, namespace } = cronJob.metadata;
      const { items } = await client.list(Job, { namespace, fieldSelector: { [ownerField]: name }, signal });
      const { active, successful, failed } = byState(items);
      const lastRun = latest([Date.parse(cronJob.status?.lastScheduleTime ?? ''), ...items.map(scheduledTimeOf)]);
      const status = statusOf(active, lastRun);

      const { successfulJobsHistoryLimit, failedJobsHistoryLimit, concurrencyPolicy } = cronJob.spec;
      const old = [...beyond(successful, successfulJobsHistoryLimit), ...beyond(failed, failedJobsHistoryLimit)];
      await deleteJobs(client, old, signal);

      if (cronJob.spec.suspend) return { status };

      const now = clock.now();
      const runs = runsOf(cronJob, { lastRun, now });
      if (runs instanceof Error) {
        // Trying again would meet the same: a change of the object leads to the next reconcile.
        events.warning(
          cronJob,
          runs instanceof TooManyMissedRunsError ? 'TooManyMissedRuns' : 'InvalidSchedule',
          runs.message,
        );
        return { status };
      }
      const { missed, next } = runs;
      const wait = next === undefined ? {} : { requeueAfterMs: next - now };
      if (missed === undefined) return { status, ...wait };

      if (concurrencyPolicy === 'Forbid' && active.length > 0) {
        logger.info('another run is active, and the concurrency policy forbids a second', { active: active.length });
        return { status, ...wait };
      }
      if (concurrencyPolicy === 'Replace') await deleteJobs(client, active, signal);

      const created = await apply(Job, jobFor(cronJob, missed));
      events.normal(cronJob, 'SuccessfulCreate', `created Job ${created.metadata.name}`);
      return { status: statusOf([...(concurrencyPolicy === 'Replace' ? [] : active), created], missed), ...wait };
    });
}

/** The runs since the last one, or since the object exists; of late ones those that the deadline still allows. */
function runsOf(
  { metadata, spec }: CronJobObject,
  { lastRun, now }: { readonly lastRun: number | undefined; readonly now: number },
): DueRuns | Error {
  const begin = lastRun ?? Date.parse(metadata.creationTimestamp ?? new Date(now).toISOString());
  const deadline = spec.startingDeadlineSeconds === undefined ? begin : now - spec.startingDeadlineSeconds * 1000;
  try {
    return dueRuns(parseSchedule(spec.schedule), { since: Math.max(begin, deadline), now });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function statusOf(active: readonly JobObject[], lastRun: number | undefined): NonNullable<CronJobObject['status']> {
  return {
    ...(active.length === 0 ? {} : { active: active.map(referenceTo) }),
    ...(lastRun === undefined ? {} : { lastScheduleTime: new Date(lastRun).toISOString() }),
  };
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time): time is number => time !== undefined && !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** The oldest of a list that is longer than its limit. */
function beyond(jobs: readonly JobObject[], limit: number | undefined): readonly JobObject[] {
  return limit === undefined ? [] : jobs.slice(0, Math.max(0, jobs.length - limit));
}

/** With their pods: without a policy, those of a Job stay. */
async function deleteJobs(client: Client, jobs: readonly JobObject[], signal: AbortSignal): Promise<void> {
  for (const job of jobs) await ignoreNotFound(client.delete(Job, job, { propagationPolicy: 'Background', signal }));
}
