import { StatusError } from '@kctl/apimachinery';
import type { LeaderElectionRecord, LockRequestOptions, ObservedRecord, ResourceLock } from '../src/record.js';

export type LockVerb = 'get' | 'create' | 'update';

/** What happens to one request: on its way to the server, and on its way back. */
export interface LockFaults {
  /** Awaited before the server sees the request; a rejection means that the server never does. */
  readonly before?: (verb: LockVerb, request: LockRequestOptions) => Promise<void>;
  /** Awaited after the server has done its work; a rejection means that the answer is lost. */
  readonly after?: (verb: LockVerb, request: LockRequestOptions) => Promise<void>;
}

/** One record that any number of in-memory locks compete for, with a server's optimistic concurrency. */
export class MemoryLockServer {
  record: LeaderElectionRecord | undefined;
  version = 0;
  /** Every request that reached the server, as `<identity> <verb>`. */
  readonly requests: string[] = [];

  /** Writes past all locks, as `kubectl edit` would. */
  overwrite(record: LeaderElectionRecord | undefined): void {
    this.record = record;
    this.version++;
  }

  lock(identity: string, faults: LockFaults = {}): ResourceLock {
    let seen = -1;
    const exchange = async (
      verb: LockVerb,
      request: LockRequestOptions,
      serve: () => LeaderElectionRecord | undefined,
    ): Promise<ObservedRecord | undefined> => {
      await faults.before?.(verb, request);
      this.requests.push(`${identity} ${verb}`);
      const record = serve();
      const version = this.version;
      await faults.after?.(verb, request);
      seen = version;
      // What people would compare: as in a real Lease, nothing but the record's own content.
      return record === undefined ? undefined : { record, fingerprint: JSON.stringify(record) };
    };
    const written = async (answer: Promise<ObservedRecord | undefined>): Promise<ObservedRecord> => {
      const observed = await answer;
      if (observed === undefined) throw new Error('nothing was written');
      return observed;
    };
    return {
      identity,
      description: 'lease default/test',
      get: (request = {}) => exchange('get', request, () => this.record),
      create: (record, request = {}) =>
        written(
          exchange('create', request, () => {
            if (this.record !== undefined) throw new StatusError({ reason: 'AlreadyExists', code: 409 });
            this.overwrite(record);
            return record;
          }),
        ),
      update: (record, request = {}) => {
        const base = seen;
        return written(
          exchange('update', request, () => {
            if (this.record === undefined) throw new StatusError({ reason: 'NotFound', code: 404 });
            if (base !== this.version) throw new StatusError({ reason: 'Conflict', code: 409 });
            this.overwrite(record);
            return record;
          }),
        );
      },
    };
  }
}
