/** The lock of a candidate whose worker thread renews: made inside the thread, with a connection of its own. */
import { createHttpClient, type Connection } from '@kctl/client-http';
import { createLeaseLock, type ResourceLock } from '@kctl/leader-election';

interface LockData {
  readonly connection: Connection;
  readonly namespace: string;
  readonly identity: string;
  readonly requestTimeoutMs: number;
}

export function createLock({ connection, namespace, identity, requestTimeoutMs }: LockData): ResourceLock {
  const client = createHttpClient({ connection, requestTimeoutMs });
  return createLeaseLock({ client, namespace, name: 'election', identity });
}
