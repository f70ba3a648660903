import type { AccessNeed } from '@kctl/rbac';

/** Context of an {@link ElectorFactory}. */
export interface ElectorRequest {
  /** '' for the manager's own lease. */
  readonly scope: string;
  /**
   * To be called each time the lease is won, with a signal that is aborted when it is lost or given up. The promise
   * settles when no work of the leader is left; the lease may be released only then. If that takes too long, leave the
   * lease to expire.
   */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** Whether to compete again after a loss, instead of rejecting. */
  readonly reelect: boolean;
}

/** Requirements of the manager on leader election; a `LeaderElector` of @kctl/leader-election meets them. */
export interface Elector {
  /**
   * Competes until `signal` is aborted; resolves when the work has ended and the lease was given up. Rejects when the
   * lease was lost (without `reelect`), or when it cannot compete at all.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Throws when the lease should have been renewed and was not. */
  checkHealth?(): void;
  /** Whether this candidate leads now, by its clock. @default from the call of `lead` until its signal is aborted */
  readonly isLeader?: boolean;
  /** How long ago the lease was renewed last, in ms. @default not known */
  readonly renewedMsAgo?: number | undefined;
  /**
   * Ends the run without waiting for `lead` and without releasing the lease, which expires. Called with `run`'s signal
   * aborted, when work is left that does not end.
   *
   * @default `run` goes on until the work has ended
   */
  abandon?(): void;
}

/**
 * Makes the elector of a scope, e.g.
 * `({ lead, reelect }) => createLeaderElector({ lock, reelect, callbacks: { onStartedLeading: lead } })`. Called before
 * anything starts, so that a mistake in its options is reported first.
 */
export type ElectorFactory = (request: ElectorRequest) => Elector;

/**
 * Consequence of a lost lease. With `exit`, `run` rejects with LeaderElectionLostError without waiting for anything,
 * and the process should exit. With `rejoin`, the leader runnables are stopped, everything else goes on, and all leader
 * runnables (also those that had finished) are started again when the lease is won again; if they do not stop within
 * `rejoinTimeoutMs`, the manager ends as with `exit`. `rejoin-after-outage` acts as `rejoin` if the lease was lost
 * because requests for it failed (the API server was not reachable, so an exit would not help), otherwise as `exit`
 * (this process stalled, or another holds the lease).
 */
export type OnLost = 'exit' | 'rejoin' | 'rejoin-after-outage';

/** Leader election of a manager. */
export interface LeaderElectionOptions {
  readonly newElector: ElectorFactory;
  /** The rights that the election of a scope needs. @default none are known */
  readonly accessNeeds?: (scope: string) => readonly AccessNeed[];
  /** @default 'exit', as in controller-runtime; @kctl/runtime: 'rejoin-after-outage' */
  readonly onLost?: OnLost;
  /** How long leader runnables may take to stop after a loss, in ms. @default 10000 */
  readonly rejoinTimeoutMs?: number;
}

/**
 * Whether a manager competes again after a loss, by the reason of the lost term's signal. An outage is a
 * LeaseNotRenewedError of @kctl/leader-election with the failed request as its cause, identified by its code, because
 * the manager does not choose the elector.
 */
export function rejoinsAfter(reason: unknown, onLost: OnLost): boolean {
  if (onLost !== 'rejoin-after-outage') return onLost === 'rejoin';
  const isNotRenewed = reason instanceof Error && 'code' in reason && reason.code === 'KCTL_LEASE_NOT_RENEWED';
  return isNotRenewed && reason.cause !== undefined;
}
