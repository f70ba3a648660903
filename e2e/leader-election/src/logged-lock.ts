import type { ObservedRecord, ResourceLock } from '@kctl/leader-election';
import { sharedNow, type LockVerb, type LogEntry } from './protocol.js';

/** A lock that writes down what it was told and when: the harness asks it what a candidate knew. */
export function loggedLock(lock: ResourceLock, log: (entry: LogEntry) => void): ResourceLock {
  const logged = async <T extends ObservedRecord | undefined>(verb: LockVerb, ask: () => Promise<T>): Promise<T> => {
    const sentAt = sharedNow();
    try {
      const observed = await ask();
      log({ what: 'observed', at: sharedNow(), verb, holder: observed?.record.holderIdentity });
      return observed;
    } catch (error) {
      const at = sharedNow();
      log({ what: 'unanswered', at, verb, tookMs: at - sentAt, error: String(error) });
      throw error;
    }
  };
  return {
    identity: lock.identity,
    description: lock.description,
    get: (options) => logged('get', () => lock.get(options)),
    create: (record, options) => logged('create', () => lock.create(record, options)),
    update: (record, options) => logged('update', () => lock.update(record, options)),
  };
}
