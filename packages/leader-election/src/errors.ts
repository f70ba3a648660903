/** Thrown by a leader elector's `run` when it led and could not renew in time, and re-election is off. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  readonly code = 'KCTL_LEADERSHIP_LOST' as const;

  constructor(lock: string, options?: ErrorOptions) {
    super(`leader election lost: ${lock} could not be renewed in time`, options);
  }
}

/**
 * The reason of a term's signal, if no renewal extended the term in time. `cause` is the error of the last request; it
 * is absent after a stall of this process, in which no request was made.
 */
export class LeaseNotRenewedError extends Error {
  override readonly name = 'LeaseNotRenewedError';
  readonly code = 'KCTL_LEASE_NOT_RENEWED' as const;

  constructor(sinceMs: number, renewDeadlineMs: number, cause: unknown) {
    super(
      `no renewal succeeded for ${sinceMs} ms (renewDeadlineMs ${renewDeadlineMs})`,
      cause === undefined ? undefined : { cause },
    );
  }
}

/** Thrown by a fence when protected work is attempted without leadership. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
  readonly code = 'KCTL_NOT_LEADER' as const;

  constructor(lock: string) {
    super(`refused: this process does not hold ${lock}`);
  }
}

/** Whether an error is a {@link LeadershipLostError}, also one of another copy of this package. */
export function isLeadershipLost(error: unknown): error is LeadershipLostError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_LEADERSHIP_LOST';
}

/** Whether an error is a {@link LeaseNotRenewedError}, also one of another copy of this package. */
export function isLeaseNotRenewed(error: unknown): error is LeaseNotRenewedError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_LEASE_NOT_RENEWED';
}

/** Whether an error is a {@link NotLeaderError}, also one of another copy of this package. */
export function isNotLeader(error: unknown): error is NotLeaderError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_NOT_LEADER';
}
