import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createHttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { isSimulationFailed, simulate, type Operator, type ReplicaWorld, type SimulateOptions } from '../src/index.js';

const key = { namespace: 'default', name: 'lease' };
const small: Omit<SimulateOptions, 'operator'> = {
  replicas: 2,
  seeds: 1,
  simulatedMinutes: 5,
  compare: false,
  shrink: false,
  faults: 'none',
  verifyReplay: false,
  workload: async ({ client }) => void (await client.create(Lease, { metadata: key, spec: {} })),
};

async function violationOf(options: SimulateOptions) {
  const outcome: unknown = await simulate(options).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  return outcome.violation;
}

/** A candidate that looks at the Lease every 2 s, and takes it where `wants` says so. */
function candidate(wants: (holder: string, world: ReplicaWorld) => boolean) {
  return (world: ReplicaWorld): Operator => ({
    run: async (signal) => {
      const { connection, clock, name } = world;
      await using client = createHttpClient({ connection, clock });
      while (!signal.aborted) {
        const lease = await client.get(Lease, key).catch(() => undefined);
        const spec = { holderIdentity: name, leaseDurationSeconds: 15 };
        if (lease !== undefined && wants(lease.spec?.holderIdentity ?? '', world))
          await client.patch(Lease, key, { type: 'merge', body: { spec } }).catch(() => undefined);
        await untilAborted(sleep(2_000, { clock, signal }), signal);
      }
    },
  });
}

it('finds a candidate that takes a Lease before it runs out', async () => {
  const { rule, message } = await violationOf({ ...small, operator: candidate(() => true) });
  expect(rule).toBe('lease-taken-early');
  expect(message).toMatch(/replica-[12] takes the Lease of replica-[12] 1\d{4} ms before it runs out/);
});

it('finds a Lease that no candidate takes', async () => {
  const operator = candidate((holder, { clock }) => holder === '' && clock.monotonicNow() > 0);
  const { rule, message } = await violationOf({ ...small, operator });
  expect(rule).toBe('no-leader');
  expect(message).toContain('nothing is reconciled');
});

it('finds work that goes on in a replica whose Lease another has', async () => {
  const operator = (world: ReplicaWorld): Operator => ({
    run: async (signal) => {
      const { connection, clock, name, tracer } = world;
      await using client = createHttpClient({ connection, clock });
      const startedAt = clock.monotonicNow();
      let hasLed = false;
      while (!signal.aborted) {
        const { spec } = await client.get(Lease, key);
        const mine =
          name === 'replica-1' ? spec?.holderIdentity === undefined : clock.monotonicNow() > startedAt + 60_000;
        if (mine && spec?.holderIdentity !== name) {
          const body = { spec: { holderIdentity: name, leaseDurationSeconds: 15 } };
          await client.patch(Lease, key, { type: 'merge', body });
          hasLed = true;
        }
        if (hasLed)
          await tracer.withSpan('reconcile', { controller: 'shop', request: 'demo/a' }, () => Promise.resolve());
        await untilAborted(sleep(2_000, { clock, signal }), signal);
      }
    },
  });
  const { message } = await violationOf({ ...small, operator, only: ['reconciles-without-lease'] });
  expect(message).toMatch(
    /replica-1: controller shop begins to reconcile demo\/a \d+ s after replica-2 took the Lease/,
  );
});
