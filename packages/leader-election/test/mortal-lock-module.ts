/** A lock in memory whose thread dies at its first renewal. */
import type { LeaderElectionRecord, ObservedRecord, ResourceLock } from '../src/index.js';

export function createLock(): ResourceLock {
  let held: LeaderElectionRecord | undefined;
  const hold = async (record: LeaderElectionRecord): Promise<ObservedRecord> => {
    held = record;
    return { record, fingerprint: JSON.stringify(record) };
  };
  return {
    identity: 'mortal',
    description: 'lock in memory',
    get: async () => (held === undefined ? undefined : { record: held, fingerprint: JSON.stringify(held) }),
    create: hold,
    update: (record) => {
      setImmediate(() => {
        throw new Error('a bug in the thread');
      });
      return hold(record);
    },
  };
}
