import { isConflict } from '@kctl/apimachinery';
import { createLeaderElector, type LeaderElectionRecord, type ResourceLock } from '@kctl/leader-election';
import { systemClock } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { CliIo } from '../io.js';

/** A Lease that this process renews. */
export interface HeldLease {
  /** Rejects when the Lease is lost; resolves when it has been given back. */
  readonly ended: Promise<void>;
  /** Gives it back. */
  release(): Promise<void>;
}

const leaseDurationMs = 15_000;
/** Also how soon a write that the renewal of the holder has overtaken is repeated. */
const retryPeriodMs = 500;

/** Takes a Lease from its holder, and renews it; a crash ends the renewals. Resolves when it is taken. */
export async function holdLease({ signal }: Pick<CliIo, 'signal'>, lock: ResourceLock): Promise<HeldLease> {
  const stop = new AbortController();
  const taken = Promise.withResolvers<undefined>();
  let isTaken = false;
  // Taken by the elector itself, because it renews and gives back only a lease that it has acquired.
  const elector = createLeaderElector({
    lock: takingOver(lock, { isTaken: () => isTaken, onError: taken.reject }),
    leaseDurationMs,
    retryPeriodMs,
    callbacks: {
      onStartedLeading: async (leading) => {
        isTaken = true;
        taken.resolve(undefined);
        await untilAbort(leading);
      },
    },
  });
  const ended = elector.run(stop.signal);
  ended.catch(taken.reject); // later, those who hold it see it
  const giveUp = (): void => taken.reject(abortReason(signal));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    await taken.promise;
  } catch (error) {
    stop.abort();
    await ended.catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  return {
    ended,
    release: async () => {
      stop.abort();
      await ended.catch(() => undefined);
    },
  };
}

/** Whether a Lease is held now. */
export function isHeld(record: LeaderElectionRecord): boolean {
  return record.holderIdentity !== '' && expiryOf(record) > systemClock.now();
}

/** When others may take a lease that is not renewed, in ms since the epoch. */
function expiryOf({ renewTime, leaseDurationSeconds: seconds }: LeaderElectionRecord): number {
  const renewed = Date.parse(renewTime);
  return Number.isNaN(renewed) ? Infinity : renewed + seconds * 1000;
}

/** A lock that an elector can take from any holder. Another's record looks free until it is taken. */
function takingOver(
  lock: ResourceLock,
  { isTaken, onError }: { readonly isTaken: () => boolean; readonly onError: (error: unknown) => void },
): ResourceLock {
  // An elector repeats what fails; before it leads, only a renewal of the holder is worth that.
  const orReport = async <T>(request: Promise<T>): Promise<T> => {
    try {
      return await request;
    } catch (error) {
      if (!isTaken() && !isConflict(error)) onError(error);
      throw error;
    }
  };
  return {
    identity: lock.identity,
    description: lock.description,
    get: async (options) => {
      const found = await orReport(lock.get(options));
      if (found === undefined || isTaken()) return found;
      return { ...found, record: { ...found.record, holderIdentity: '' } };
    },
    create: async (record, options) => await orReport(lock.create(record, options)),
    update: async (record, options) => await orReport(lock.update(record, options)),
  };
}

async function untilAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
