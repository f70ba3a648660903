import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@kctl/client';
import { createHttpClient, defaultUserAgent, type Connection } from '@kctl/client-http';
import type { EventBroadcaster } from '@kctl/events';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  fencedClient,
  NotLeaderError,
  type Fence,
  type LeaderElector,
  type LeaderElectorOptions,
} from '@kctl/leader-election';
import type { LeaderElectionOptions } from '@kctl/manager';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { createElectionEvents } from './election-events.js';
import type { RuntimeLeaderElectionOptions } from './runtime-options.js';
import type { WorkerLockData } from './worker-lock.js';

/** The election of a manager, and the fence that follows from it. */
export interface Leadership {
  readonly options: LeaderElectionOptions;
  /**
   * The client whose writes are refused from the moment at which the lease that they depend on is lost (or was given
   * up). For leader runnables that is the lease of their scope, for all others the main one; before that is won their
   * writes pass: runnables that need no leadership may write.
   */
  fence(client: Client): Client;
  /** Closes the connections that elections use. */
  dispose(): Promise<void>;
}

/** What {@link createLeadership} works with. */
export interface LeadershipParts {
  readonly connection: Connection;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Where the Lease is told who leads. */
  readonly events: Pick<EventBroadcaster, 'recorder'>;
  /** Of the manager's other requests. */
  readonly userAgent?: string | undefined;
}

/** What differs between the electors of a manager. */
type ElectorParts = Pick<LeaderElectorOptions, 'callbacks' | 'reelect' | 'logger' | 'metrics'>;

/** How requests of an election are sent. Mirrors `resourcelock.NewFromKubeconfig`. */
export function electionRequests(
  renewDeadlineMs = 10_000,
  userAgent: string = defaultUserAgent(),
): WorkerLockData['request'] {
  const half = Number.isFinite(renewDeadlineMs) ? renewDeadlineMs / 2 : 0; // one that is no number is refused by name, later
  return { userAgent: `${userAgent}/leader-election`, requestTimeoutMs: Math.max(1_000, half) };
}

/** Makes electors over a client of their own: their requests never wait behind others, and give up in time. */
export function createLeadership(
  options: RuntimeLeaderElectionOptions,
  { connection, logger, metrics, clock, events, userAgent }: LeadershipParts,
): Leadership {
  const { name, onLost, rejoinTimeoutMs, labels, leaseDurationMs, renewDeadlineMs, retryPeriodMs, releaseOnCancel } =
    options;
  const { mainStallLimitMs } = options;
  const namespace = options.namespace ?? connection.namespace;
  if (namespace === undefined)
    throw new TypeError(
      'unable to find leader election namespace: not running in-cluster, please specify leaderElection.namespace',
    );
  if (name === '') throw new TypeError('leaderElection.name must be configured');
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const request = electionRequests(renewDeadlineMs, userAgent);
  const inWorker = checkRenewIn(options, connection);
  const client = createHttpClient({ ...request, connection, logger, clock });
  /** Whose term the running code belongs to. */
  const terms = new AsyncLocalStorage<Fence>();
  let main: LeaderElector | undefined;
  let hasLed = false;
  const durations = {
    ...(leaseDurationMs === undefined ? {} : { leaseDurationMs }),
    ...(renewDeadlineMs === undefined ? {} : { renewDeadlineMs }),
    ...(retryPeriodMs === undefined ? {} : { retryPeriodMs }),
    ...(releaseOnCancel === undefined ? {} : { releaseOnCancel }),
  };
  const stallLimit = mainStallLimitMs === undefined ? {} : { mainStallLimitMs };
  const makeElector = (lease: WorkerLockData['lease'], more: ElectorParts): LeaderElector => {
    const common = { ...durations, ...more, name: lease.name };
    const lockData: WorkerLockData = { connection, request, lease };
    return inWorker
      ? createWorkerLeaderElector({ ...common, ...stallLimit, lockModule: workerLockModule(), lockData })
      : createLeaderElector({ ...common, clock, lock: createLeaseLock({ ...lease, client }) });
  };
  const leaseOf = (leaseName: string): WorkerLockData['lease'] => ({
    namespace,
    name: leaseName,
    identity,
    ...(labels === undefined ? {} : { labels }),
  });
  // Electors are made when the manager runs. What is wrong with their options is told now; one that never runs does nothing.
  makeElector(leaseOf(name), { callbacks: { onStartedLeading: () => undefined } });
  const recorder = events.recorder('leader-election', identity.slice(0, 128));
  return {
    options: {
      ...(onLost === undefined ? {} : { onLost }),
      ...(rejoinTimeoutMs === undefined ? {} : { rejoinTimeoutMs }),
      newElector: ({ scope, lead, reelect }) => {
        const leaseName = scope === '' ? name : `${name}-${scope}`;
        const lease = leaseOf(leaseName);
        const told = createElectionEvents({ client, recorder, lease });
        const onStartedLeading = (signal: AbortSignal, fence: Fence): Promise<void> => {
          if (scope === '') hasLed = true;
          told.becameLeader();
          return terms.run(fence, () => lead(signal));
        };
        const onStoppedLeading = ({ led }: { readonly led: boolean }): void => {
          if (led) told.stoppedLeading();
        };
        const callbacks = { onStartedLeading, onStoppedLeading };
        const elector = makeElector(lease, { reelect, callbacks, logger, metrics });
        if (scope === '') main = elector;
        return elector;
      },
    },
    fence: (inner) => {
      const others = fenceOf({ name, elector: () => main, hasLed: () => hasLed });
      return fencedClient(inner, () => terms.getStore() ?? others);
    },
    dispose: async () => {
      await client[Symbol.asyncDispose]();
    },
  };
}

/** Whether a thread renews. @throws TypeError when that cannot be */
function checkRenewIn({ renewIn, mainStallLimitMs }: RuntimeLeaderElectionOptions, { user }: Connection): boolean {
  if (renewIn !== 'worker') {
    if (mainStallLimitMs !== undefined)
      throw new TypeError("leaderElection.mainStallLimitMs needs leaderElection.renewIn: 'worker'");
    return false;
  }
  if (user?.provider !== undefined)
    throw new TypeError(
      "leaderElection.renewIn: 'worker' needs credentials that a thread can use by itself, but connection.user.provider is a function of this one: use a token file, an exec plugin or a certificate",
    );
  return true;
}

/** Built, this file is part of a chunk at the root of `dist`. */
function workerLockModule(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker-lock.ts' : './worker-lock.js', import.meta.url);
}

function fenceOf({
  name,
  elector,
  hasLed,
}: {
  readonly name: string;
  readonly elector: () => LeaderElector | undefined;
  readonly hasLed: () => boolean;
}): Fence {
  const isOpen = (): boolean => !hasLed() || elector()?.isLeader === true;
  return {
    get isOpen(): boolean {
      return isOpen();
    },
    get signal(): AbortSignal | undefined {
      return elector()?.fence.signal;
    },
    check: () => {
      if (!isOpen()) throw new NotLeaderError(`lease ${name}`);
    },
  };
}
