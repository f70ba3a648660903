import { hostname, userInfo } from 'node:os';
import { isConflict, isForbidden, isNotFound } from '@kctl/apimachinery';
import { createLeaseLock } from '@kctl/leader-election';
import { leaseKind } from '@kctl/leader-election/internal';
import { sleep } from '@kctl/wait';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { boundedName } from '../manifests/names.js';
import { unlessMissing } from '../unless-missing.js';
import { holdLease, isHeld, type HeldLease } from './hold-lease.js';

/** Every cluster has it, before anything of an operator is deployed. */
const namespace = 'default';

/** Which run of `kctl dev` claims which operator. */
export interface SessionOptions {
  /** Name of the operator. */
  readonly operator: string;
  /** Of this run. */
  readonly session: string;
  /** Ends another run. */
  readonly takeOver: boolean;
}

/**
 * Claims an operator in a cluster for one run of `kctl dev`, by a Lease held for the duration of the run. Two runs
 * would work on the same objects, and redirect each other's webhooks of the cluster. Undefined, with a message, if the
 * user may not write the Lease.
 *
 * @throws CliError naming the other run, if there is one and `takeOver` is not set
 */
export async function claimSession(
  io: CliIo,
  cluster: Pick<OpenCluster, 'client'>,
  { operator, session, takeOver }: SessionOptions,
): Promise<HeldLease | undefined> {
  const name = leaseNameOf(operator);
  const lock = createLeaseLock({ client: cluster.client, namespace, name, identity: identityOf(session) });
  try {
    const before = (await lock.get({ signal: io.signal }))?.record;
    const other = before !== undefined && isHeld(before) ? before : undefined;
    if (other !== undefined && !takeOver)
      throw new CliError(
        `another kctl dev runs ${operator} in this cluster: ${shown(other.holderIdentity)}, since ${other.acquireTime}: two would work on the same objects: end it, or add --take-over, which ends it (one that was killed is gone after ${other.leaseDurationSeconds} s)`,
      );
    const held = await holdLease(io, lock);
    const release = async (): Promise<void> => {
      await held.release();
      await deleteSession(cluster, { operator, session });
    };
    if (other === undefined) return { ended: held.ended, release };
    io.err(
      `took over from the kctl dev of ${shown(other.holderIdentity)}, which has ${other.leaseDurationSeconds} s to stop\n`,
    );
    try {
      await sleep(other.leaseDurationSeconds * 1000, { signal: io.signal });
    } catch (error) {
      await release();
      throw error;
    }
    return { ended: held.ended, release };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    io.err(
      `you may not write the lease ${name} in ${namespace}, by which runs of kctl dev find one another: see that no other runs\n`,
    );
    return undefined;
  }
}

/** Removes the Lease of a run that has ended; that of another stays. */
export async function deleteSession(
  { client }: Pick<OpenCluster, 'client'>,
  { operator, session }: Omit<SessionOptions, 'takeOver'>,
  signal?: AbortSignal,
): Promise<void> {
  const key = { namespace, name: leaseNameOf(operator) };
  const options = signal === undefined ? {} : { signal };
  const found = await unlessMissing(client.get(leaseKind, key, options));
  const holder = found?.spec?.holderIdentity ?? '';
  if (found === undefined || (holder !== '' && holder !== identityOf(session))) return;
  const { resourceVersion } = found.metadata;
  try {
    await client.delete(leaseKind, key, { ...options, preconditions: { resourceVersion } });
  } catch (error) {
    // Another run has taken it, or has removed it.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function leaseNameOf(operator: string): string {
  return boundedName(`kctl-dev-${operator}`);
}

/** `ann@laptop`, and which run it is. */
function identityOf(session: string): string {
  return `${userName()}@${hostname()}_${session}`;
}

function shown(identity: string): string {
  return identity.replace(/_[0-9a-f-]{36}$/, '');
}

/** A user without an entry in the list of users has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
