import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll } from 'vitest';
import { resourceLockConformance } from '../src/conformance/index.js';
import { createLeaseLock } from '../src/index.js';

let environment: TestEnvironment;
let fixtures = 0;

beforeAll(async () => {
  environment = await createEnvironment();
});

afterAll(async () => {
  await environment.stop();
});

resourceLockConformance('Lease on a server, over HTTP', () => {
  const name = `lease-${++fixtures}`;
  return {
    lock: (identity) => createLeaseLock({ client: environment.client, namespace: 'default', name, identity }),
  };
});
