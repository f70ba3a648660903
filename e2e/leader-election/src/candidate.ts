/** One candidate: competes for the Lease and writes under its protection. Started by the harness, with settings in its environment. */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createHttpClient } from '@kctl/client-http';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  fencedClient,
  type Fence,
  type LeaderElector,
} from '@kctl/leader-election';
import { sleep, systemClock, type Clock } from '@kctl/wait';
import { LeaderWork } from './leader-work.js';
import { loggedLock } from './logged-lock.js';
import { createManaged, type Competitor } from './managed-candidate.js';
import { watchLag } from './lag.js';
import { sharedNow, type CandidateSettings, type Command, type LogEntry } from './protocol.js';

const settings = JSON.parse(process.env['CANDIDATE'] ?? '') as CandidateSettings;
const { identity, namespace, durations } = settings;
const connection = { server: settings.server, ca: settings.ca, user: { token: settings.token } };
const stop = new AbortController();
let wallOffsetMs = 0;
let stallAmidWriteMs = 0;

const clock: Clock = {
  now: () => systemClock.now() + wallOffsetMs,
  monotonicNow: sharedNow,
  setTimer: (callback, ms, options) => systemClock.setTimer(callback, ms, options),
};

function log(entry: LogEntry): void {
  appendFileSync(settings.logFile, `${JSON.stringify(entry)}\n`);
}

/** Blocks this thread without using the processor, which others need. */
function stall(ms: number): void {
  log({ what: 'stalled', at: sharedNow(), term: work.term });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  log({ what: 'resumed', at: sharedNow(), term: work.term });
}

const work = new LeaderWork({
  identity,
  namespace,
  log,
  amidWrite: () => {
    if (stallAmidWriteMs === 0) return;
    const ms = stallAmidWriteMs;
    stallAmidWriteMs = 0;
    stall(ms);
  },
});

function createElector(): Competitor {
  const client = createHttpClient({ connection, requestTimeoutMs: 5_000 });
  const onStartedLeading = (signal: AbortSignal, fence: Fence): Promise<void> =>
    work.run(signal, { client: fencedClient(client, fence), check: () => fence.check() });
  const common = { ...durations, reelect: true, callbacks: { onStartedLeading } };
  const requestTimeoutMs = durations.renewDeadlineMs / 2;
  const elector: LeaderElector = settings.worker
    ? createWorkerLeaderElector({
        ...common,
        name: identity,
        lockModule: new URL('./worker-lock.ts', import.meta.url),
        lockData: { connection, namespace, identity, logFile: settings.logFile, requestTimeoutMs },
      })
    : createLeaderElector({
        ...common,
        clock,
        lock: loggedLock(
          createLeaseLock({
            client: createHttpClient({ connection, requestTimeoutMs }),
            namespace,
            name: 'election',
            identity,
          }),
          log,
        ),
      });
  return {
    get isLeader() {
      return elector.isLeader;
    },
    run: (signal) => elector.run(signal),
    stepDown: () => void elector.stepDown(),
  };
}

const competitor =
  settings.program === 'elector' ? createElector() : await createManaged({ settings, connection, work, clock, log });

watchLag(log);
const commands = createInterface({ input: process.stdin });
// The harness has ended: nothing else would stop this process.
commands.on('close', () => process.exit(1));
commands.on('line', (line) => {
  const command = JSON.parse(line) as Command;
  switch (command.command) {
    case 'stop':
      if (command.straggleMs !== undefined) work.straggle(command.straggleMs);
      stop.abort();
      break;
    case 'step-down':
      competitor.stepDown();
      break;
    case 'stall':
      if (command.amidWrite && competitor.isLeader) stallAmidWriteMs = command.ms;
      else stall(command.ms);
      break;
    case 'jump':
      wallOffsetMs += command.ms;
      break;
  }
});

await sleep(settings.startDelayMs);
await competitor.run(stop.signal);
await work.ended;
process.exit(0);
