import { playScene } from '@kctl/scene';

await playScene({
  name: 'leader-elected-task',
  program: new URL('main.ts', import.meta.url),
  env: { INTERVAL_MS: '300', LEASE_DURATION_MS: '3000', RENEW_DEADLINE_MS: '2000', RETRY_PERIOD_MS: '400' },
  async play({ step, line, start }) {
    step('Two replicas of a task that must run in one process at a time');
    const first = start({ name: 'first ' });
    await first.waitFor(' run 2');
    const second = start({ name: 'second' });
    await second.waitFor('the leader is ');

    step('The leader is killed: the lease expires after 3 s, then the other one leads');
    await first.kill();
    line('first: killed');
    await second.waitFor(' run 2');

    step('A third replica starts, and the leader is stopped: it releases the lease, so the other need not wait');
    const third = start({ name: 'third ' });
    await third.waitFor('the leader is ');
    await second.stop();
    await third.waitFor(' run 2');
  },
});
