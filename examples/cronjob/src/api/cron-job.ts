import { JobTemplateSpec } from '@kctl/apimachinery/schemas/batch/v1';
import { ObjectReference } from '@kctl/apimachinery/schemas/core/v1';
import { defineResource, format, listAtomic } from '@kctl/crd';
import { embed, timestamp } from '@kctl/crd/zod';
import type { ReadObject } from '@kctl/runtime';
import { z } from 'zod';

/** What both versions have beside the schedule. */
const common = {
  startingDeadlineSeconds: z
    .int()
    .min(0)
    .meta(format('int64'))
    .describe('How many seconds late a run may start; one that is later is missed. No limit if unset.')
    .optional(),
  concurrencyPolicy: z
    .enum(['Allow', 'Forbid', 'Replace'])
    .describe('What happens when a run is due while another one is active.')
    .default('Allow'),
  suspend: z.boolean().describe('Whether no further run is started; active ones go on.').default(false),
  jobTemplate: embed(JobTemplateSpec).describe('The Job of each run.'),
  successfulJobsHistoryLimit: z.int32().min(0).describe('How many Jobs that succeeded are kept.').optional(),
  failedJobsHistoryLimit: z.int32().min(0).describe('How many Jobs that failed are kept.').optional(),
};

const status = z
  .object({
    active: z.array(embed(ObjectReference)).meta(listAtomic()).describe('Jobs that run.').optional(),
    lastScheduleTime: timestamp().describe('The time of the schedule for which a Job was last created.').optional(),
  })
  .describe('The observed state.');

const field = (what: string): z.ZodDefault<z.ZodString> =>
  z.string().regex(/^\S+$/).describe(`${what}, as in a field of cron.`).default('*');

const columns = [
  { name: 'Suspended', path: '.spec.suspend' },
  { name: 'Last Schedule', path: '.status.lastScheduleTime' },
];

/**
 * The CronJob of kubebuilder's tutorial. `v1`, which is stored, has the schedule as one text; `v2` has it field by field.
 */
export const CronJob = defineResource({
  group: 'batch.tutorial.kctl.dev',
  kind: 'CronJob',
  // Two Job templates are half a megabyte without the descriptions of their fields, as with controller-gen's maxDescLen=0.
  maxDescriptionLength: 0,
  versions: {
    v1: {
      storage: true,
      description: 'CronJob creates Jobs by a schedule.',
      spec: z
        .object({
          schedule: z
            .string()
            .regex(/^\S+( \S+){4}$/)
            .describe('When to run, in UTC: the five fields of cron with one space between.'),
          ...common,
        })
        .describe('The desired state.'),
      status,
      printColumns: [{ name: 'Schedule', path: '.spec.schedule' }, ...columns],
    },
    v2: {
      description: 'CronJob creates Jobs by a schedule.',
      spec: z
        .object({
          schedule: z
            .object({
              minute: field('Minute'),
              hour: field('Hour'),
              dayOfMonth: field('Day of the month'),
              month: field('Month'),
              dayOfWeek: field('Day of the week'),
            })
            .describe('When to run, in UTC; a field that is left out means every value.'),
          ...common,
        })
        .describe('The desired state.'),
      status,
      printColumns: columns,
    },
  },
});

/** The version with the schedule field by field. */
export const CronJobV2: typeof CronJob.versions.v2 = CronJob.versions.v2;

/** A CronJob as it was read. */
export type CronJobObject = ReadObject<typeof CronJob>;
