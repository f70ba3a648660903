import type { DeepReadonly, ObjectOf } from '@kctl/apimachinery';
import {
  invalidError,
  invalidField,
  webhookManagedBy,
  type Defaulter,
  type RuntimeManager,
  type Validator,
} from '@kctl/runtime';
import { CronJob } from '../api/cron-job.js';
import { cronJobConverter } from '../api/conversion.js';
import { parseSchedule } from '../controllers/schedule.js';

/** What the defaulter fills in. */
export interface CronJobDefaults {
  /** @default 3 */
  readonly successfulJobsHistoryLimit?: number;
  /** @default 1 */
  readonly failedJobsHistoryLimit?: number;
}

/** As a request has it: without what the server sets. */
type Given = ObjectOf<typeof CronJob>;

/** Fills in the history limits. Defaults that no cluster changes are those of the schema. */
export function cronJobDefaulter(defaults: CronJobDefaults = {}): Defaulter<Given> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = defaults;
  return ({ spec }) => {
    spec.successfulJobsHistoryLimit ??= successfulJobsHistoryLimit;
    spec.failedJobsHistoryLimit ??= failedJobsHistoryLimit;
  };
}

/** A Job's name may have 63 characters: that of the CronJob, a dash, and the ten digits of the time. */
const maxNameLength = 52;

/** What the schema cannot say: whether cron takes the schedule, and whether names of Jobs fit. */
export const cronJobValidator: Validator<Given> = {
  validateCreate: (object) => validate(object),
  validateUpdate: (_old, object) => validate(object),
};

function validate({ metadata: { name = '' }, spec: { schedule } }: DeepReadonly<Given>): undefined {
  const problems = [];
  if (name.length > maxNameLength)
    problems.push(invalidField('metadata.name', name, `must be no more than ${maxNameLength} characters`));
  try {
    parseSchedule(schedule);
  } catch (error) {
    problems.push(invalidField('spec.schedule', schedule, error instanceof Error ? error.message : String(error)));
  }
  if (problems.length > 0) throw invalidError(CronJob, name, problems);
}

/** Serves the webhooks. The API server converts an object of `v2` before it asks these, so one version is enough. */
export function addCronJobWebhooks(manager: RuntimeManager): void {
  webhookManagedBy(manager)
    .for(CronJob)
    .withDefaulter(cronJobDefaulter())
    .withValidator(cronJobValidator)
    .withConverter(cronJobConverter)
    .complete();
}
