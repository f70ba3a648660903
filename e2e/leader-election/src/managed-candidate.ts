import type { Connection } from '@kctl/client-http';
import { createHttpClient } from '@kctl/client-http';
import { createCache } from '@kctl/cache';
import { createLeaderElector, createLeaseLock, fencedClient, type Fence } from '@kctl/leader-election';
import { createCluster, createManager as createBareManager, isStopTimeoutError } from '@kctl/manager';
import { createManager } from '@kctl/runtime';
import { noopLogger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { loggedLock } from './logged-lock.js';
import type { LeaderWork } from './leader-work.js';
import type { CandidateSettings, LogEntry } from './protocol.js';

/** What a candidate is run by. */
export interface Competitor {
  readonly isLeader: boolean;
  /** Resolves when it has stopped, also where work is left. */
  run(signal: AbortSignal): Promise<void>;
  stepDown(): void;
}

interface ManagedParts {
  readonly settings: CandidateSettings;
  readonly connection: Connection;
  readonly work: LeaderWork;
  readonly clock: Clock;
  readonly log: (entry: LogEntry) => void;
}

const noStepDown = (): never => {
  throw new Error('a manager does not step down');
};

/** A manager whose one leader runnable is the work: as users make it, or put together by hand. */
export async function createManaged(parts: ManagedParts): Promise<Competitor> {
  const manager = parts.settings.program === 'facade' ? await makeFacade(parts) : makeBare(parts);
  return {
    get isLeader() {
      return manager.isLeader;
    },
    run: async (signal) => {
      try {
        await manager.run(signal);
      } catch (error) {
        if (!isStopTimeoutError(error)) throw error; // which the harness has asked for
      }
    },
    stepDown: noStepDown,
  };
}

async function makeFacade({ settings, connection, work, clock, log }: ManagedParts) {
  const { namespace, identity, durations, graceMs } = settings;
  const manager = await createManager({
    connection,
    logger: noopLogger,
    clock,
    gracefulShutdownTimeoutMs: graceMs,
    leaderElection: {
      ...durations,
      name: 'election',
      namespace,
      identity,
      onLost: 'rejoin',
      newLock: ({ lease, client }) => loggedLock(createLeaseLock({ ...lease, client }), log),
    },
  });
  manager.add({
    name: 'work',
    run: (signal) => work.run(signal, { client: manager.client, check: () => signal.throwIfAborted() }),
  });
  return manager;
}

function makeBare({ settings, connection, work, clock, log }: ManagedParts) {
  const { namespace, identity, durations, graceMs } = settings;
  const client = createHttpClient({ connection, requestTimeoutMs: 5_000 });
  const electionClient = createHttpClient({ connection, requestTimeoutMs: durations.renewDeadlineMs / 2 });
  let fence: Fence | undefined;
  const manager = createBareManager({
    cluster: createCluster({ client, apiReader: client, cache: createCache({ client }) }),
    clock,
    gracefulShutdownTimeoutMs: graceMs,
    leaderElection: {
      onLost: 'rejoin',
      newElector: ({ lead, reelect }) =>
        createLeaderElector({
          ...durations,
          reelect,
          clock,
          lock: loggedLock(createLeaseLock({ client: electionClient, namespace, name: 'election', identity }), log),
          callbacks: {
            onStartedLeading: (signal, own) => {
              fence = own;
              return lead(signal);
            },
          },
        }),
    },
  });
  manager.add({
    name: 'work',
    run: (signal) => {
      const own = fence;
      if (own === undefined) throw new Error('the work was started without a term');
      return work.run(signal, { client: fencedClient(client, own), check: () => own.check() });
    },
  });
  return manager;
}
