import { isInvalid } from '@kctl/apimachinery';
import { createEnvironment, eventually } from '@kctl/testing';
import { roundTripProblems } from '@kctl/webhook';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cronJobConverter } from '../src/api/conversion.js';
import { CronJob, CronJobV2 } from '../src/api/cron-job.js';
import { createLocalCertificate } from '../src/local-webhooks.js';
import { operator } from '../src/main.js';
import { jobTemplate, quiet } from './start.js';

describe('the conversion between the versions', () => {
  const spec = { concurrencyPolicy: 'Forbid', suspend: true, startingDeadlineSeconds: 10, jobTemplate } as const;
  const metadata = { namespace: 'default', name: 'hello', uid: 'u', annotations: { a: 'b' } };
  const object = { apiVersion: CronJob.apiVersion, kind: CronJob.kind, metadata };
  const apiVersions = [CronJob.apiVersion, CronJobV2.apiVersion];

  it('loses nothing of either', async () => {
    const part = fc.stringMatching(/^[*0-9/,-]{1,5}$/);
    await fc.assert(
      fc.asyncProperty(fc.tuple(part, part, part, part, part), async ([minute, hour, dayOfMonth, month, dayOfWeek]) => {
        const schedule = [minute, hour, dayOfMonth, month, dayOfWeek].join(' ');
        const fields = { minute, hour, dayOfMonth, month, dayOfWeek };
        const v1 = { ...object, spec: { ...spec, schedule }, status: { lastScheduleTime: '2026-03-01T10:00:00Z' } };
        const v2 = { ...object, apiVersion: CronJobV2.apiVersion, spec: { ...spec, schedule: fields } };
        expect(await roundTripProblems(cronJobConverter, v1, apiVersions)).toEqual([]);
        expect(await roundTripProblems(cronJobConverter, v2, apiVersions)).toEqual([]);
        expect(await cronJobConverter(v2, CronJob.apiVersion)).toMatchObject({ spec: { schedule } });
      }),
    );
  });

  it('loses nothing of parts of them, which the API server converts while it prunes', async () => {
    const whole = { ...spec, schedule: '1 2 3 4 5' };
    const fields = { minute: '1', hour: '2', dayOfMonth: '3', month: '4', dayOfWeek: '5' };
    await fc.assert(
      fc.asyncProperty(fc.subarray([...Object.keys(whole), 'spec', 'metadata', 'status']), async (names) => {
        const part = (schedule: unknown): object => {
          const kept = Object.entries({ ...whole, schedule }).filter(([name]) => names.includes(name));
          return {
            ...(names.includes('metadata') ? { metadata } : {}),
            ...(names.includes('spec') ? { spec: Object.fromEntries(kept) } : {}),
            ...(names.includes('status') ? { status: {} } : {}),
          };
        };
        const v1 = { apiVersion: CronJob.apiVersion, kind: CronJob.kind, ...part(whole.schedule) };
        const v2 = { apiVersion: CronJobV2.apiVersion, kind: CronJob.kind, ...part(fields) };
        expect(await roundTripProblems(cronJobConverter, v1, apiVersions)).toEqual([]);
        expect(await roundTripProblems(cronJobConverter, v2, apiVersions)).toEqual([]);
      }),
    );
  });

  it('refuses a schedule that has not five fields', async () => {
    const daily = { ...object, spec: { ...spec, schedule: '@daily' } };
    await expect(async () => await cronJobConverter(daily, CronJobV2.apiVersion)).rejects.toThrow(
      'spec.schedule "@daily" is not valid: expected five fields',
    );
  });
});

// The webhooks are on this machine: another machine's API server does not reach them.
it.skipIf(process.env['KCTL_TEST_SERVER'] === 'existing')(
  'the API server has the operator fill in, judge and convert CronJobs',
  async () => {
    await using certificate = await createLocalCertificate();
    await using environment = await createEnvironment({ crds: [CronJob.toYaml()] });
    const { client, connection } = environment;
    const namespace = await environment.createNamespace('cronjob');
    const manager = await operator.createManager(
      { connection },
      { ...quiet, webhookPort: 0, webhookCertDir: certificate.folder },
    );
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    try {
      const port = await eventually(
        () => manager.webhookServer.port ?? Promise.reject(new Error('it does not listen')),
      );
      await certificate.register(client, port);
      const key = { namespace, name: 'hello' };
      const spec = { schedule: { minute: '*/5' }, suspend: true, jobTemplate };
      const created = await eventually(() => client.create(CronJobV2, CronJobV2.create({ metadata: key, spec })));
      // Of the schema, and of the defaulting webhook, which has it as v1.
      expect(created.spec).toMatchObject({
        concurrencyPolicy: 'Allow',
        schedule: { minute: '*/5', hour: '*' },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      });
      expect((await client.get(CronJob, key)).spec.schedule).toBe('*/5 * * * *');

      const patch = (schedule: string): Promise<unknown> =>
        client.patch(CronJob, key, { type: 'merge', body: { spec: { schedule } } });
      await patch('0 12 * * 1-5');
      expect((await client.get(CronJobV2, key)).spec.schedule).toMatchObject({ hour: '12', dayOfWeek: '1-5' });
      await expect(patch('61 * * * *')).rejects.toSatisfy(isInvalid);
      await expect(patch('61 * * * *')).rejects.toThrow('spec.schedule: Invalid value: "61 * * * *"');
      const long = { namespace, name: 'a'.repeat(53) };
      const invalid = CronJob.create({ metadata: long, spec: { schedule: '* * * * *', jobTemplate } });
      await expect(client.create(CronJob, invalid)).rejects.toThrow('must be no more than 52 characters');

      // A server prunes what a manager no longer applies, and converts what is left: objects without metadata or spec.
      const applied = { namespace, name: 'applied' };
      const job = { suspend: true, jobTemplate };
      const apply = (spec: object, kind: typeof CronJob | typeof CronJobV2): Promise<unknown> =>
        client.patch(kind, applied, { type: 'apply', body: { spec } }, { fieldOwner: 'manager', force: true });
      await apply({ ...job, schedule: '*/5 * * * *' }, CronJob);
      await apply({ ...job, schedule: { minute: '*/7', hour: '3' } }, CronJobV2);
      expect((await client.get(CronJob, applied)).spec.schedule).toBe('*/7 3 * * *');
      await apply({ ...job, schedule: '1 2 3 4 5' }, CronJob);
      expect((await client.get(CronJobV2, applied)).spec.schedule).toMatchObject({ minute: '1', dayOfWeek: '5' });
    } finally {
      stop.abort();
      await running;
    }
  },
);
