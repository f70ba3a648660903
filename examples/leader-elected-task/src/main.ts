// No controllers: a task that must run in one process at a time, in however many processes this program is started.
import { hostname } from 'node:os';
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { createLeaderElector, createLeaseLock } from '@kctl/leader-election';
import { isAbortError, sleep } from '@kctl/wait';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

const namespace = process.env['POD_NAMESPACE'] ?? 'default';
const intervalMs = Number(process.env['INTERVAL_MS'] ?? 1_000);

try {
  await using client = createHttpClient({ connection: await loadConnection() });
  const lock = createLeaseLock({
    client,
    namespace,
    name: 'leader-elected-task',
    identity: `${hostname()}_${process.pid}`,
  });
  const elector = createLeaderElector({
    lock,
    leaseDurationMs: Number(process.env['LEASE_DURATION_MS'] ?? 15_000),
    renewDeadlineMs: Number(process.env['RENEW_DEADLINE_MS'] ?? 10_000),
    retryPeriodMs: Number(process.env['RETRY_PERIOD_MS'] ?? 2_000),
    callbacks: {
      onStartedLeading: async (signal) => {
        console.log(`${lock.identity} leads`);
        try {
          for (let run = 1; ; run++) {
            elector.fence.check(); // right also straight after a stall, before any timer could fire
            console.log(`${lock.identity} run ${run}`);
            await sleep(intervalMs, { signal });
          }
        } catch (error) {
          if (!isAbortError(error)) throw error;
        }
      },
      onStoppedLeading: ({ led }) => console.log(`${lock.identity} ${led ? 'stopped leading' : 'never led'}`),
      onNewLeader: (leader) => console.log(leader === '' ? 'there is no leader' : `the leader is ${leader}`),
    },
  });
  await elector.run(stop.signal);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
