import { leaseKind } from '@kctl/leader-election/internal';
import { createEnvironment } from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { createLeaseScheduleStore, createManager } from '../src/index.js';

const { signal } = new AbortController();

describe('createLeaseScheduleStore', () => {
  it('remembers the last run of each schedule in one Lease, whoever writes it meanwhile', async () => {
    await using environment = await createEnvironment();
    const { client } = environment;
    const at = { client, namespace: 'default', name: 'shop-schedules' };
    const [one, two] = [createLeaseScheduleStore(at), createLeaseScheduleStore(at)];
    expect(await one.load('sweep', { signal })).toBeUndefined();
    const times = [1, 2, 3, 4].map((number) => Date.UTC(2026, 0, number));
    // Of two processes, at the same time: neither loses the other's.
    await Promise.all([
      one.save('sweep', times[0] ?? 0, { signal }),
      two.save('report', times[1] ?? 0, { signal }),
      one.save('audit', times[2] ?? 0, { signal }),
    ]);
    await one.save('sweep', times[3] ?? 0, { signal });
    expect(await two.load('sweep', { signal })).toBe(times[3]);
    expect(await two.load('report', { signal })).toBe(times[1]);
    expect(await two.load('audit', { signal })).toBe(times[2]);
    const lease = await client.get(leaseKind, { namespace: 'default', name: 'shop-schedules' });
    expect(lease.metadata.annotations).toEqual({
      'schedule.kctl.dev/sweep': '2026-01-04T00:00:00.000Z',
      'schedule.kctl.dev/report': '2026-01-02T00:00:00.000Z',
      'schedule.kctl.dev/audit': '2026-01-03T00:00:00.000Z',
    });
  });

  it('is what a manager with leader election remembers its schedules by', async () => {
    await using environment = await createEnvironment();
    const stop = new AbortController();
    const ran = Promise.withResolvers<number>();
    const manager = await createManager({
      connection: environment.connection,
      leaderElection: { name: 'shop', namespace: 'default' },
    });
    manager.schedule({ name: 'sweep', every: '1h', runAtStart: true, run: ({ dueAt }) => ran.resolve(dueAt) });
    expect(manager.accessNeeds()).toContainEqual(
      expect.objectContaining({ resource: 'leases', names: ['shop-schedules'], namespaces: ['default'] }),
    );
    const running = manager.run(stop.signal);
    const dueAt = await ran.promise;
    stop.abort();
    await running;
    const store = createLeaseScheduleStore({
      client: environment.client,
      namespace: 'default',
      name: 'shop-schedules',
    });
    expect(await store.load('sweep', { signal })).toBe(dueAt);
  });
});
