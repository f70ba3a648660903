import { controllerOf } from '@kctl/apimachinery';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import type { ReadObject } from '@kctl/runtime';
import { createEnvironment, createOperatorAccess, eventually } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CronJob } from '../src/api/cron-job.js';
import { scheduledAtAnnotation } from '../src/controllers/jobs.js';
import { operator } from '../src/main.js';
import { jobTemplate, quiet } from './start.js';

const minuteMs = 60_000;

/** Three hours ahead of the server. Each test begins half a minute past the minute: no run is due within 20 s. */
const clock = new FakeClock({ now: Math.floor(Date.now() / minuteMs) * minuteMs + 180 * minuteMs });
let environment: Awaited<ReturnType<typeof createEnvironment>>;
let access: ReturnType<typeof createOperatorAccess>;
let namespace: string;
let running: Promise<void>;
const stop = new AbortController();

beforeAll(async () => {
  environment = await createEnvironment({
    server: 'embedded', // on a real one, the Job controller says when a Job is over
    crds: [CronJob.toYaml()],
    embedded: { authorization: 'RBAC' },
  });
  access = createOperatorAccess(environment, { name: operator.name });
  const manager = await operator.createManager(
    { connection: access.connection, clock, webhook: { port: -1 } },
    { ...quiet },
  );
  await access.grant(manager.accessNeeds());
  running = manager.run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await running;
  await environment.stop();
});
beforeEach(async () => {
  await clock.advance((1.5 * minuteMs - (clock.now() % minuteMs)) % minuteMs);
  namespace = await environment.createNamespace('cronjob');
});
afterEach(async () => {
  await environment.client.delete(CronJob, { namespace, name: 'hello' });
});

const key = (): { namespace: string; name: string } => ({ namespace, name: 'hello' });
type Spec = Parameters<typeof CronJob.create>[0]['spec'];

/** Each minute, and not for runs that are more than 20 s late. */
async function create({ schedule = '* * * * *', ...spec }: Partial<Spec> = {}): Promise<void> {
  const all: Spec = { startingDeadlineSeconds: 20, ...spec, schedule, jobTemplate };
  await environment.client.create(CronJob, CronJob.create({ metadata: key(), spec: all }));
}

/** The next full minute: when the next run is due. */
async function nextMinute(): Promise<string> {
  await clock.advance(minuteMs - (clock.now() % minuteMs));
  return new Date(clock.now()).toISOString();
}

/** The Jobs that are not being deleted, from the oldest run to the newest. */
async function jobs(): Promise<ReadObject<typeof Job>[]> {
  const { items } = await environment.client.list(Job, { namespace });
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}

async function untilJobs(count: number): Promise<ReadObject<typeof Job>[]> {
  return await eventually(async () => {
    const found = await jobs();
    expect(found).toHaveLength(count);
    return found;
  });
}

const timesOf = (found: readonly ReadObject<typeof Job>[]): (string | undefined)[] =>
  found.map(({ metadata }) => metadata.annotations?.[scheduledAtAnnotation]);

/** Plays the Job controller. */
async function finish({ metadata }: ReadObject<typeof Job>, type: 'Complete' | 'Failed'): Promise<void> {
  const time = new Date(clock.now()).toISOString();
  const conditions = [
    { type: type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', status: 'True' },
    { type, status: 'True' },
  ].map((each) => ({ ...each, lastTransitionTime: time, lastProbeTime: time }));
  const status = { startTime: time, ...(type === 'Complete' ? { completionTime: time } : {}), conditions };
  await environment.client.status(Job).patch(metadata, { type: 'merge', body: { status } });
}

const untilActive = async (names: readonly string[]): Promise<void> =>
  await eventually(async () => {
    const { status } = await environment.client.get(CronJob, key());
    expect((status?.active ?? []).map(({ name }) => name)).toEqual(names);
  });

describe('a CronJob', () => {
  it('has a Job of its template at each time of its schedule, and reports it', async () => {
    await create();
    const first = await nextMinute();
    const [job] = await untilJobs(1);
    expect(job?.metadata.name).toBe(`hello-${Date.parse(first) / 1000}`);
    expect(job?.metadata.labels).toMatchObject({ app: 'hello' });
    expect(job?.spec?.template.spec?.containers[0]).toMatchObject({ image: 'busybox:1' });
    expect(job && controllerOf(job)).toMatchObject({ kind: 'CronJob', name: 'hello', blockOwnerDeletion: true });
    await eventually(async () => {
      const { status } = await environment.client.get(CronJob, key());
      expect(status).toMatchObject({ lastScheduleTime: first, active: [{ kind: 'Job', uid: job?.metadata.uid }] });
    });
    const second = await nextMinute();
    expect(timesOf(await untilJobs(2))).toEqual([first, second]);
  });

  it('has a Job of the last run alone where several were missed', async () => {
    await create({ schedule: '0 * * * *', startingDeadlineSeconds: undefined });
    const [job] = await untilJobs(1);
    expect(timesOf(job ? [job] : [])).toEqual([
      new Date(Math.floor(clock.now() / 3_600_000) * 3_600_000).toISOString(),
    ]);
  });

  it('starts none, and says so, where too many were missed to say which', async () => {
    await create({ startingDeadlineSeconds: undefined });
    await eventually(async () => {
      await clock.advance(1_000); // events are sent in batches
      const { items } = await environment.client.list(Event, { namespace });
      expect(items.map(({ reason, note }) => `${reason}: ${note}`).join()).toMatch(
        /^TooManyMissedRuns: more than 100 runs were missed since \S+: set or decrease spec.startingDeadlineSeconds/,
      );
    });
    expect(await jobs()).toEqual([]);
  });

  it.each([
    ['Allow', 2],
    ['Forbid', 1],
    ['Replace', 1],
  ] as const)('%s: of a run that is due while one is active', async (concurrencyPolicy, count) => {
    await create({ concurrencyPolicy });
    const first = await nextMinute();
    const [job] = await untilJobs(1);
    await untilActive([job?.metadata.name ?? '']);
    const second = await nextMinute();
    const expected = { Allow: [first, second], Forbid: [first], Replace: [second] }[concurrencyPolicy];
    await eventually(async () => expect(timesOf(await jobs())).toEqual(expected));
    await untilActive((await untilJobs(count)).map(({ metadata }) => metadata.name));
  });

  it('Forbid: starts the run that was due when the active one ends in time', async () => {
    await create({ concurrencyPolicy: 'Forbid' });
    await nextMinute();
    const [job] = await untilJobs(1);
    const second = await nextMinute();
    if (job !== undefined) await finish(job, 'Complete');
    expect(timesOf(await untilJobs(2))[1]).toBe(second);
  });

  it('keeps as many finished Jobs as its limits say, the newest', async () => {
    await create({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
    const times: string[] = [];
    for (const outcome of ['Complete', 'Failed', 'Complete'] as const) {
      times.push(await nextMinute());
      const newest = await eventually(async () => {
        const last = (await jobs()).at(-1);
        expect(timesOf(last === undefined ? [] : [last])).toEqual(times.slice(-1));
        return last;
      });
      if (newest !== undefined) await finish(newest, outcome);
    }
    await eventually(async () => expect(timesOf(await jobs())).toEqual(times.slice(-1)));
    await untilActive([]);
  });

  it('starts nothing while it is suspended, and goes on after that', async () => {
    await create({ suspend: true });
    await nextMinute();
    await nextMinute();
    const patch = (suspend: boolean): Promise<unknown> =>
      environment.client.patch(CronJob, key(), { type: 'merge', body: { spec: { suspend } } });
    expect(await jobs()).toEqual([]);
    await clock.advance(30_000); // later than the deadline of the runs that were skipped
    await patch(false);
    const third = await nextMinute();
    expect(timesOf(await untilJobs(1))).toEqual([third]);
  });

  it('needs the rights that are generated, and no others', async () => {
    await create();
    await nextMinute();
    await untilJobs(1);
    await eventually(async () => {
      await clock.advance(1_000);
      expect(access.report()).toBe('');
    });
  });
});
