import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@kctl/client';
import { createHttpClient, type Connection } from '@kctl/client-http';
import { defaultUserAgent } from '@kctl/client-http/internal';
import type { EventBroadcaster } from '@kctl/events';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  fencedClient,
  type Fence,
  type LeaderElector,
  type LeaderElectorOptions,
} from '@kctl/leader-election';
import type { LeaderElectionOptions } from '@kctl/manager';
import type { Logger, Metrics } from '@kctl/telemetry';
import { optionProblems, textOption } from '@kctl/options';
import { type Clock } from '@kctl/wait';
import { electionNeeds } from './access-needs.js';
import { withCandidate } from './coordinated-elector.js';
import { createElectionEvents } from './election-events.js';
import { OutsideFence } from './outside-fence.js';
import type { ElectionLease, RuntimeLeaderElectionOptions } from './runtime-options.js';
import { findThreadModule } from './thread-module.js';
import type { WorkerLockData } from './worker-lock.js';

/** The election of a manager, and the fence that follows from it. */
export interface Leadership {
  /** Namespace and name of the manager's lease. */
  readonly lease: Pick<ElectionLease, 'namespace' | 'name'>;
  readonly options: LeaderElectionOptions;
  /**
   * The client whose writes are refused from the moment at which the lease that they depend on is lost (or was given
   * up). For the code of leader runnables, recognized by its async context, that is the lease of their scope, in the
   * term in which they were started. All other code is not fenced, except at the end of the manager, see
   * {@link OutsideFence}.
   */
  fence(client: Client): Client;
  /** Refuses all writes from now on, and closes the connections that elections use. */
  dispose(): Promise<void>;
}

/** Dependencies of {@link createLeadership}. */
export interface LeadershipParts {
  readonly connection: Connection;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Records changes of leadership. */
  readonly events: Pick<EventBroadcaster, 'recorder'>;
  /** Of the manager's other requests. */
  readonly userAgent?: string | undefined;
}

/** Options that differ between the electors of a manager. */
type ElectorParts = Pick<LeaderElectorOptions, 'callbacks' | 'reelect' | 'logger' | 'metrics'>;

/** Every option, complete by type, so that none can be forgotten here. */
const optionNames = {
  name: true,
  namespace: true,
  identity: true,
  onLost: true,
  rejoinTimeoutMs: true,
  leaseDurationMs: true,
  renewDeadlineMs: true,
  retryPeriodMs: true,
  releaseOnCancel: true,
  renewIn: true,
  mainStallLimitMs: true,
  labels: true,
  connection: true,
  newLock: true,
  coordinated: true,
} satisfies Record<keyof RuntimeLeaderElectionOptions, true>;

/** How requests of an election are sent. Mirrors `resourcelock.NewFromKubeconfig`. */
export function electionRequests(
  renewDeadlineMs = 10_000,
  userAgent: string = defaultUserAgent(),
): WorkerLockData['request'] {
  const half = Number.isFinite(renewDeadlineMs) ? renewDeadlineMs / 2 : 0; // one that is no number is refused by name, later
  return { userAgent: `${userAgent}/leader-election`, requestTimeoutMs: Math.max(1_000, half) };
}

/** Makes electors over a dedicated client, whose requests never wait behind others and give up in time. */
export function createLeadership(
  options: RuntimeLeaderElectionOptions,
  { connection: ofManager, logger, metrics, clock, events, userAgent }: LeadershipParts,
): Leadership {
  const { onLost = 'rejoin-after-outage', rejoinTimeoutMs, coordinated, newLock, connection = ofManager } = options;
  const { name, namespace, identity, labels } = checkLease(options, connection);
  checkCandidate(coordinated);
  const request = electionRequests(options.renewDeadlineMs, userAgent);
  const inWorker = checkRenewIn(options, connection);
  const client = createHttpClient({ ...request, connection, logger, clock });
  const durations = pickDurations(options);
  /** Whose term the running code belongs to. */
  const terms = new AsyncLocalStorage<Fence>();
  const outside = new OutsideFence(`lease ${name}`, onLost);
  const makeElector = (lease: ElectionLease, more: ElectorParts): LeaderElector => {
    const common = { ...durations, ...more, name: lease.name, coordinated: coordinated !== undefined };
    if (inWorker) {
      const { mainStallLimitMs } = options;
      const stallLimit = mainStallLimitMs === undefined ? {} : { mainStallLimitMs };
      // A thread cannot be given a function.
      const { observe: _observe, ...portable } = connection;
      const lockData: WorkerLockData = { connection: portable, request, lease };
      return createWorkerLeaderElector({ ...common, ...stallLimit, threadModule: findThreadModule, lockData });
    }
    const lock = newLock?.({ lease, client }) ?? createLeaseLock({ ...lease, client });
    return createLeaderElector({ ...common, clock, lock });
  };
  const leaseOf = (leaseName: string): ElectionLease => ({
    namespace,
    name: leaseName,
    identity,
    ...(labels === undefined ? {} : { labels }),
  });
  const leaseIn = (scope: string): ElectionLease => leaseOf(scope === '' ? name : `${name}-${scope}`);
  // Electors are made when the manager runs. Problems of their options are reported now; one that never runs does
  // nothing.
  makeElector(leaseOf(name), { callbacks: { onStartedLeading: () => undefined } });
  const recorder = events.recorder('leader-election', identity.slice(0, 128));
  return {
    lease: { namespace, name },
    options: {
      onLost,
      ...(rejoinTimeoutMs === undefined ? {} : { rejoinTimeoutMs }),
      accessNeeds: (scope) => electionNeeds(leaseIn(scope), { coordinated: coordinated !== undefined, newLock }),
      newElector: ({ scope, lead, reelect }) => {
        const lease = leaseIn(scope);
        const told = createElectionEvents({ client, recorder, lease });
        const onStartedLeading = (signal: AbortSignal, fence: Fence): Promise<void> => {
          if (scope === '') outside.began(signal);
          told.becameLeader();
          return terms.run(fence, () => lead(signal));
        };
        const onStoppedLeading = ({ led }: { readonly led: boolean }): void => {
          if (led) told.stoppedLeading();
        };
        const callbacks = { onStartedLeading, onStoppedLeading };
        const elector = makeElector(lease, { reelect, callbacks, logger, metrics });
        if (scope === '') outside.elector = elector;
        if (coordinated === undefined) return elector;
        return withCandidate(elector, {
          ...coordinated,
          client,
          namespace,
          identity,
          leaseName: lease.name,
          clock,
          logger,
        });
      },
    },
    fence: (inner) => fencedClient(inner, () => terms.getStore() ?? outside),
    dispose: async () => {
      outside.close();
      await client[Symbol.asyncDispose]();
    },
  };
}

/**
 * Namespace and name of the Lease, and the identity that competes for it. @throws TypeError naming the option that is
 * missing or not known
 */
function checkLease(options: RuntimeLeaderElectionOptions, connection: Connection): ElectionLease {
  const problems = optionProblems(options, optionNames, 'leaderElection');
  if (problems.length > 0) throw new TypeError(`createManager: ${problems.join('; ')}`);
  const { name, namespace = connection.namespace, labels } = options;
  const given: unknown = name;
  if (typeof given !== 'string' || given === '')
    throw new TypeError('leaderElection.name must be configured: the name of the Lease, one for all replicas');
  if (namespace === undefined || namespace === '')
    throw new TypeError(
      'unable to find leader election namespace: not running in-cluster, please specify leaderElection.namespace',
    );
  // The identity of a coordinated election is the name of an object.
  const unique = options.coordinated === undefined ? `${hostname()}_${randomUUID()}` : candidateName();
  const { identity = unique } = options;
  return { namespace, name, identity, ...(labels === undefined ? {} : { labels }) };
}

/** @throws TypeError naming what the candidate of a coordinated election lacks */
function checkCandidate(coordinated: RuntimeLeaderElectionOptions['coordinated']): void {
  if (coordinated === undefined) return;
  const problems = optionProblems(
    coordinated,
    { binaryVersion: textOption, emulationVersion: textOption, strategy: textOption },
    'leaderElection.coordinated',
  );
  const version: unknown = problems.length === 0 ? coordinated.binaryVersion : 'not looked at';
  if (version === undefined || version === '')
    problems.push(
      'leaderElection.coordinated.binaryVersion is not set: expected the version of this program, such as "1.4.0"',
    );
  if (problems.length > 0) throw new TypeError(`createManager: ${problems.join('; ')}`);
}

function candidateName(): string {
  return `${hostname().toLowerCase()}-${randomUUID()}`;
}

function pickDurations({
  leaseDurationMs,
  renewDeadlineMs,
  retryPeriodMs,
  releaseOnCancel,
}: RuntimeLeaderElectionOptions): Partial<LeaderElectorOptions> {
  return {
    ...(leaseDurationMs === undefined ? {} : { leaseDurationMs }),
    ...(renewDeadlineMs === undefined ? {} : { renewDeadlineMs }),
    ...(retryPeriodMs === undefined ? {} : { retryPeriodMs }),
    ...(releaseOnCancel === undefined ? {} : { releaseOnCancel }),
  };
}

/** Whether a thread renews. @throws TypeError when that cannot be */
function checkRenewIn(
  { renewIn, mainStallLimitMs, newLock }: RuntimeLeaderElectionOptions,
  { user, newDispatcher }: Connection,
): boolean {
  if (renewIn !== 'worker') {
    if (mainStallLimitMs !== undefined)
      throw new TypeError("leaderElection.mainStallLimitMs needs leaderElection.renewIn: 'worker'");
    return false;
  }
  if (newLock !== undefined)
    throw new TypeError(
      "leaderElection.newLock is a function of this thread: leave it out with leaderElection.renewIn: 'worker', or use createWorkerLeaderElector of @kctl/leader-election with a lockModule",
    );
  if (newDispatcher !== undefined)
    throw new TypeError(
      "leaderElection.renewIn: 'worker' needs a connection that a thread can make by itself, but connection.newDispatcher is a function of this one: leave it out, or renew in 'main'",
    );
  if (user?.provider !== undefined)
    throw new TypeError(
      "leaderElection.renewIn: 'worker' needs credentials that a thread can use by itself, but connection.user.provider is a function of this one: use a token file, an exec plugin or a certificate",
    );
  return true;
}
