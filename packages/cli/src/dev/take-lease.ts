import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isConflict } from '@kctl/apimachinery';
import {
  createLeaderElector,
  createLeaseLock,
  formatMicroTime,
  type LeaderElectionRecord,
  type ResourceLock,
} from '@kctl/leader-election';
import type { OperatorGraph } from '@kctl/operator';
import { sleep, systemClock } from '@kctl/wait';
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

/** How often a write that the renewal of the holder has overtaken is repeated. */
const attempts = 10;
const leaseDurationSeconds = 15;

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
  await write(io, lock);
  const stop = new AbortController();
  const elector = createLeaderElector({
    lock,
    leaseDurationMs: leaseDurationSeconds * 1000,
    callbacks: { onStartedLeading: async (signal) => await untilAbort(signal) },
  });
  const ended = elector.run(stop.signal);
  ended.catch(() => undefined); // awaited by those who hold it
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

/** Writes this process as the holder in place of any other. */
async function write({ signal }: CliIo, lock: ResourceLock): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const observed = await lock.get({ signal });
    const now = formatMicroTime(systemClock.now());
    const record: LeaderElectionRecord = {
      holderIdentity: lock.identity,
      leaseDurationSeconds,
      acquireTime: now,
      renewTime: now,
      leaderTransitions: (observed?.record.leaderTransitions ?? 0) + 1,
    };
    try {
      await (observed === undefined ? lock.create(record, { signal }) : lock.update(record, { signal }));
      return;
    } catch (error) {
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
  }
}

async function untilAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
