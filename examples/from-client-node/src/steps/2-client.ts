// Step 2, @kctl/client-http and @kctl/client: one client for every kind, kept connections, typed errors, and one call
// that creates or updates. The kubeconfig is still client-node's.
import { setTimeout as pause } from 'node:timers/promises';
import { isConflict, isNotFound } from '@kctl/apimachinery';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createOrUpdate, type ReadObject } from '@kctl/client';
import { createHttpClient } from '@kctl/client-http';
import { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';
import type { Start } from '../start.js';

const leaseSeconds = 3;
const place = { namespace: 'default', name: 'contacts' };

export async function run({ kubeConfig, signal, identity, log }: Start): Promise<void> {
  await using client = createHttpClient({ kubeConfig });
  const known = new Map<string, ReadObject<typeof Namespace>>();

  async function reconcile(name: string): Promise<void> {
    const team = known.get(name)?.metadata.labels?.['team'];
    if (team === undefined) return;
    const teams = await client.get(ConfigMap, { namespace: 'default', name: 'teams' });
    const contact = teams.data?.[team];
    if (contact === undefined) {
      log(`${name}: team ${team} has no contact`);
      throw new Error(`team ${team} has no contact`);
    }
    const key = { namespace: name, name: 'contact' };
    const { result } = await createOrUpdate(client, ConfigMap, key, {
      mutate: (draft) => {
        draft.data = { team, contact };
      },
    });
    if (result !== 'unchanged') log(`${name}: ${contact}`);
  }

  const queue = createRateLimitingQueue({ rateLimiter: exponentialRateLimiter({ baseMs: 100, maxMs: 30_000 }) });

  // List and watch: from the list's version on; after a failure, everything again.
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        const list = await client.list(Namespace, { signal });
        known.clear();
        for (const item of list.items) {
          known.set(item.metadata.name, item);
          queue.add(item.metadata.name);
        }
        const { resourceVersion = '' } = list.metadata;
        for await (const event of await client.watch(Namespace, { resourceVersion, signal })) {
          if (event.type === 'BOOKMARK') continue;
          if (event.type === 'ERROR') break;
          const { name } = event.object.metadata;
          if (event.type === 'DELETED') known.delete(name);
          else known.set(name, event.object);
          queue.add(name);
        }
      } catch (error) {
        if (!signal.aborted) log(`list and watch failed: ${String(error)}`);
      }
      if (!signal.aborted) await pause(1_000);
    }
  }

  // The lease: take it when it is free or expired, renew it, give it back.
  async function holdLease(holder: string): Promise<boolean> {
    const now = Date.now();
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: leaseSeconds,
      renewTime: new Date(now).toISOString().replace('Z', '000Z'),
    };
    try {
      const lease = await client.get(Lease, place);
      const { holderIdentity = '', renewTime = '', leaseDurationSeconds = leaseSeconds } = lease.spec ?? {};
      const isExpired = now > (Date.parse(renewTime) || 0) + leaseDurationSeconds * 1_000;
      if (holderIdentity !== '' && holderIdentity !== identity && !isExpired) return false;
      await client.update(Lease, { ...lease, spec });
    } catch (error) {
      if (isConflict(error)) return false;
      if (!isNotFound(error)) throw error;
      await client.create(Lease, { metadata: place, spec });
    }
    return true;
  }

  while (!signal.aborted && !(await holdLease(identity))) await pause(500);
  if (signal.aborted) return;
  log('leads');
  const following = follow();
  const pool = queue.run({ concurrency: 4, signal }, reconcile);
  let isHeld = true;
  while (!signal.aborted && isHeld) {
    await pause(500);
    isHeld = await holdLease(identity);
  }
  if (!isHeld) throw new Error('the lease is lost'); // and work in progress goes on beside the next leader's
  await Promise.all([following, pool.ended]);
  await holdLease('');
}
