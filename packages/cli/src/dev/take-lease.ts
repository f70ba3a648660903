import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createLeaseLock } from '@kctl/leader-election';
import type { OperatorGraph } from '@kctl/operator';
import { sleep } from '@kctl/wait';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { holdLease, isHeld, type HeldLease } from './hold-lease.js';
import { ownCommand } from '../own-command.js';

/**
 * Takes the Lease of the deployed copy, and waits until that has stopped its work; undefined if there is no Lease.
 * After a crash the renewals end, so the deployed copy leads again once the Lease has expired. `release` gives it back,
 * so that the deployed copy leads again.
 *
 * @throws CliError if another process holds it and `takeOver` is not set
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
  const leads = isHeld(before);
  if (leads && !takeOver)
    throw new CliError(
      `${before.holderIdentity} leads by the lease ${name} in ${namespace}: two operators would work on the same objects: add --take-over, which has it wait meanwhile, or run ${ownCommand('undeploy')}`,
    );
  const held = await holdLease(io, lock);
  const lease: HeldLease = {
    ended: held.ended,
    release: async () => {
      await held.release();
      io.err(`gave the lease ${name} in ${namespace} back\n`);
    },
  };
  if (!leads) return lease;
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
