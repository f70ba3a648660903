// Step 4, @kctl/leader-election: the work gets the signal of its term and ends before another replica may lead.
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createOrUpdate } from '@kctl/client';
import { createHttpClient } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { createLeaderElector, createLeaseLock, fencedClient } from '@kctl/leader-election';
import { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';
import type { Start } from '../start.js';

export async function run({ kubeConfig, signal, identity, log }: Start): Promise<void> {
  await using client = createHttpClient({ kubeConfig });

  async function lead(term: AbortSignal): Promise<void> {
    log('leads');
    const writer = fencedClient(client, elector.fence); // refuses writes once the term is over
    const queue = createRateLimitingQueue({ rateLimiter: exponentialRateLimiter({ baseMs: 100, maxMs: 30_000 }) });
    const namespaces = createSharedInformer({ kind: Namespace, listerWatcher: listerWatcherFor(client, Namespace) });
    namespaces.addEventHandler({ onEvent: ({ key }) => queue.add(key) });
    const pool = queue.run({ concurrency: 4, signal: term }, async (name) => {
      const team = namespaces.lister.get(name)?.metadata.labels?.['team'];
      if (team === undefined) return;
      const teams = await client.get(ConfigMap, { namespace: 'default', name: 'teams' });
      const contact = teams.data?.[team];
      if (contact === undefined) {
        log(`${name}: team ${team} has no contact`);
        throw new Error(`team ${team} has no contact`);
      }
      const key = { namespace: name, name: 'contact' };
      const { result } = await createOrUpdate(writer, ConfigMap, key, {
        mutate: (draft) => {
          draft.data = { team, contact };
        },
      });
      if (result !== 'unchanged') log(`${name}: ${contact}`);
    });
    await Promise.all([namespaces.run(term), pool.ended]);
  }

  const elector = createLeaderElector({
    lock: createLeaseLock({ client, namespace: 'default', name: 'contacts', identity }),
    callbacks: { onStartedLeading: lead },
    leaseDurationMs: 3_000,
    renewDeadlineMs: 2_000,
    retryPeriodMs: 500,
  });
  await elector.run(signal);
}
