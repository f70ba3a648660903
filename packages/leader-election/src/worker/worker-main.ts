/**
 * The thread that competes for the lock while the main thread works.
 *
 * @packageDocumentation
 */
import { runElectionThread } from './election-thread.js';

await runElectionThread();
