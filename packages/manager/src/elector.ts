/** What an {@link ElectorFactory} is given. */
export interface ElectorRequest {
  /** '' for the manager's own lease. */
  readonly scope: string;
  /**
   * To be called each time the lease is won, with a signal that is aborted when it is lost or given up. The lease must
   * be kept while the returned promise is pending, and may be released only after it has settled.
   */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** Whether to compete again after a loss, instead of rejecting. */
  readonly reelect: boolean;
}

/** What the manager needs of leader election; a `LeaderElector` of @kctl/leader-election is one. */
export interface Elector {
  /**
   * Competes until `signal` is aborted; resolves when the work has ended and the lease was given up. Rejects when the
   * lease was lost (without `reelect`), or when it cannot compete at all.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Throws when the lease should have been renewed and was not. */
  checkHealth?(): void;
}

/**
 * Makes the elector of a scope, e.g. `({ lead, reelect }) => createLeaderElector({ lock, reelect, callbacks: {
 * onStartedLeading: lead } })`. Called before anything starts, so that a mistake in its options is the first thing seen.
 */
export type ElectorFactory = (request: ElectorRequest) => Elector;

/** Leader election of a manager. */
export interface LeaderElectionOptions {
  readonly newElector: ElectorFactory;
  /**
   * What a lost lease leads to. `exit`: `run` rejects with LeaderElectionLostError without waiting for anybody, and the
   * process should exit. `rejoin`: the leader runnables are stopped, and all of them (also those that had finished) started again when the
   * lease is won again; if they do not stop within `rejoinTimeoutMs`, the manager ends as with `exit`.
   *
   * @default 'exit'
   */
  readonly onLost?: 'exit' | 'rejoin';
  /** How long leader runnables may take to stop after a loss, in ms. @default 10000 */
  readonly rejoinTimeoutMs?: number;
}
