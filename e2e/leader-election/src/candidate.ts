/** One candidate: competes for the Lease and writes under its protection. Started by the harness, with settings in its environment. */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  fencedClient,
  isNotLeader,
  type Fence,
  type LeaderElector,
} from '@kctl/leader-election';
import { sleep, systemClock, type Clock } from '@kctl/wait';
import { loggedLock } from './logged-lock.js';
import { watchLag } from './lag.js';
import { protectedName, sharedNow, type CandidateSettings, type Command, type LogEntry } from './protocol.js';

const settings = JSON.parse(process.env['CANDIDATE'] ?? '') as CandidateSettings;
const { identity, namespace, durations } = settings;
const connection = { server: settings.server, ca: settings.ca, user: { token: settings.token } };
const stop = new AbortController();
let wallOffsetMs = 0;
let terms = 0;
let writes = 0;
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
  log({ what: 'stalled', at: sharedNow(), term: terms });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  log({ what: 'resumed', at: sharedNow(), term: terms });
}

const client = createHttpClient({ connection, requestTimeoutMs: 5_000 });
const electionClient = createHttpClient({ connection, requestTimeoutMs: durations.renewDeadlineMs / 2 });

async function lead(signal: AbortSignal, fence: Fence): Promise<void> {
  const term = ++terms;
  log({ what: 'lead', at: sharedNow(), term });
  const guarded = fencedClient(client, fence);
  while (!signal.aborted) {
    const write = ++writes;
    let outcome: 'ok' | 'refused' | 'failed' = 'ok';
    try {
      fence.check();
      log({ what: 'begin', at: sharedNow(), term, write });
      const body = { data: { writer: identity, term: String(term), write: String(write) } };
      const answer = guarded.patch(ConfigMap, { namespace, name: protectedName }, { type: 'merge', body }, { signal });
      if (stallAmidWriteMs > 0) {
        const ms = stallAmidWriteMs;
        stallAmidWriteMs = 0;
        stall(ms);
      }
      await answer;
    } catch (error) {
      outcome = isNotLeader(error) ? 'refused' : 'failed';
    }
    log({ what: 'end', at: sharedNow(), term, write, outcome });
    await sleep(20, { signal }).catch(() => undefined);
  }
}

const callbacks = { onStartedLeading: lead };
const common = { ...durations, reelect: true, callbacks };
const elector: LeaderElector = settings.worker
  ? createWorkerLeaderElector({
      ...common,
      name: identity,
      lockModule: new URL('./worker-lock.ts', import.meta.url),
      lockData: {
        connection,
        namespace,
        identity,
        logFile: settings.logFile,
        requestTimeoutMs: durations.renewDeadlineMs / 2,
      },
    })
  : createLeaderElector({
      ...common,
      clock,
      lock: loggedLock(createLeaseLock({ client: electionClient, namespace, name: 'election', identity }), log),
    });

watchLag(log);
const commands = createInterface({ input: process.stdin });
// The harness has gone: nobody would stop this process any more.
commands.on('close', () => process.exit(1));
commands.on('line', (line) => {
  const command = JSON.parse(line) as Command;
  switch (command.command) {
    case 'stop':
      stop.abort();
      break;
    case 'step-down':
      void elector.stepDown();
      break;
    case 'stall':
      if (command.amidWrite && elector.isLeader) stallAmidWriteMs = command.ms;
      else stall(command.ms);
      break;
    case 'jump':
      wallOffsetMs += command.ms;
      break;
  }
});

await sleep(settings.startDelayMs);
await elector.run(stop.signal);
process.exit(0);
