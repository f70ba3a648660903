import type { ApiServer } from '@kctl/apiserver';
import type { Connection, HttpClient } from '@kctl/client-http';
import type { Logger, Tracer } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';

/** Options of an operator that replace the machine it runs on. */
export interface WorldOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Errors that are logged show up in the timeline. */
  readonly logger: Logger;
  /** Reports to the world which reconcile runs; without it the rules about single reconciles see nothing. */
  readonly tracer: Tracer;
}

/** Environment of one replica of the operator, from its start to its end. */
export interface ReplicaWorld extends WorldOptions {
  /** `replica-1`, … */
  readonly name: string;
  /** How often this replica was started, from 1. */
  readonly incarnation: number;
  /** In place of `Math.random`. */
  readonly random: Random;
  /** Reports that a rule of the test itself is broken. */
  violate(rule: string, message: string, object?: string): void;
  /** Options for `createManager`, to be spread, as in `createManager({ ...world.options, … })`. */
  readonly options: WorldOptions;
}

/** A webhook of an operator; a handler of @kctl/webhook is one. */
export interface SimulatedWebhook {
  /** Answers a review. */
  handle(request: {
    readonly path: string;
    readonly body: unknown;
    readonly signal: AbortSignal;
    readonly logger: Logger;
  }): Promise<{ readonly code?: number; readonly body: unknown }>;
}

/** The operator, as far as the world needs it; a manager is one. */
export interface Operator {
  /** Runs until the signal is aborted and everything has ended. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Compared with the server when everything is quiet, if set and if it lists its informers. */
  readonly cache?: unknown;
  /** Used to read objects that the replica has just written, if set, because reads must not go back. */
  readonly client?: unknown;
  /** Whether it reports that it leads, which no two may. */
  readonly isLeader?: boolean;
  /**
   * Webhooks by path, `manager.webhookServer.webhooks` for example. The server calls them if configurations name them,
   * whatever Service or host they name, without TLS. Give the manager `webhook: { port: -1 }`, so that none listens.
   */
  readonly webhooks?: ReadonlyMap<string, SimulatedWebhook> | undefined;
  /** Closed when the replica crashes, so that nothing real outlives it. */
  readonly metrics?: unknown;
}

/** A replica, seen from outside. */
export interface Replica {
  readonly name: string;
  readonly isAlive: boolean;
  /** The operator that runs; undefined while the replica is down. */
  readonly operator: Operator | undefined;
}

/** The world, as a test sees it, through a user of the cluster with a network that never fails. */
export interface World {
  readonly seed: number;
  /** Reads and writes as an administrator. */
  readonly client: HttpClient;
  readonly connection: Connection;
  readonly clock: Clock;
  /** The workload's randomness, which is the same whatever faults there are. */
  readonly random: Random;
  readonly server: ApiServer;
  readonly replicas: readonly Replica[];
  /** Waits in virtual time. */
  sleep(ms: number): Promise<void>;
  /** Reports that a rule of the test itself is broken. */
  violate(rule: string, message: string, object?: string): void;
  /** Notes a step in the timeline. */
  note(what: string, object?: string): void;
}
