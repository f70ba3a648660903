import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownType, shownValue } from '@kctl/options';
import type { Counter } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import { callSafely } from './call-safely.js';
import type { ResolvedLeaderElectorOptions } from './options.js';
import type { LeaderElectionRecord, ObservedRecord, ResourceLock } from './record.js';
import { createStamps } from './record-times.js';

/** How many acquire times of this candidate are remembered, for attempts whose answer never came. */
const rememberedTerms = 16;
/** Between two tries to give the lock back, in ms; doubled each time. */
const releaseRetryMs = 20;

/**
 * One candidate's view of the lock, that is, the last record, its time, and how to take, keep and give back the lock.
 * Its methods do one try each; they reject when the outcome is not known. After `signal` is aborted nothing more is
 * written or remembered, even if the lock ignores its signal.
 */
export class Contest {
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #slowPath: Counter;
  readonly #stamp: () => string;
  /**
   * The acquire times this candidate wrote. A record with our identity and another acquire time was written by another
   * process of the same name, maybe one that is still alive.
   */
  readonly #acquireTimes = new Set<string>();
  #observed: ObservedRecord | undefined;
  #observedAt = 0;
  #reported: string | undefined;
  /** A write was sent without a response, so this candidate may hold the lock. */
  #mayHold = false;

  constructor(options: ResolvedLeaderElectorOptions, slowPath: Counter) {
    this.#options = options;
    this.#slowPath = slowPath;
    this.#stamp = createStamps(() => options.clock.now(), options.random());
  }

  /** The last observed holder; '' if there is no holder. */
  get holder(): string {
    return this.#observed?.record.holderIdentity ?? '';
  }

  /** Whether a write of this candidate may have made it the holder although the answer is missing. */
  get mayHold(): boolean {
    return this.#mayHold;
  }

  /** ms until the lease of another holder may be taken; 0 when it may be taken now. */
  get validForMs(): number {
    const record = this.#observed?.record;
    if (record === undefined || record.holderIdentity === '') return 0;
    // A holder that does not state its duration is given this candidate's duration.
    const given = record.leaseDurationSeconds * 1000;
    const ms = given > 0 ? given : this.#options.leaseDurationMs;
    return Math.max(0, this.#observedAt + ms - this.#options.clock.monotonicNow());
  }

  /** Takes the lock if it is free, expired, or ours already. */
  async tryAcquire(signal: AbortSignal): Promise<boolean> {
    const { lock, coordinated } = this.#options;
    const found = await this.#get(signal);
    if (found === undefined) {
      // Deleted under a leader, which may lead until its lease would have expired. A coordinated Lease is created by
      // the server.
      if (coordinated || this.validForMs > 0) return false;
      await this.#write('create', this.#newTerm(0), signal);
      return true;
    }
    const { record } = found;
    if (coordinated) {
      if (record.holderIdentity !== lock.identity || this.validForMs === 0 || hasOtherPreference(record)) return false;
      // The server's controller does not state the acquire time, which identifies a term.
      const acquireTime = record.acquireTime === '' ? this.#stamp() : record.acquireTime;
      this.#rememberTerm(acquireTime);
      await this.#write('update', this.#renewed({ ...record, acquireTime }), signal);
      return true;
    }
    if (this.#isMine(record)) {
      await this.#write('update', this.#renewed(record), signal);
      return true;
    }
    if (this.validForMs > 0) return false;
    await this.#write('update', this.#newTerm(nextTransition(record)), signal);
    return true;
  }

  /** Renews; resolves with the reason when the term is over because the lock is no longer ours. */
  async tryRenew(signal: AbortSignal): Promise<Error | undefined> {
    const { lock, coordinated } = this.#options;
    const known = this.#observed?.record;
    if (
      known !== undefined &&
      this.#isMine(known) &&
      this.validForMs > 0 &&
      !(coordinated && hasOtherPreference(known))
    ) {
      try {
        await this.#write('update', this.#renewed(known), signal);
        return undefined;
      } catch (error) {
        if (signal.aborted) throw error;
        this.#slowPath.inc();
      }
    }
    const found = await this.#get(signal);
    if (found === undefined) {
      if (coordinated || known === undefined) return new Error('the lease was deleted');
      await this.#write('create', this.#renewed(known), signal);
      return undefined;
    }
    const { record } = found;
    if (!this.#isMine(record)) return new Error(describeHolder(record, lock.identity));
    if (coordinated && hasOtherPreference(record))
      return new Error(`the term has ended: ${String(record.preferredHolder)} is preferred`);
    await this.#write('update', this.#renewed(record), signal);
    return undefined;
  }

  /** Gives the lock back if the server confirms that this candidate holds it; tries until `signal` is aborted. */
  async release(signal: AbortSignal): Promise<void> {
    const { clock, lock, logger } = this.#options;
    for (let waitMs = releaseRetryMs; ; waitMs *= 2) {
      try {
        const found = await this.#get(signal);
        if (found === undefined || !this.#isMine(found.record)) return;
        const now = this.#stamp();
        const free = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
        await this.#write('update', { ...found.record, ...free }, signal);
        return;
      } catch (error) {
        logger.debug('could not release the lease yet', { lock: lock.description, error });
        await sleep(waitMs, { clock, signal });
      }
    }
  }

  #isMine(record: LeaderElectionRecord): boolean {
    return record.holderIdentity === this.#options.lock.identity && this.#acquireTimes.has(record.acquireTime);
  }

  #newTerm(leaderTransitions: number): LeaderElectionRecord {
    const now = this.#stamp();
    this.#rememberTerm(now);
    return {
      holderIdentity: this.#options.lock.identity,
      leaseDurationSeconds: this.#options.leaseDurationMs / 1000,
      acquireTime: now,
      renewTime: now,
      leaderTransitions,
    };
  }

  #renewed({ acquireTime, leaderTransitions, strategy }: LeaderElectionRecord): LeaderElectionRecord {
    const { lock, leaseDurationMs, coordinated } = this.#options;
    return {
      holderIdentity: lock.identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime,
      renewTime: this.#stamp(),
      leaderTransitions,
      ...(coordinated && strategy !== undefined ? { strategy } : {}),
    };
  }

  #rememberTerm(acquireTime: string): void {
    this.#acquireTimes.add(acquireTime);
    for (const oldest of this.#acquireTimes) {
      if (this.#acquireTimes.size <= rememberedTerms) break;
      this.#acquireTimes.delete(oldest);
    }
  }

  async #get(signal: AbortSignal): Promise<ObservedRecord | undefined> {
    const found = await this.#options.lock.get({ signal });
    signal.throwIfAborted();
    if (found !== undefined) requireObserved(this.#options.lock, 'get', found);
    // An unchanged record keeps the time at which it was first seen, which determines its expiry.
    if (found !== undefined && found.fingerprint !== this.#observed?.fingerprint) this.#observe(found);
    return found;
  }

  async #write(verb: 'create' | 'update', record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    const before = this.#mayHold;
    this.#mayHold = true;
    try {
      const written = await this.#options.lock[verb](record, { signal });
      signal.throwIfAborted();
      requireObserved(this.#options.lock, verb, written);
      this.#observe(written);
      this.#mayHold = false;
    } catch (error) {
      if (isRefusal(error)) this.#mayHold = before;
      throw error;
    }
  }

  #observe(observed: ObservedRecord): void {
    this.#observed = observed;
    this.#observedAt = this.#options.clock.monotonicNow();
    const { holderIdentity } = observed.record;
    if (holderIdentity === this.#reported) return;
    this.#reported = holderIdentity;
    const { callbacks, logger } = this.#options;
    callSafely(logger, 'onNewLeader', () => callbacks.onNewLeader?.(holderIdentity));
  }
}

/** The API server takes an int32 ≥ 0, and refuses a Lease with anything else, so that no replica could lead again. */
function nextTransition({ leaderTransitions }: LeaderElectionRecord): number {
  return leaderTransitions >= 0 ? Math.min(leaderTransitions + 1, 2 ** 31 - 1) : 1;
}

function hasOtherPreference({ preferredHolder = '' }: LeaderElectionRecord): boolean {
  return preferredHolder !== '';
}

function describeHolder({ holderIdentity }: LeaderElectionRecord, identity: string): string {
  if (holderIdentity === '') return 'the lease was released by another process';
  if (holderIdentity === identity) return `the lease is held by another process with the same identity, ${identity}`;
  return `the lease is held by ${holderIdentity}`;
}

/** Whether the server surely did not do it. */
function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('reason' in error)) return false;
  return ['Conflict', 'AlreadyExists', 'NotFound', 'Forbidden', 'Unauthorized', 'Invalid'].includes(
    String(error.reason),
  );
}

/**
 * A user's lock may return anything. A value that is not a record is a failed request and leads to no leader. @throws
 * TypeError
 */
function requireObserved({ description }: ResourceLock, verb: string, observed: unknown): void {
  const isObserved =
    isJsonObject(observed) &&
    typeof observed['fingerprint'] === 'string' &&
    isJsonObject(observed['record']) &&
    typeof observed['record']['holderIdentity'] === 'string';
  if (isObserved) return;
  const orNothing = verb === 'get' ? ', or undefined if there is none' : '';
  throw new TypeError(
    `${verb} of the lock ${shownValue(description)} returned ${shownType(observed)}: expected { record, fingerprint }${orNothing}`,
  );
}
