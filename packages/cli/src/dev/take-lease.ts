import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isConflict } from '@kctl/apimachinery';
import {
  createLeaderElector,
  createLeaseLock,
  type LeaderElectionRecord,
  type ResourceLock,
} from '@kctl/leader-election';
import type { OperatorGraph } from '@kctl/operator';
import { abortReason, sleep, systemClock } from '@kctl/wait';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';

/** A Lease that is held in place of the deployed copy. */
export interface HeldLease {
  /** Rejects when the Lease is lost; resolves when it has been given back. */
  readonly ended: Promise<void>;
  /** Gives it back, so that the deployed copy leads again. */
  release(): Promise<void>;
}

const leaseDurationMs = 15_000;
/** Also how soon a write that the renewal of the holder has overtaken is repeated. */
const retryPeriodMs = 500;

/**
 * Takes the Lease of the deployed copy, and waits until that has stopped its work; undefined where there is none. A crash
 * ends the renewals: the deployed copy leads again once the Lease has expired.
 *
 * @throws CliError where another holds it and `takeOver` is not given
 */
export async function takeLease(
  io: CliIo,
  { client }: OpenCluster,
  { graph, takeOver }: { readonly graph: Pick<OperatorGraph, 'name' | 'namespace'>; readonly takeOver: boolean },
): Promise<HeldLease | undefined> {
  const { name, namespace } = graph;
  const identity = `kctl-dev_${hostname()}_${randomUUID()}`;
  const lock = createLeaseLock({ client, namespace, name, identity });
  const before = (await lock.get({ signal: io.signal }))?.record;
  if (before === undefined) return undefined;
  const isHeld = before.holderIdentity !== '' && expiryOf(before) > systemClock.now();
  if (isHeld && !takeOver)
    throw new CliError(
      `${before.holderIdentity} leads by the lease ${name} in ${namespace}: two operators would work on the same objects: add --take-over, which has it wait meanwhile, or run kctl undeploy`,
    );
  const stop = new AbortController();
  const taken = Promise.withResolvers<undefined>();
  let isTaken = false;
  // Taken by the elector itself: it renews and gives back only what it has acquired.
  const elector = createLeaderElector({
    lock: takingOver(lock, { isTaken: () => isTaken, onError: taken.reject }),
    leaseDurationMs,
    retryPeriodMs,
    callbacks: {
      onStartedLeading: async (signal) => {
        isTaken = true;
        taken.resolve(undefined);
        await untilAbort(signal);
      },
    },
  });
  const ended = elector.run(stop.signal);
  ended.catch(taken.reject); // later, those who hold it see it
  const giveUp = (): void => taken.reject(abortReason(io.signal));
  io.signal.addEventListener('abort', giveUp, { once: true });
  if (io.signal.aborted) giveUp();
  try {
    await taken.promise;
  } catch (error) {
    stop.abort();
    await ended.catch(() => undefined);
    throw error;
  } finally {
    io.signal.removeEventListener('abort', giveUp);
  }
  const lease: HeldLease = {
    ended,
    release: async () => {
      stop.abort();
      await ended.catch(() => undefined);
      io.err(`gave the lease ${name} in ${namespace} back\n`);
    },
  };
  if (!isHeld) return lease;
  io.err(
    `took the lease ${name} in ${namespace} from ${before.holderIdentity}, which has ${before.leaseDurationSeconds} s to stop\n`,
  );
  try {
    await sleep(before.leaseDurationSeconds * 1000, { signal: io.signal });
  } catch (error) {
    await lease.release();
    throw error;
  }
  return lease;
}

/** When others may take a lease that is not renewed, in ms since the epoch. */
function expiryOf({ renewTime, leaseDurationSeconds: seconds }: LeaderElectionRecord): number {
  const renewed = Date.parse(renewTime);
  return Number.isNaN(renewed) ? Infinity : renewed + seconds * 1000;
}

/** The lock as an elector takes it from any holder: another's record looks free until it is taken. */
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
