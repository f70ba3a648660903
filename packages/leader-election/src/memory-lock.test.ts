import { expect, it } from 'vitest';
import { resourceLockConformance } from './conformance/index.js';
import { createMemoryLocks } from './memory-lock.js';

resourceLockConformance('in memory', () => {
  const locks = createMemoryLocks();
  return { lock: (identity) => locks.lock(identity) };
});

it('shows the record, and refuses candidates without identity', async () => {
  const locks = createMemoryLocks();
  expect(locks.record).toBeUndefined();
  const record = {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '',
    renewTime: '',
    leaderTransitions: 0,
  };
  await locks.lock('a').create(record);
  expect(locks.record).toEqual(record);
  expect(() => locks.lock('')).toThrow('identity must not be empty');
});
