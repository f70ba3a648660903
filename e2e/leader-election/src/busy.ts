/**
 * What a busy event loop costs an elector, in the main thread and with a thread of its own: `busy.ts [--lease ms
 * --deadline ms --retry ms] [--lengths ms,ms]`. Each length is computed through (no sleep: the processor is busy) with
 * both electors leading, each its own Lease; the server runs in a thread of its own.
 */
import { parseArgs } from 'node:util';
import { startApiServerWorker } from '@kctl/apiserver';
import { createHttpClient } from '@kctl/client-http';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  type LeaderElector,
} from '@kctl/leader-election';
import { leaseKind } from '@kctl/leader-election/internal';
import { eventually } from '@kctl/testing';
import { sleep } from '@kctl/wait';
import { sharedNow } from './protocol.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    lease: { type: 'string', default: '3000' },
    deadline: { type: 'string', default: '2000' },
    retry: { type: 'string', default: '400' },
    lengths: { type: 'string', default: '500,1500,3000,10000,60000' },
  },
});
const lengths = values.lengths.split(',').map(Number);
const durations = {
  leaseDurationMs: Number(values.lease),
  renewDeadlineMs: Number(values.deadline),
  retryPeriodMs: Number(values.retry),
};
const namespace = 'default';
const server = await startApiServerWorker();
const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
const client = createHttpClient({ connection });
const stop = new AbortController();

/** Computes, so that neither timers nor answers get a turn. */
function compute(ms: number): void {
  const until = sharedNow() + ms;
  let sum = 0;
  while (sharedNow() < until) for (let i = 0; i < 10_000; i++) sum += Math.sqrt(i);
  if (Number.isNaN(sum)) throw new Error('never');
}

interface Subject {
  /** Of its Lease. */
  readonly name: string;
  readonly elector: LeaderElector;
  /** How often leadership was gained. */
  terms(): number;
}

function start(
  name: string,
  make: (onStartedLeading: (signal: AbortSignal) => Promise<void>) => LeaderElector,
): Subject {
  let terms = 0;
  const elector = make(async (signal) => {
    terms++;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  });
  void elector.run(stop.signal);
  return { name, elector, terms: () => terms };
}

const subjects = [
  start('main', (onStartedLeading) =>
    createLeaderElector({
      ...durations,
      reelect: true,
      lock: createLeaseLock({ client, namespace, name: 'main', identity: 'main' }),
      callbacks: { onStartedLeading },
    }),
  ),
  start('election', (onStartedLeading) =>
    createWorkerLeaderElector({
      ...durations,
      reelect: true,
      mainStallLimitMs: 2 * Math.max(...lengths),
      name: 'worker',
      lockModule: new URL('./worker-lock.ts', import.meta.url),
      lockData: { connection, namespace, identity: 'worker', requestTimeoutMs: 1_000, logFile: '/dev/null' },
      callbacks: { onStartedLeading },
    }),
  ),
];

console.log(`lease ${values.lease} ms, deadline ${values.deadline} ms, retry ${values.retry} ms`);
for (const length of lengths) {
  await eventually(
    () => {
      if (!subjects.every(({ elector }) => elector.isLeader)) throw new Error('nobody leads');
    },
    { timeoutMs: 10 * durations.leaseDurationMs },
  );
  const before = subjects.map(({ terms }) => terms());
  compute(length);
  const isLeading = subjects.map(({ elector }) => elector.isLeader);
  const cells = await Promise.all(
    subjects.map(async ({ name }, index) => {
      const { spec } = await client.get(leaseKind, { namespace, name });
      const ageMs = Date.now() - Date.parse(spec?.renewTime ?? '');
      return `${index === 0 ? 'main' : 'worker'}: ${isLeading[index] === true ? 'leads' : 'LOST'}, lease renewed ${Math.round(ageMs)} ms ago`;
    }),
  );
  // Whatever was lost without the flag having told is a new term by now.
  await sleep(durations.leaseDurationMs * 2);
  const again = subjects.map(({ terms }, index) => terms() - (before[index] ?? 0));
  console.log(`busy for ${length} ms: ${cells.map((cell, index) => `${cell}, ${again[index]} new terms`).join('; ')}`);
}
stop.abort();
await server.stop();
process.exit(0);
