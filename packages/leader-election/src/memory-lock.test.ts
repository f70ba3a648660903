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
  for (const identity of ['', undefined, 5])
    expect(() => locks.lock(identity as never)).toThrow('lock: identity must not be empty');
});

it.each([false, true])('refuses an update of what it has not seen, although it has looked: %s', async (hasLooked) => {
  const locks = createMemoryLocks();
  const lock = locks.lock('a');
  if (hasLooked) expect(await lock.get()).toBeUndefined();
  const record = {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '',
    renewTime: '',
    leaderTransitions: 0,
  };
  await expect(lock.update(record)).rejects.toThrow('update before get or create');
  expect(locks.record).toBeUndefined();
});
