/** Thrown by a leader elector's `run` when it led and could not renew in time, and re-election is off. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  readonly code = 'KCTL_LEADERSHIP_LOST' as const;

  constructor(lock: string, options?: ErrorOptions) {
    super(`leader election lost: ${lock} could not be renewed in time`, options);
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

/** Whether an error is a {@link NotLeaderError}, also one of another copy of this package. */
export function isNotLeader(error: unknown): error is NotLeaderError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_NOT_LEADER';
}
