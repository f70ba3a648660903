/** The lock of a candidate whose worker thread renews: made inside the thread, with a connection of its own. */
import { appendFileSync } from 'node:fs';
import { createHttpClient, type Connection } from '@kctl/client-http';
import { createLeaseLock, type ResourceLock } from '@kctl/leader-election';
import { loggedLock } from './logged-lock.js';

interface LockData {
  readonly connection: Connection;
  readonly namespace: string;
  readonly identity: string;
  readonly logFile: string;
  readonly requestTimeoutMs: number;
}

export function createLock({ connection, namespace, identity, logFile, requestTimeoutMs }: LockData): ResourceLock {
  const client = createHttpClient({ connection, requestTimeoutMs });
  const lock = createLeaseLock({ client, namespace, name: 'election', identity });
  return loggedLock(lock, (entry) => appendFileSync(logFile, `${JSON.stringify(entry)}\n`));
}
