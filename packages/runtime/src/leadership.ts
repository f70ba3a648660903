import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@kctl/client';
import { createHttpClient, type Connection } from '@kctl/client-http';
import {
  createLeaderElector,
  createLeaseLock,
  fencedClient,
  NotLeaderError,
  type Fence,
  type LeaderElector,
} from '@kctl/leader-election';
import type { LeaderElectionOptions } from '@kctl/manager';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { RuntimeLeaderElectionOptions } from './runtime-options.js';

/** The election of a manager, and the fence that follows from it. */
export interface Leadership {
  readonly options: LeaderElectionOptions;
  /**
   * The client whose writes are refused from the moment at which the main lease is lost (or was given up). Before it
   * is won they pass: runnables that need no leadership may write.
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
}

/** Makes electors over a client of their own: their requests never wait behind others, and give up in time. */
export function createLeadership(
  options: RuntimeLeaderElectionOptions,
  { connection, logger, metrics, clock }: LeadershipParts,
): Leadership {
  const { name, onLost, rejoinTimeoutMs, labels, leaseDurationMs, renewDeadlineMs, retryPeriodMs, releaseOnCancel } =
    options;
  const namespace = options.namespace ?? connection.namespace;
  if (namespace === undefined)
    throw new TypeError(
      'unable to find leader election namespace: not running in-cluster, please specify leaderElection.namespace',
    );
  if (name === '') throw new TypeError('leaderElection.name must be configured');
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const client = createHttpClient({
    connection,
    logger,
    clock,
    userAgent: 'kctl/leader-election',
    requestTimeoutMs: Math.max(1_000, (renewDeadlineMs ?? 10_000) / 2),
  });
  let main: LeaderElector | undefined;
  let hasLed = false;
  const durations = {
    ...(leaseDurationMs === undefined ? {} : { leaseDurationMs }),
    ...(renewDeadlineMs === undefined ? {} : { renewDeadlineMs }),
    ...(retryPeriodMs === undefined ? {} : { retryPeriodMs }),
    ...(releaseOnCancel === undefined ? {} : { releaseOnCancel }),
  };
  return {
    options: {
      ...(onLost === undefined ? {} : { onLost }),
      ...(rejoinTimeoutMs === undefined ? {} : { rejoinTimeoutMs }),
      newElector: ({ scope, lead, reelect }) => {
        const leaseName = scope === '' ? name : `${name}-${scope}`;
        const lock = createLeaseLock({
          client,
          namespace,
          name: leaseName,
          identity,
          ...(labels === undefined ? {} : { labels }),
        });
        const onStartedLeading = (signal: AbortSignal): Promise<void> => {
          if (scope === '') hasLed = true;
          return lead(signal);
        };
        const elector = createLeaderElector({
          ...durations,
          lock,
          reelect,
          clock,
          logger,
          metrics,
          name: leaseName,
          callbacks: { onStartedLeading },
        });
        if (scope === '') main = elector;
        return elector;
      },
    },
    fence: (inner) => fencedClient(inner, fenceOf({ name, elector: () => main, hasLed: () => hasLed })),
    dispose: async () => {
      await client[Symbol.asyncDispose]();
    },
  };
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
