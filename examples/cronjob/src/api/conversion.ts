import { hubSpokeConverter, spoke } from '@kctl/runtime';
import type { KindConverter } from '@kctl/webhook';
import { CronJob, CronJobV2 } from './cron-job.js';

/**
 * Between the stored version and `v2`. Nothing is lost in either direction. The API server converts parts of objects, too:
 * `spec`, and each field of it, may be missing.
 */
export const cronJobConverter: KindConverter = hubSpokeConverter(
  CronJob,
  spoke(CronJob, CronJobV2, {
    toHub: ({ spec, ...object }) => {
      if (spec === undefined) return object;
      const { schedule, ...rest } = spec;
      if (schedule === undefined) return { ...object, spec: rest };
      const { minute = '*', hour = '*', dayOfMonth = '*', month = '*', dayOfWeek = '*' } = schedule;
      return { ...object, spec: { ...rest, schedule: [minute, hour, dayOfMonth, month, dayOfWeek].join(' ') } };
    },
    fromHub: ({ spec, ...object }) => {
      if (spec === undefined) return object;
      const { schedule, ...rest } = spec;
      if (schedule === undefined) return { ...object, spec: rest };
      const [minute, hour, dayOfMonth, month, dayOfWeek, ...more] = schedule.split(' ');
      if (dayOfWeek === undefined || more.length > 0)
        throw new Error(`spec.schedule ${JSON.stringify(schedule)} is not valid: expected five fields`);
      return { ...object, spec: { ...rest, schedule: { minute, hour, dayOfMonth, month, dayOfWeek } } };
    },
  }),
);
