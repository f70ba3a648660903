import { isAlreadyExists, type KubeObject } from '@kctl/apimachinery';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { isSimulationFailed, simulate, type Operator, type ReplicaWorld, type SimulateOptions } from '../src/index.js';

const key = { namespace: 'default', name: 'watched' };
const small: Omit<SimulateOptions, 'operator'> = {
  replicas: 1,
  seeds: 1,
  simulatedMinutes: 10,
  compare: false,
  shrink: false,
  faults: 'none',
  verifyReplay: false,
};

async function violationOf(options: SimulateOptions) {
  const outcome: unknown = await simulate(options).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  return outcome.violation;
}

async function eachMinute(
  { connection, clock }: ReplicaWorld,
  signal: AbortSignal,
  turn: (client: HttpClient) => Promise<unknown>,
): Promise<void> {
  await using client = createHttpClient({ connection, clock });
  while (!signal.aborted) {
    await turn(client).catch(() => undefined);
    await untilAborted(sleep(60_000, { clock, signal }), signal);
  }
}

type Told = readonly [type: 'add' | 'update' | 'delete', resourceVersion: string];
type Handler = { onEvent(event: object): Promise<void> };

/** A cache of one kind whose informer tells each handler the same, without waiting for it where `isHasty`. */
function cacheThatTells(told: readonly Told[], { isHasty = false } = {}) {
  const addEventHandler = (handler: Handler) => {
    void (async () => {
      for (const [type, resourceVersion] of told) {
        const call = handler.onEvent({
          type,
          key: 'default/watched',
          header: { uid: 'u', resourceVersion },
          leftScope: false,
        });
        if (!isHasty) await call;
      }
    })();
    return { hasSynced: false, remove: () => Promise.resolve() };
  };
  return {
    informers: () => [{ kind: ConfigMap, isWanted: true, state: { phase: 'watching' } }],
    acquire: (_kind: unknown = ConfigMap) => ({
      informer: { addEventHandler },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
    project: (_kind: unknown, object: KubeObject) => object,
  };
}

it.each<[string, readonly Told[], { isHasty?: boolean }]>([
  [
    'gets an add of what it was given already',
    [
      ['add', '5'],
      ['add', '6'],
    ],
    {},
  ],
  ['gets an update of what it was never given', [['update', '5']], {}],
  ['gets a delete of what it was never given', [['delete', '5']], {}],
  [
    'gets version 5 after 7',
    [
      ['add', '7'],
      ['update', '5'],
    ],
    {},
  ],
  [
    'while its last callback runs',
    [['add', '5'], ...Array.from({ length: 20 }, (_, index): Told => ['update', String(index + 10)])],
    { isHasty: true },
  ],
])('finds a handler that %s', async (words, told, how) => {
  const operator = (world: ReplicaWorld): Operator => ({
    run: (signal) => eachMinute(world, signal, () => Promise.resolve()),
    cache: cacheThatTells(told, how),
  });
  const { rule, message } = await violationOf({ ...small, operator });
  expect(rule).toBe('illegal-history');
  expect(message).toContain(words);
});

it("watches the operator's own handlers too", async () => {
  const given: unknown[] = [];
  const operator = (world: ReplicaWorld): Operator => {
    const cache = {
      ...cacheThatTells([
        ['add', '7'],
        ['update', '5'],
      ]),
      informers: () => [], // no handler of the world joins
    };
    return {
      run: async (signal) => {
        const { informer } = cache.acquire(ConfigMap);
        informer.addEventHandler({ onEvent: (event) => Promise.resolve(void given.push(event)) });
        await eachMinute(world, signal, () => Promise.resolve());
      },
      cache,
    };
  };
  const { rule, message } = await violationOf({ ...small, operator });
  expect(rule).toBe('illegal-history');
  expect(message).toMatch(/one of the operator's own handlers of ConfigMap gets version 5 after 7/);
  expect(given).toHaveLength(2);
});

it('waits for a handler that is in the middle of an event when it compares', async () => {
  for (let offsetMs = 0; offsetMs < 10_000; offsetMs += 2000) {
    const operator = (world: ReplicaWorld): Operator => {
      const { clock } = world;
      let told = Promise.resolve();
      let tell: (resourceVersion: string) => void = () => undefined;
      let isFirst = true;
      const cache = {
        ...cacheThatTells([]),
        informers: () => [], // no handler of the world joins
        acquire: (_kind: unknown) => ({
          informer: {
            addEventHandler: ({ onEvent }: Handler) => {
              tell = (resourceVersion) => {
                const type = isFirst ? 'add' : 'update';
                isFirst = false;
                const event = { type, key: 'default/watched', header: { uid: 'u', resourceVersion }, leftScope: false };
                told = told.then(() => onEvent(event));
              };
              return { hasSynced: true, remove: () => Promise.resolve() };
            },
          },
          [Symbol.asyncDispose]: () => Promise.resolve(),
        }),
      };
      return {
        // Two writes in a second, of which the second waits for the handler: for 3 of each 10 seconds.
        run: async (signal) => {
          const { informer } = cache.acquire(ConfigMap);
          informer.addEventHandler({ onEvent: () => sleep(4000, { clock }) });
          await using client = createHttpClient({ connection: world.connection, clock });
          for (let count = 0; !signal.aborted; count++) {
            const body = { data: { n: String(count) } };
            tell((await client.patch(ConfigMap, key, { type: 'merge', body })).metadata.resourceVersion);
            await untilAborted(sleep(count % 2 === 0 ? 1000 : 9000, { clock, signal }), signal);
          }
        },
        cache,
      };
    };
    const workload: SimulateOptions['workload'] = async ({ client }) =>
      void (await client.create(ConfigMap, { metadata: key }));
    const only = ['illegal-history' as const];
    await simulate({ ...small, operator, workload, simulatedMinutes: 1, quietMs: 60_000 + offsetMs, only });
  }
});

it('finds a read that is behind an own write', async () => {
  let count = 0;
  const operator = (world: ReplicaWorld): Operator => {
    let first: KubeObject | undefined;
    const old = () => Promise.resolve(first);
    return {
      run: (signal) =>
        eachMinute(world, signal, async (client) => {
          const written = await client.patch(ConfigMap, key, { type: 'merge', body: { data: { n: String(++count) } } });
          first ??= written;
        }),
      cache: { informers: () => [{ kind: ConfigMap, isWanted: true }] },
      client: { get: old, list: async () => ({ items: [await old()] }) },
    };
  };
  const { rule, message } = await violationOf({
    ...small,
    operator,
    workload: async ({ client }) => void (await client.create(ConfigMap, { metadata: key })),
  });
  expect(rule).toBe('reads-behind-own-writes');
  expect(message).toContain('configmaps default/watched');
});

it('finds a read of what the replica has deleted', async () => {
  const operator = (world: ReplicaWorld): Operator => {
    let first: KubeObject | undefined;
    const old = () => Promise.resolve(first);
    return {
      run: (signal) =>
        eachMinute(world, signal, async (client) => {
          first ??= await client.get(ConfigMap, key);
          await client.delete(ConfigMap, key);
        }),
      cache: { informers: () => [{ kind: ConfigMap, isWanted: true }] },
      client: { get: old, list: async () => ({ items: [await old()] }) },
    };
  };
  const workload: SimulateOptions['workload'] = async ({ client }) =>
    void (await client.create(ConfigMap, { metadata: key }));
  const { rule, message } = await violationOf({ ...small, operator, workload });
  expect(rule).toBe('reads-behind-own-writes');
  expect(message).toContain('which it has deleted');
});

it('finds two replicas that say that they lead', async () => {
  const metadata = { namespace: 'default', name: 'lease' };
  const operator = (world: ReplicaWorld): Operator => ({
    isLeader: true,
    run: (signal) =>
      eachMinute(world, signal, async (client) => {
        const spec = { holderIdentity: world.name };
        await client.create(Lease, { metadata, spec }).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
        await client.patch(Lease, metadata, { type: 'merge', body: { spec } });
      }),
  });
  const { rule, message } = await violationOf({ ...small, replicas: 2, operator });
  expect(rule).toBe('two-claim-to-lead');
  expect(message).toMatch(/replica-[12] says that it leads while replica-[12] holds the Lease/);
});

it('finds timers that grow in number while nothing moves', async () => {
  const operator = (world: ReplicaWorld): Operator => ({
    run: (signal) =>
      eachMinute(world, signal, () => {
        for (let count = 0; count < 20; count++) world.clock.setTimer(() => undefined, 1e9);
        return Promise.resolve();
      }),
  });
  expect(await violationOf({ ...small, simulatedMinutes: 1, operator })).toMatchObject({ rule: 'piles-up' });
});

it('finds promises that are held, more and more, while nothing moves', async () => {
  const held: unknown[] = [];
  const operator = (world: ReplicaWorld): Operator => ({
    run: (signal) =>
      eachMinute(world, signal, () => {
        for (let count = 0; count < 50; count++) held.push(new Promise(() => undefined));
        return Promise.resolve();
      }),
  });
  const { rule, message } = await violationOf({ ...small, simulatedMinutes: 1, operator, countObjects: 'first' });
  expect(rule).toBe('piles-up');
  expect(message).toContain('promises that something holds grew');
});

it('shows each step, and what came of each seed', async () => {
  const steps: string[] = [];
  const seeds: number[] = [];
  await simulate({
    ...small,
    operator: (world) => ({ run: (signal) => eachMinute(world, signal, (client) => client.list(ConfigMap)) }),
    seeds: 2,
    onStep: ({ who, what }) => void steps.push(`${who}: ${what}`),
    onSeed: ({ seed }) => void seeds.push(seed),
  });
  expect(seeds).toEqual([1, 2]);
  expect(steps).toContain('replica-1: starts');
  expect(steps.filter((step) => step === 'replica-1: run ended')).toHaveLength(2);
});

it('stops replicas by their signal, and starts them again', async () => {
  let lives = 0;
  const { faults } = await simulate({
    ...small,
    simulatedMinutes: 60,
    faults: { restart: 30 },
    operator: (world) => {
      lives++;
      return { run: (signal) => eachMinute(world, signal, (client) => client.list(ConfigMap)) };
    },
  });
  expect(faults).toBeGreaterThan(5);
  expect(lives).toBe(faults + 1);
});
