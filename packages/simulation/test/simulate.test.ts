import { isAlreadyExists, isNotFound } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it, vi } from 'vitest';
import { compileOptions } from '../src/options.js';
import { isSimulationFailed, simulate, type Operator, type ReplicaWorld, type SimulateOptions } from '../src/index.js';

const key = { namespace: 'default', name: 'kept' };

/** An operator that calls `turn` every minute, and lives through whatever that rejects with. */
function everyMinute(turn: (client: HttpClient, signal: AbortSignal) => Promise<unknown>) {
  return ({ connection, clock }: ReplicaWorld): Operator => ({
    run: async (signal) => {
      await using client = createHttpClient({ connection, clock });
      while (!signal.aborted) {
        await turn(client, signal).catch(() => undefined);
        await untilAborted(sleep(60_000, { clock, signal }), signal);
      }
    },
  });
}

const keeps = everyMinute(async (client, signal) => {
  await client.create(ConfigMap, { metadata: key, data: { a: '1' } }, { signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
});

const small: Omit<SimulateOptions, 'operator'> = { replicas: 1, seeds: 1, simulatedMinutes: 10, compare: false };

async function failureOf(options: SimulateOptions) {
  const outcome: unknown = await simulate(options).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  return outcome;
}

it('gives each seed one trace, and different seeds different ones', async () => {
  const run = (seed: number) => simulate({ ...small, operator: keeps, seed, seeds: 2 });
  const [first, again] = [await run(1), await run(1)];
  expect([...again.hashes]).toEqual([...first.hashes]);
  expect(new Set(first.hashes.values()).size).toBe(2);
});

it('passes an hour of faults in virtual time', async () => {
  const result = await simulate({
    ...small,
    operator: keeps,
    simulatedMinutes: 60,
    settled: async ({ client }) => void (await client.get(ConfigMap, key)),
  });
  expect(result.simulatedHours).toBeGreaterThan(1);
  expect(result.faults).toBeGreaterThan(100);
});

it('reports what does not converge, with advice, seed and timeline', async () => {
  const { message, violation } = await failureOf({
    ...small,
    operator: everyMinute(() => Promise.resolve()),
    settled: async ({ client }) => void (await client.get(ConfigMap, key)),
  });
  expect(violation.rule).toBe('convergence');
  expect(message).toContain('configmaps "kept" not found');
  expect(message).toContain('KCTL_SEED=1');
  expect(message).toContain('shrunk from');
});

it.each([
  ['setTimeout()', () => void setTimeout(() => undefined, 10)],
  ['Date.now()', () => void Date.now()],
  ['new Date()', () => void new Date()],
  ['Math.random()', () => void Math.random()],
  ['performance.now()', () => void performance.now()],
])('names the line that calls %s', async (what, use) => {
  const operator = everyMinute(() => {
    use();
    return Promise.resolve();
  });
  const { violation, message } = await failureOf({ ...small, operator, faults: 'none' });
  expect(violation.rule).toBe('stray');
  // What is the same in each world, and what was not shrunk, is not in the report.
  expect(message).not.toMatch(/apiservices|shrunk from/);
  expect(violation.message).toMatch(
    new RegExp(`^${what.replace(/[.()]/g, '\\$&')} is called at .*simulate\\.test\\.ts:`),
  );
});

it('runs the seed of KCTL_SEED alone, also where the options begin with another', () => {
  const options = { ...small, operator: keeps, seed: 100, seeds: 50 };
  expect(compileOptions(options, { KCTL_SEED: '7' })).toMatchObject({ seed: 7, seeds: 1 });
  expect(compileOptions(options, { KCTL_SEED: '' })).toMatchObject({ seed: 100, seeds: 50 });
  expect(() => compileOptions(options, { KCTL_SEED: 'abc' })).toThrow(
    'simulate: KCTL_SEED "abc" is not valid: expected an integer ≥ 0',
  );
});

it('runs the seed of KCTL_SEED alone', async () => {
  vi.stubEnv('KCTL_SEED', '7');
  try {
    const { hashes } = await simulate({ ...small, operator: keeps, simulatedMinutes: 1, seeds: undefined as never });
    expect([...hashes.keys()]).toEqual([7]);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('gives the globals back', async () => {
  const before = [globalThis.setTimeout, globalThis.Date, Math.random, process.listeners('unhandledRejection').length];
  await simulate({ ...small, operator: keeps });
  expect([globalThis.setTimeout, globalThis.Date, Math.random, process.listeners('unhandledRejection').length]).toEqual(
    before,
  );
});

it('finds what a stop leaves behind', async () => {
  const operator = ({ connection, clock }: ReplicaWorld): Operator => ({
    run: async (signal) => {
      const client = createHttpClient({ connection, clock });
      void client.watch(ConfigMap, { namespace: 'default' });
      await untilAborted(new Promise(() => undefined), signal);
    },
  });
  const { violation } = await failureOf({ ...small, operator, faults: 'none' });
  expect(violation.rule).toBe('left-behind');
});

it('finds an unhandled rejection', async () => {
  const operator = everyMinute((client, signal) => {
    void client.get(ConfigMap, { ...key, name: 'missing' }, { signal });
    return Promise.resolve();
  });
  const { violation } = await failureOf({ ...small, operator, faults: 'none' });
  expect(violation).toMatchObject({ rule: 'unhandled-rejection' });
});

it('finds writes in quiet times', async () => {
  let count = 0;
  const operator = everyMinute((client, signal) =>
    client.patch(ConfigMap, key, { type: 'merge', body: { data: { n: String(++count) } } }, { signal }),
  );
  const { violation } = await failureOf({
    ...small,
    operator,
    faults: 'none',
    workload: async ({ client }) => void (await client.create(ConfigMap, { metadata: key })),
  });
  expect(violation).toMatchObject({ rule: 'wakes-itself', object: 'configmaps default/kept' });
  expect(violation.message).toContain('data.n');
});

it('compares with the run without faults', async () => {
  const operator = everyMinute(async (client, signal) => {
    try {
      await client.get(ConfigMap, key, { signal });
    } catch (error) {
      if (!isNotFound(error)) await client.create(ConfigMap, { metadata: { ...key, name: 'panic' } }, { signal });
      else await client.create(ConfigMap, { metadata: key }, { signal });
    }
  });
  const { violation } = await failureOf({ ...small, operator, compare: true, seeds: 20 });
  expect(violation.rule).toBe('differs-from-undisturbed');
});

it('refuses options that are not valid by name', async () => {
  await expect(simulate({ ...small, operator: keeps, replicas: 0 })).rejects.toThrow(/replicas/);
  await expect(simulate({ ...small, operator: keeps, faults: { meteor: 1 } as never })).rejects.toThrow(/meteor/);
  await expect(simulate({ ...small, operator: keeps, sedes: 3 } as never)).rejects.toThrow(/sedes/);
});
