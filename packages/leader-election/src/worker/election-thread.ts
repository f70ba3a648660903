/**
 * The code that the thread of an election runs, for programs of one file; see `threadModule` of
 * createWorkerLeaderElector.
 *
 * @packageDocumentation
 */
import { parentPort, workerData } from 'node:worker_threads';
import { noopMetrics, type Metrics } from '@kctl/telemetry';
import { LeadershipLostError } from '../errors.js';
import { Elector } from '../leader-elector.js';
import { resolveLeaderElectorOptions } from '../options.js';
import { guardedLock } from './guarded-lock.js';
import { portLogger } from './port-logger.js';
import { toFailure, type FromWorker, type LockModule, type ToWorker, type WorkerInput } from './protocol.js';
import { createProcessClock, sharedState } from './shared-state.js';

/** A failure of the work; the error itself stays in the main thread. */
class WorkFailed extends Error {}

/**
 * Competes for the lock while the main thread works; call it in the thread and nowhere else. `createLock` makes the lock
 * from `lockData`; without it, the module that `lockModule` names does.
 *
 * @throws Error outside of a thread that createWorkerLeaderElector has started
 */
export async function runElectionThread(createLock?: LockModule['createLock']): Promise<void> {
  if (parentPort === null)
    throw new Error('runElectionThread runs in a thread that createWorkerLeaderElector starts, not in the main one');
  await compete(workerData as WorkerInput, parentPort, createLock);
}

async function compete(
  input: WorkerInput,
  port: NonNullable<typeof parentPort>,
  createLock: LockModule['createLock'] | undefined,
): Promise<void> {
  const { election, memory } = input;
  const shared = sharedState(memory);
  const clock = createProcessClock(input.bootOffsetMs);
  const post: Post = (message) => port.postMessage(message);
  const stop = new AbortController();
  const lockModule = createLock === undefined ? await importLockModule(input.lockModule) : { createLock };
  const works = new Map<number, PromiseWithResolvers<undefined>>();
  const silentForMs = (): number => clock.monotonicNow() - shared.heartbeat;
  const lock = guardedLock(
    await lockModule.createLock(input.lockData),
    () => silentForMs() <= election.mainStallLimitMs,
  );
  let terms = 0;

  const elector = new Elector(
    resolveLeaderElectorOptions(
      {
        ...election,
        lock,
        clock,
        logger: portLogger(post),
        metrics: countsOf(post),
        callbacks: {
          onStartedLeading: async (signal) => {
            const term = terms;
            const work = Promise.withResolvers<undefined>();
            works.set(term, work);
            signal.addEventListener('abort', () => post({ type: 'closed', term, reason: toFailure(signal.reason) }), {
              once: true,
            });
            post({ type: 'started', term });
            await work.promise;
          },
          onStoppedLeading: ({ led }) => post({ type: 'ended', led }),
          onNewLeader: (identity) => post({ type: 'leader', identity }),
        },
      },
      (openUntil) => {
        if (openUntil !== 0 && shared.openUntil === 0) shared.term = ++terms;
        if (openUntil !== 0) shared.expiresAt = openUntil - election.renewDeadlineMs + election.leaseDurationMs;
        shared.openUntil = openUntil;
      },
    ),
  );

  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'stop':
        stop.abort();
        break;
      case 'step-down':
        void elector.stepDown({ holdOffMs: message.holdOffMs });
        break;
      case 'work-ended':
        if (message.failed) works.get(message.term)?.reject(new WorkFailed());
        else works.get(message.term)?.resolve(undefined);
        works.delete(message.term);
        break;
    }
  });

  const watch = (): void => {
    const silent = silentForMs();
    if (silent > election.mainStallLimitMs)
      elector.lose(new Error(`the main thread has not answered for ${Math.round(silent)} ms`));
    clock.setTimer(watch, election.heartbeatMs, { keepAlive: false });
  };
  watch();

  try {
    post(await outcomeOf(elector, stop.signal));
  } finally {
    shared.openUntil = 0;
    port.close();
  }
}

type Post = (message: FromWorker) => void;

/** Metrics that the main thread counts. */
function countsOf(post: Post): Metrics {
  return {
    ...noopMetrics,
    counter: ({ name }) => {
      const metric = name === 'leader_election_slowpath_total' ? 'slowPath' : 'failures';
      const counter = { inc: () => post({ type: 'count', metric }) };
      return { ...counter, with: () => counter, remove: () => undefined };
    },
  };
}

/** Runs the elector to its end, and tells lost leadership from failures. */
async function outcomeOf(elector: Elector, signal: AbortSignal): Promise<FromWorker> {
  try {
    await elector.run(signal);
    return { type: 'done', lost: undefined, failure: undefined };
  } catch (error) {
    const isLost = error instanceof LeadershipLostError;
    return {
      type: 'done',
      lost: isLost ? toFailure(error.cause ?? error) : undefined,
      failure: isLost || error instanceof WorkFailed ? undefined : toFailure(error),
    };
  }
}

async function importLockModule(url: string | undefined): Promise<LockModule> {
  if (url === undefined)
    throw new TypeError('the thread has no createLock: set lockModule, or give it to runElectionThread');
  return (await import(url)) as LockModule;
}
