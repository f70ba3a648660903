/**
 * Leader election for any async task, with one leader at a time, by a Lease.
 *
 * @packageDocumentation
 */
export {
  isLeadershipLost,
  isLeaseNotRenewed,
  isNotLeader,
  LeadershipLostError,
  LeaseNotRenewedError,
  NotLeaderError,
} from './errors.js';
export type { Fence } from './fence.js';
export { fencedClient } from './fenced-client.js';
export { createLeaderElector } from './leader-elector.js';
export type { LeaderElector, StepDownOptions } from './leader-elector.js';
export { leaderElectionCheck } from './health-check.js';
export { runLeaseCandidate } from './lease-candidate.js';
export type { LeaseCandidateOptions } from './lease-candidate.js';
export { createMemoryLocks } from './memory-lock.js';
export type { MemoryLocks } from './memory-lock.js';
export { createLeaseLock } from './lease-lock.js';
export type { Lease, LeaseClient, LeaseLockOptions } from './lease-lock.js';
export type { LeaderCallbacks, LeaderElectorOptions } from './options.js';
export { createWorkerLeaderElector } from './worker/worker-elector.js';
export type { LockModule } from './worker/protocol.js';
export type { ThreadModule, WorkerLeaderElectorOptions } from './worker/worker-options.js';
export { createAwakeClock } from './awake-clock.js';
export type { AwakeClockOptions } from './awake-clock.js';
export type { LeaderElectionRecord, LockRequestOptions, ObservedRecord, ResourceLock } from './record.js';
