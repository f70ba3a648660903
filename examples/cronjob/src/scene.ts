import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { playScene } from '@kctl/scene';
import { CronJob, CronJobV2 } from './api/cron-job.js';
import { createLocalCertificate, cronJobDefinition } from './local-webhooks.js';

await using certificate = await createLocalCertificate();

const env = {
  WEBHOOK_CERT_DIR: certificate.folder,
  WEBHOOK_PORT: '0',
  HEALTH_PROBE_BIND_ADDRESS: '0',
  METRICS_BIND_ADDRESS: '0',
  LOG_FORMAT: 'text',
};

await playScene({
  name: 'cronjob',
  program: new URL('main.ts', import.meta.url),
  crds: [cronJobDefinition],
  env,
  async play({ client, namespace, isCluster, step, line, start, until, gone }) {
    const key = { namespace, name: 'hello' };
    const patch = (spec: object): Promise<unknown> => client.patch(CronJob, key, { type: 'merge', body: { spec } });
    step('The operator');
    const operator = start({ name: 'operator' });
    const listening = await operator.waitFor('Serving webhook server');
    // A cluster does not reach this machine: there, nothing asks the webhooks.
    if (!isCluster) await certificate.register(client, Number(/port=(\d+)/.exec(listening)?.[1]));

    step('A suspended CronJob, written as v2 and read as v1');
    const jobTemplate = {
      spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'hello', image: 'busybox:1' }] } } },
    };
    const schedule = { hour: '*' };
    if (isCluster)
      await client.create(
        CronJob,
        CronJob.create({ metadata: key, spec: { schedule: '* * * * *', suspend: true, jobTemplate } }),
      );
    else
      await until(() =>
        client.create(CronJobV2, CronJobV2.create({ metadata: key, spec: { schedule, suspend: true, jobTemplate } })),
      );
    const { jobTemplate: _template, ...spec } = (await client.get(CronJob, key)).spec;
    line(`v1, with defaults: ${JSON.stringify(spec)}`);

    if (!isCluster) {
      step('A schedule that cron does not take is refused');
      const refused = await patch({ schedule: '61 * * * *' }).then(
        () => 'accepted',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      line(refused);
      if (!refused.includes('spec.schedule')) throw new Error('the webhook did not refuse it');
    }

    step('Of five missed runs the last one starts');
    const lastScheduleTime = new Date(Date.now() - 5 * 60_000).toISOString();
    await client.status(CronJob).patch(key, { type: 'merge', body: { status: { lastScheduleTime } } });
    await patch({ suspend: false, concurrencyPolicy: 'Forbid' });
    const active = await until(async () => {
      const { status } = await client.get(CronJob, key);
      const [reference] = status?.active ?? [];
      if (reference?.name === undefined) throw new Error('no Job is active');
      line(`status: ${JSON.stringify({ lastScheduleTime: status?.lastScheduleTime, active: reference.name })}`);
      return { namespace, name: reference.name };
    });

    step('Its Job succeeds, and the history limit is 0: it is deleted');
    await patch({ suspend: true, successfulJobsHistoryLimit: 0 });
    if (!isCluster) {
      const time = new Date().toISOString();
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: time,
      }));
      const status = { startTime: time, completionTime: time, conditions };
      await client.status(Job).patch(active, { type: 'merge', body: { status } });
    }
    await gone(Job, () => client.get(Job, active));
    line(`Job ${active.name} is gone`);
    await client.delete(CronJob, key);
  },
});
