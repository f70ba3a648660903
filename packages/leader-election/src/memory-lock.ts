import { throwIfAborted } from '@kctl/wait/internal';
import type { LeaderElectionRecord, LockRequestOptions, ObservedRecord, ResourceLock } from './record.js';

/** Locks on one record in memory, for tests, and for candidates of one process. */
export interface MemoryLocks {
  /** The record that the candidates compete for; undefined before the first one. */
  readonly record: LeaderElectionRecord | undefined;
  /** The lock of a candidate. @throws TypeError when the identity is empty */
  lock(identity: string): ResourceLock;
}

/**
 * A record in memory that any number of candidates compete for, with the optimistic concurrency of a Lease, and without
 * server or requests. It elects within one process alone.
 *
 * @example
 * ```ts
 * import { createLeaderElector, createMemoryLocks, type LeaderCallbacks } from '@kctl/leader-election';
 *
 * const locks = createMemoryLocks();
 * const elect = (identity: string, callbacks: LeaderCallbacks): Promise<void> =>
 *   createLeaderElector({ lock: locks.lock(identity), callbacks }).run(signal);
 * ```
 */
export function createMemoryLocks(): MemoryLocks {
  return new SharedRecord();
}

class SharedRecord implements MemoryLocks {
  #record: LeaderElectionRecord | undefined;
  /** Changes with each write. */
  #version = 0;

  get record(): LeaderElectionRecord | undefined {
    return this.#record;
  }

  lock(identity: string): ResourceLock {
    if (typeof identity !== 'string' || identity === '') throw new TypeError('lock: identity must not be empty');
    return new MemoryLock(identity, this);
  }

  get version(): number {
    return this.#version;
  }

  write(record: LeaderElectionRecord): number {
    this.#record = { ...record };
    return ++this.#version;
  }
}

class MemoryLock implements ResourceLock {
  readonly identity: string;
  readonly description = 'lock in memory';
  readonly #shared: SharedRecord;
  #seen: number | undefined;

  constructor(identity: string, shared: SharedRecord) {
    this.identity = identity;
    this.#shared = shared;
  }

  async get(options: LockRequestOptions = {}): Promise<ObservedRecord | undefined> {
    await turn(options);
    const { record, version } = this.#shared;
    this.#seen = record === undefined ? undefined : version;
    return record === undefined ? undefined : observed(record);
  }

  async create(record: LeaderElectionRecord, options: LockRequestOptions = {}): Promise<ObservedRecord> {
    await turn(options);
    if (this.#shared.record !== undefined) throw new Error(`${this.description}: another candidate was first`);
    return this.#write(record);
  }

  async update(record: LeaderElectionRecord, options: LockRequestOptions = {}): Promise<ObservedRecord> {
    if (this.#seen === undefined)
      throw new TypeError(`${this.description}: update before get or create: the version to replace is not known`);
    await turn(options);
    if (this.#seen !== this.#shared.version)
      throw new Error(`${this.description}: conflict: another candidate has changed the record since it was read`);
    return this.#write(record);
  }

  #write(record: LeaderElectionRecord): ObservedRecord {
    this.#seen = this.#shared.write(record);
    return observed(record);
  }
}

/** A request takes a turn, and does nothing once it was given up. */
async function turn({ signal }: LockRequestOptions): Promise<void> {
  await Promise.resolve();
  throwIfAborted(signal);
}

function observed(record: LeaderElectionRecord): ObservedRecord {
  return { record: { ...record }, fingerprint: JSON.stringify(record) };
}
