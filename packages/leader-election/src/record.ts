import { shownValue } from '@kctl/options';

/** The election record in the lock object. Mirrors `resourcelock.LeaderElectionRecord`. */
export interface LeaderElectionRecord {
  /** Who holds the lock; '' after a release. */
  readonly holderIdentity: string;
  /** How long others must leave the lock alone after they last saw it change, in whole seconds. */
  readonly leaseDurationSeconds: number;
  /** When the holder got the lock: RFC 3339 with microseconds. For people; never compared with a clock. */
  readonly acquireTime: string;
  /** When the holder last renewed: RFC 3339 with microseconds. For people; never compared with a clock. */
  readonly renewTime: string;
  /** How often the holder changed. */
  readonly leaderTransitions: number;
  /** The strategy that chose the holder, set by coordinated election. */
  readonly strategy?: string;
  /** The candidate that should take over, set by coordinated election; the holder lets its lease lapse. */
  readonly preferredHolder?: string;
}

/** A record together with the version it was read at. */
export interface ObservedRecord {
  readonly record: LeaderElectionRecord;
  /** Changes whenever anything in the record changes, for comparison by observers. */
  readonly fingerprint: string;
}

/** Options of every lock request. */
export interface LockRequestOptions {
  readonly signal?: AbortSignal;
}

/**
 * The object that candidates compete for. Implementations do optimistic concurrency, that is, an `update` that is not
 * based on the version last seen by this lock fails. Mirrors `resourcelock.Interface`.
 */
export interface ResourceLock {
  /** Who this candidate is. Two candidates must never share an identity. */
  readonly identity: string;
  /** For logs: `lease default/my-operator`. */
  readonly description: string;
  /** The current record, undefined when the object does not exist. */
  get(options?: LockRequestOptions): Promise<ObservedRecord | undefined>;
  /** Makes the object. Rejects when another process was first. */
  create(record: LeaderElectionRecord, options?: LockRequestOptions): Promise<ObservedRecord>;
  /** Writes over the version last read or written through this lock. Rejects on a conflict. */
  update(record: LeaderElectionRecord, options?: LockRequestOptions): Promise<ObservedRecord>;
}

/** RFC 3339 with microseconds, as the API server writes `MicroTime`. `micros` (0–999) are those below the ms. */
export function formatMicroTime(epochMs: number, micros = 0): string {
  if (typeof epochMs !== 'number' || !(Math.abs(epochMs) <= 8.64e15))
    throw new TypeError(`formatMicroTime: ${shownValue(epochMs)} is not a time: expected ms since 1970`);
  return new Date(epochMs).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}
