// The controller as it is often written with @kubernetes/client-node: list and watch, retries and lease by hand.
// Every Namespace with a label `team` gets a ConfigMap `contact` with that team's entry of the ConfigMap default/teams.
import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  V1MicroTime,
  Watch,
  type V1Lease,
  type V1Namespace,
} from '@kubernetes/client-node';
import type { Start } from '../start.js';

const leaseSeconds = 3;
const place = { namespace: 'default', name: 'contacts' };

export async function run({ kubeConfig, signal, identity, log }: Start): Promise<void> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const leases = kubeConfig.makeApiClient(CoordinationV1Api);
  const known = new Map<string, V1Namespace>();

  async function reconcile(name: string): Promise<void> {
    const team = known.get(name)?.metadata?.labels?.['team'];
    if (team === undefined) return;
    const teams = await core.readNamespacedConfigMap({ namespace: 'default', name: 'teams' });
    const contact = teams.data?.[team];
    if (contact === undefined) {
      log(`${name}: team ${team} has no contact`);
      throw new Error(`team ${team} has no contact`);
    }
    const data = { team, contact };
    try {
      const found = await core.readNamespacedConfigMap({ namespace: name, name: 'contact' });
      if (found.data?.['team'] === team && found.data['contact'] === contact) return;
      await core.replaceNamespacedConfigMap({ namespace: name, name: 'contact', body: { ...found, data } });
    } catch (error) {
      if (!(error instanceof ApiException) || error.code !== 404) throw error;
      await core.createNamespacedConfigMap({ namespace: name, body: { metadata: { name: 'contact' }, data } });
    }
    log(`${name}: ${contact}`);
  }

  // Retries: one at a time for each namespace, the next one later; what comes meanwhile runs afterwards.
  const attempts = new Map<string, number>();
  const busy = new Set<string>();
  const again = new Set<string>();
  async function work(name: string): Promise<void> {
    if (busy.has(name)) {
      again.add(name);
      return;
    }
    busy.add(name);
    try {
      await reconcile(name);
      attempts.delete(name);
    } catch {
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      void later(name, Math.min(100 * 2 ** (attempt - 1), 30_000));
    } finally {
      busy.delete(name);
      if (again.delete(name)) void work(name);
    }
  }
  async function later(name: string, ms: number): Promise<void> {
    await pause(ms);
    if (!signal.aborted) await work(name);
  }

  // List and watch: from the list's version on; after a failure, everything again.
  async function follow(): Promise<void> {
    const watch = new Watch(kubeConfig);
    while (!signal.aborted) {
      try {
        const list = await core.listNamespace();
        known.clear();
        for (const item of list.items) {
          known.set(item.metadata?.name ?? '', item);
          void work(item.metadata?.name ?? '');
        }
        const query = { resourceVersion: list.metadata?.resourceVersion, allowWatchBookmarks: true };
        const ended = Promise.withResolvers<undefined>();
        const onEvent = (phase: string, item: V1Namespace): void => {
          const name = item.metadata?.name ?? '';
          if (phase === 'DELETED') known.delete(name);
          else if (phase === 'ADDED' || phase === 'MODIFIED') known.set(name, item);
          else return;
          void work(name);
        };
        const request = await watch.watch('/api/v1/namespaces', query, onEvent, () => ended.resolve(undefined));
        signal.addEventListener('abort', () => request.abort(), { once: true });
        await ended.promise;
      } catch (error) {
        if (!signal.aborted) log(`list and watch failed: ${String(error)}`);
      }
      if (!signal.aborted) await pause(1_000);
    }
  }

  // The lease: take it when it is free or expired, renew it, give it back.
  let lease: V1Lease | undefined;
  async function holdLease(holder: string): Promise<boolean> {
    const now = new V1MicroTime();
    try {
      lease = await leases.readNamespacedLease(place);
      const { holderIdentity = '', renewTime, leaseDurationSeconds = leaseSeconds } = lease.spec ?? {};
      const renewed = new Date(renewTime ?? 0).getTime(); // a Date by type, and text in fact
      const isExpired = now.getTime() > renewed + leaseDurationSeconds * 1_000;
      if (holderIdentity !== '' && holderIdentity !== identity && !isExpired) return false;
      const spec = { holderIdentity: holder, leaseDurationSeconds: leaseSeconds, renewTime: now };
      await leases.replaceNamespacedLease({ ...place, body: { ...lease, spec } });
    } catch (error) {
      if (!(error instanceof ApiException)) throw error;
      if (error.code === 409) return false;
      if (error.code !== 404) throw error;
      const spec = { holderIdentity: holder, leaseDurationSeconds: leaseSeconds, renewTime: now };
      await leases.createNamespacedLease({ namespace: place.namespace, body: { metadata: place, spec } });
    }
    return true;
  }

  while (!signal.aborted && !(await holdLease(identity))) await pause(500);
  if (signal.aborted) return;
  log('leads');
  const following = follow();
  let isHeld = true;
  while (!signal.aborted && isHeld) {
    await pause(500);
    isHeld = await holdLease(identity);
  }
  if (!isHeld) throw new Error('the lease is lost'); // and work in progress goes on beside the next leader's
  await following;
  await holdLease('');
}
