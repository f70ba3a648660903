/** A lock for the worker's tests: a Lease over HTTP. */
import { createHttpClient, type Connection } from '@kctl/client-http';
import { createLeaseLock, type ResourceLock } from '../src/index.js';

interface Data {
  readonly connection: Connection;
  readonly namespace: string;
  readonly identity: string;
}

export function createLock({ connection, namespace, identity }: Data): ResourceLock {
  return createLeaseLock({ client: createHttpClient({ connection }), namespace, name: 'worker', identity });
}
