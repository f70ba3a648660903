import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNotFound } from '@kctl/apimachinery';
import { __ChildImport__ } from '@kctl/apimachinery/kinds/core/v1';
import { simulate } from '@kctl/simulation';
import { __Kind__ } from '../src/api/__kind-file__.ts';
import { operator } from '../src/main.ts';

const namespace = 'default';
/** `npm run simulate` takes more seeds, and longer ones. */
const isLong = process.env['npm_lifecycle_event'] === 'simulate';

// Crashes, cut connections, two replicas that take turns to lead: minutes of faults in virtual time. A failure names the
// rule and the seed; with KCTL_SEED=<seed> that one runs again.
test('each __Kind__ has its ConfigMap, whatever happens to the operator', async () => {
  await simulate({
    operator: ({ options }) =>
      operator.createManager(
        // No port for webhooks: this world has no network.
        { ...options, leaderElection: { name: operator.name, namespace }, webhook: { port: -1 } },
        { healthProbeBindAddress: '0', metricsBindAddress: '0', logLevel: 'error' },
      ),
    resources: operator.resources.map(({ manifest }) => manifest),
    workload: async ({ client, random, sleep }) => {
      for (let step = 0; step < 10; step++) {
        const key = { namespace, name: `hello-${step % 3}` };
        const spec = { message: `Hello ${Math.floor(random() * 100)}` };
        try {
          await client.patch(__Kind__, key, { type: 'merge', body: { spec } });
        } catch (error) {
          if (!isNotFound(error)) throw error;
          await client.create(__Kind__, { metadata: key, spec });
        }
        await sleep(random() * 20_000);
      }
    },
    settled: async ({ client }) => {
      for (const { metadata, spec, status } of (await client.list(__Kind__, { namespace })).items) {
        assert.equal((await client.get(__Child__, metadata)).data?.['message'], spec.message);
        assert.equal(status?.published, spec.message);
      }
    },
    seeds: isLong ? 50 : 2,
    simulatedMinutes: isLong ? 30 : 5,
    verifyReplay: false,
  });
});
