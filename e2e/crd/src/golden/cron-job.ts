import { defineResource, format, listAtomic } from '@kctl/crd';
import { conditions, embed, timestamp } from '@kctl/crd/zod';
import { JobTemplateSpec } from '@kctl/apimachinery/schemas/batch/v1';
import { ObjectReference } from '@kctl/apimachinery/schemas/core/v1';
import { z } from 'zod';
import type { Golden } from './variant.js';

/** `golden/batch/v1` in TypeScript: a resource that embeds a built-in type of thousands of lines. */
export const cronJob: Golden = (variant) =>
  defineResource({
    ...variant,
    group: 'batch.golden.kctl.dev',
    kind: 'CronJob',
    shortNames: ['cj'],
    categories: ['all'],
    versions: {
      v1: {
        description: 'CronJob runs a job at times.',
        spec: z
          .object({
            schedule: z.string().min(1).describe("When to run, in cron's format."),
            startingDeadlineSeconds: z
              .int()
              .min(0)
              .meta(format('int64'))
              .describe('How many seconds late a job may start.')
              .optional(),
            concurrencyPolicy: z
              .enum(['Allow', 'Forbid', 'Replace'])
              .describe('What happens when a job is due while another one runs.')
              .default('Allow'),
            suspend: z.boolean().describe('Whether no further job is started.').optional(),
            jobTemplate: embed(JobTemplateSpec).describe('The job to run.'),
            successfulJobsHistoryLimit: z.int32().min(0).describe('How many jobs that succeeded are kept.').optional(),
            failedJobsHistoryLimit: z.int32().min(0).describe('How many jobs that failed are kept.').optional(),
          })
          .describe('What is wanted.'),
        status: z
          .object({
            active: z
              .array(embed(ObjectReference))
              .min(1)
              .max(10)
              .meta(listAtomic())
              .describe('Jobs that run.')
              .optional(),
            lastScheduleTime: timestamp().describe('When a job was last started.').optional(),
            conditions: conditions().describe('The state of the resource.'),
          })
          .describe('What is there.'),
        printColumns: [{ name: 'Suspended', path: '.spec.suspend' }],
      },
    },
  }).manifest;
