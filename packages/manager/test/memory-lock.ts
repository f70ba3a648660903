import { StatusError } from '@kctl/apimachinery';
import type { LeaderElectionRecord, ObservedRecord, ResourceLock } from '@kctl/leader-election';

/** One record in memory that candidates compete for, with a server's optimistic concurrency. */
export class MemoryLease {
  record: LeaderElectionRecord | undefined;
  /** Thrown by every request while it is set. */
  outage: Error | undefined;
  #version = 0;

  get holder(): string {
    return this.record?.holderIdentity ?? '';
  }

  /** Writes past all candidates, as `kubectl edit` would. */
  overwrite(record: LeaderElectionRecord): void {
    this.record = record;
    this.#version++;
  }

  lock(identity: string): ResourceLock {
    let seen = -1;
    const observe = (record: LeaderElectionRecord): ObservedRecord => {
      seen = this.#version;
      return { record, fingerprint: JSON.stringify(record) };
    };
    const reach = async (): Promise<void> => {
      await Promise.resolve();
      if (this.outage !== undefined) throw this.outage;
    };
    return {
      identity,
      description: 'lease default/test',
      get: async () => {
        await reach();
        return this.record === undefined ? undefined : observe(this.record);
      },
      create: async (record) => {
        await reach();
        if (this.record !== undefined) throw new StatusError({ reason: 'AlreadyExists', code: 409 });
        this.overwrite(record);
        return observe(record);
      },
      update: async (record) => {
        await reach();
        if (seen !== this.#version) throw new StatusError({ reason: 'Conflict', code: 409 });
        this.overwrite(record);
        return observe(record);
      },
    };
  }
}
