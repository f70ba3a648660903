// Step 3, @kctl/informer: list, watch, 410, silence and reconnection are the informer's, and reads come from its store.
import { setTimeout as pause } from 'node:timers/promises';
import { isConflict, isNotFound } from '@kctl/apimachinery';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createOrUpdate } from '@kctl/client';
import { createHttpClient } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';
import type { Start } from '../start.js';

const leaseSeconds = 3;
const place = { namespace: 'default', name: 'contacts' };

export async function run({ kubeConfig, signal, identity, log }: Start): Promise<void> {
  await using client = createHttpClient({ kubeConfig });
  const queue = createRateLimitingQueue({ rateLimiter: exponentialRateLimiter({ baseMs: 100, maxMs: 30_000 }) });
  const namespaces = createSharedInformer({ kind: Namespace, listerWatcher: listerWatcherFor(client, Namespace) });
  namespaces.addEventHandler({ onEvent: ({ key }) => queue.add(key) });

  async function reconcile(name: string): Promise<void> {
    const team = namespaces.lister.get(name)?.metadata.labels?.['team'];
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
  const following = namespaces.run(signal);
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
