import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNotFound } from '@kctl/apimachinery';
import { __Kind__ } from '@kctl/apimachinery/kinds/__Module__';
import { simulate } from '@kctl/simulation';
import { operator } from '../src/main.ts';

const namespace = 'default';
const key = __Key__;
/** The fields of a valid __Kind__. */
const sample: Omit<__Kind__, 'metadata'> = __Sample__;
/** `npm run simulate` takes more seeds, and longer ones. */
const isLong = process.env['npm_lifecycle_event'] === 'simulate';

// Crashes, cut connections, two replicas that take turns to lead: minutes of faults in virtual time. A failure names the
// rule and the seed; with KCTL_SEED=<seed> that one runs again.
test('each labelled __Kind__ has its greeting, whatever happens to the operator', async () => {
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
        const name = random() < 0.2 ? null : `user-${Math.floor(random() * 100)}`;
        const body = { metadata: { labels: { '__group__/greet': name } } };
        try {
          await client.patch(__Kind__, key, { type: 'merge', body });
        } catch (error) {
          if (!isNotFound(error)) throw error;
          await client.create(__Kind__, { ...sample, metadata: { ...key, labels: { '__group__/greet': 'World' } } });
        }
        await sleep(random() * 20_000);
      }
    },
    settled: async ({ client }) => {
      const { metadata } = await client.get(__Kind__, key);
      const name = metadata.labels?.['__group__/greet'];
      const expected = name === undefined ? undefined : `Hello ${name}`;
      assert.equal(metadata.annotations?.['__group__/greeting'], expected);
    },
    seeds: isLong ? 50 : 2,
    simulatedMinutes: isLong ? 30 : 5,
    verifyReplay: false,
  });
});
