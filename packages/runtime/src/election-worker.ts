/**
 * The thread of `leaderElection.renewIn: 'worker'`, complete in one module. Competes for the Lease over dedicated
 * connections. A bundle contains it; if that is not wanted, make it an entry point called `election-worker`.
 *
 * @packageDocumentation
 */
import { runElectionThread } from '@kctl/leader-election/election-thread';
import { createLock, type WorkerLockData } from './worker-lock.js';

void runElectionThread((data) => createLock(data as WorkerLockData));
