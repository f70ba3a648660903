// Step 5, @kctl/runtime: manager and builder start, stop, probe and measure what the steps before put together.
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { RuntimeManager } from '@kctl/runtime';
import { controllerManagedBy, createManager, createOrUpdate, noopLogger } from '@kctl/runtime';
import type { Start } from '../start.js';

export const run = async (start: Start): Promise<void> => await (await createContacts(start)).run(start.signal);

export async function createContacts({ kubeConfig, identity, log }: Omit<Start, 'signal'>): Promise<RuntimeManager> {
  const manager = await createManager({
    kubeConfig,
    logger: noopLogger,
    leaderElection: {
      name: 'contacts',
      namespace: 'default',
      identity,
      leaseDurationMs: 3_000,
      renewDeadlineMs: 2_000,
      retryPeriodMs: 500,
    },
  });
  const { client } = manager;
  controllerManagedBy(manager)
    .for(Namespace)
    .withOptions({ maxConcurrentReconciles: 4 })
    .onlyNeeds(Namespace, [], { subresource: 'status' })
    .onlyNeeds(ConfigMap, ['get', 'create', 'update'])
    .reconcile(async ({ metadata: { name, labels } }) => {
      const team = labels?.['team'];
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
    });
  manager.add(async () => log('leads'));
  return manager;
}
