import { defineOperator } from '@kctl/operator';
import { CronJob } from './api/cron-job.js';
import { addCronJobController } from './controllers/cron-job.js';
import { addCronJobWebhooks } from './webhooks/cron-job.js';

/** What the operator is made of. Nothing starts on import: kctl and the tests read it too. */
export const operator = defineOperator({
  name: 'cronjob',
  resources: [CronJob],
  setup(manager) {
    addCronJobController(manager);
    addCronJobWebhooks(manager);
  },
});
await operator.main(import.meta.url);
