/**
 * The lock of an election that is renewed in a worker thread. It is made there, over separate connections.
 *
 * @packageDocumentation
 */
import { createHttpClient, type Connection, type HttpClientOptions } from '@kctl/client-http';
import { createLeaseLock, type LeaseLockOptions, type ResourceLock } from '@kctl/leader-election';

/** Data passed to the thread. */
export interface WorkerLockData {
  readonly connection: Connection;
  readonly request: Pick<HttpClientOptions, 'userAgent' | 'requestTimeoutMs'>;
  readonly lease: Omit<LeaseLockOptions, 'client'>;
}

/** Makes the lock inside the thread. */
export function createLock({ connection, request, lease }: WorkerLockData): ResourceLock {
  return createLeaseLock({ ...lease, client: createHttpClient({ ...request, connection }) });
}
