import type { CausedCommit } from '../caused-commit.js';
import type { Exchange } from '../network/exchange.js';
import type { ReconcileActivity, Scope } from '../scope.js';
import type { ReplicaHost } from '../replica/replica-host.js';

/** Phase of a run, which is starting and working under faults, quiet after convergence, or stopping. */
export type Phase = 'faults' | 'settling' | 'quiet' | 'stopping';

/** A reconcile that ended. */
export interface EndedReconcile {
  readonly scope: Scope;
  readonly reconcile: ReconcileActivity;
  readonly error: unknown;
}

/** Input and output of rules. */
export interface RuleContext {
  /** ms since the world began. */
  readonly now: number;
  /** Grows with each task. Events of one step lie between two turns of the event loop, so no time passes in it. */
  readonly step: number;
  readonly phase: Phase;
  readonly replicas: readonly ReplicaHost[];
  /** ms of the time in which nothing is to happen. */
  readonly quietMs: number;
  /** All live objects, by label. */
  readonly objects: ReadonlyMap<string, CausedCommit>;
  /** Requests and watches of a scope that have not ended. */
  openOf(scope: Scope): ReadonlySet<Exchange>;
  /** How many servers of a scope listen. */
  listenersOf(scope: Scope): number;
  violate(rule: string, message: string, object?: string): void;
}

/** A rule that holds all the time. All its members are called synchronously, while the world stands still. */
export interface Rule {
  /** Names of what it may report. */
  readonly names: readonly string[];
  sending?(exchange: Exchange): void;
  answered?(exchange: Exchange, status: number): void;
  committed?(commit: CausedCommit): void;
  reconcileBegan?(scope: Scope, reconcile: ReconcileActivity): void;
  reconcileEnded?(ended: EndedReconcile): void;
  /** A replica started, or its process ended. */
  replicaChanged?(host: ReplicaHost): void;
  /** A fault that makes some promise void for a while. */
  disturbed?(what: 'lease-edit' | 'clock-jump'): void;
  /** Everything has converged, and the quiet time begins. */
  quietBegan?(): void;
  /** The quiet time is over. */
  quietEnded?(): void;
  /** A replica was stopped, and its run has ended. */
  stopped?(host: ReplicaHost): void;
}
