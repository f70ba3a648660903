import type { ResourceLock } from '../record.js';

/** A lock that is neither taken nor renewed while `isAllowed` returns false; it is read and given back all the same. */
export function guardedLock(lock: ResourceLock, isAllowed: () => boolean): ResourceLock {
  const check = (holderIdentity: string): void => {
    if (holderIdentity !== '' && !isAllowed()) throw new Error('the main thread is stalled: not renewing the lease');
  };
  return {
    identity: lock.identity,
    description: lock.description,
    get: (options) => lock.get(options),
    create: async (record, options) => {
      check(record.holderIdentity);
      return await lock.create(record, options);
    },
    update: async (record, options) => {
      check(record.holderIdentity);
      return await lock.update(record, options);
    },
  };
}
