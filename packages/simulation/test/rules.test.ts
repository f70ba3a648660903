import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { isSimulationFailed, simulate, type Operator, type ReplicaWorld, type SimulateOptions } from '../src/index.js';

const key = { namespace: 'default', name: 'shop' };
const small: Omit<SimulateOptions, 'operator'> = {
  replicas: 1,
  seeds: 1,
  simulatedMinutes: 2,
  compare: false,
  shrink: false,
  faults: 'none',
  verifyReplay: false,
  convergeWithinMs: 60_000,
  workload: async ({ client }) => {
    await client.create(ConfigMap, { metadata: key, data: { n: '0' } });
    await client.create(Lease, { metadata: key, spec: {} });
  },
};

interface Turn extends ReplicaWorld {
  readonly client: HttpClient;
  readonly signal: AbortSignal;
  /** From 0. */
  readonly turn: number;
}

/** An operator that does this every so often, and lives through whatever it rejects with. */
function every(ms: number, work: (turn: Turn) => Promise<unknown>) {
  return (world: ReplicaWorld): Operator => ({
    run: async (signal) => {
      const { connection, clock } = world;
      await using client = createHttpClient({ connection, clock });
      for (let turn = 0; !signal.aborted; turn++) {
        await work({ ...world, client, signal, turn }).catch(() => undefined);
        await untilAborted(sleep(ms, { clock, signal }), signal);
      }
    },
  });
}

const waits = (signal: AbortSignal): Promise<unknown> => untilAborted(new Promise(() => undefined), signal);
const setData = ({ client }: Turn, n: string): Promise<unknown> =>
  client.patch(ConfigMap, key, { type: 'merge', body: { data: { n } } });
const hold = ({ client }: Turn, holderIdentity: string): Promise<unknown> =>
  client.patch(Lease, key, { type: 'merge', body: { spec: { holderIdentity, leaseDurationSeconds: 15 } } });
const reconcile = ({ tracer }: Turn, work: () => Promise<unknown>, controller = 'shop'): Promise<unknown> =>
  tracer.withSpan('reconcile', { controller, request: 'default/shop' }, work);

/** A cache of ConfigMaps that has nothing in it. */
const emptyCache = (phase: string, hasSynced = true): Operator['cache'] => ({
  informers: () => [{ kind: ConfigMap, isWanted: true, hasSynced, state: { phase } }],
  list: () => Promise.resolve({ items: [] }),
  project: (_kind: unknown, object: unknown) => object,
});

/** A replica that waits, and answers what asks whether it is ready. */
const answers = (status: number, cache?: Operator['cache']) => (): Operator => ({
  cache,
  run: async (signal) => {
    const server = createServer((_request, response) => void response.writeHead(status).end());
    server.listen(8081);
    await waits(signal);
    server.close();
  },
});

it.each<[rule: string, message: RegExp, options: Partial<SimulateOptions> & Pick<SimulateOptions, 'operator'>]>([
  [
    'two-leaders',
    /replica-1 sends patch configmaps default\/shop while replica-2 holds the Lease/,
    {
      replicas: 2,
      operator: every(2_000, async (turn) => {
        if (turn.turn === (turn.name === 'replica-1' ? 5 : 30)) await hold(turn, turn.name);
        if (turn.name === 'replica-1') await setData(turn, '1');
      }),
    },
  ],
  [
    'write-after-release',
    /replica-1 sends patch configmaps default\/shop after it gave the Lease back/,
    {
      operator: every(2_000, async (turn) => {
        await hold(turn, turn.turn < 10 ? turn.name : '');
        await setData(turn, '1');
      }),
    },
  ],
  [
    'released-with-work',
    /replica-1 gives the Lease back while shop reconciles default\/shop/,
    {
      operator: every(2_000, async (turn) => {
        await hold(turn, turn.name);
        await reconcile(turn, () => hold(turn, ''));
      }),
    },
  ],
  [
    'election-request-hangs',
    /replica-1 has waited 60 s for an answer to (?:get|patch) of the Lease, which lasts 15 s/,
    {
      faults: { 'half-open': 120 },
      simulatedMinutes: 10,
      operator: every(2_000, async (turn) => {
        await hold(turn, turn.name);
        await turn.client.get(Lease, key);
      }),
    },
  ],
  [
    'one-reconcile-per-key',
    /controller shop reconciles default\/shop twice at the same time/,
    {
      operator: every(60_000, (turn) => {
        const work = (): Promise<unknown> => sleep(1000, { clock: turn.clock });
        return Promise.all([reconcile(turn, work), reconcile(turn, work)]);
      }),
    },
  ],
  [
    'cache-differs',
    /lacks configmaps default\/shop/,
    { operator: () => ({ run: waits, cache: emptyCache('watching') }) },
  ],
  [
    'informer-stuck',
    /the cache of ConfigMap is listing in quiet times/,
    { operator: () => ({ run: waits, cache: emptyCache('listing') }) },
  ],
  ['request-storm', /sent 6000 requests within/, { operator: every(50, ({ client }) => client.get(ConfigMap, key)) }],
  [
    'write-storm',
    /configmaps default\/shop was written 400 times/,
    { operator: every(500, (turn) => setData(turn, String(turn.turn))) },
  ],
  [
    'creates-again',
    /configmaps of replica-1 were created in 10 quiet minutes.*generateName/,
    {
      operator: every(60_000, ({ client }) =>
        client.create(ConfigMap, { metadata: { namespace: 'default', generateName: 'shop-' } }),
      ),
    },
  ],
  [
    'wakes-itself',
    /configmaps default\/shop was written \d+ times in 10 quiet minutes, each time with another data.n/,
    { operator: every(20_000, (turn) => setData(turn, String(turn.turn))) },
  ],
  ['writes-nothing-new', /without a change/, { operator: every(60_000, (turn) => setData(turn, '1')) }],
  [
    'status-flaps',
    /data.n of configmaps default\/shop changes back and forth/,
    { operator: every(60_000, (turn) => setData(turn, String(turn.turn % 2))) },
  ],
  [
    'controllers-fight',
    /one and two change data.n of configmaps default\/shop back and forth|two and one change/,
    {
      operator: every(60_000, async (turn) => {
        await reconcile(turn, () => setData(turn, '1'), 'one');
        await reconcile(turn, () => setData(turn, '2'), 'two');
      }),
    },
  ],
  [
    'requeues-for-ever',
    /ran \d+ times in 10 quiet minutes and wrote nothing/,
    { operator: every(5_000, (turn) => reconcile(turn, () => Promise.resolve())) },
  ],
  [
    'reconcile-fails',
    /failed \d+ times in 10 quiet minutes, without any fault: broken/,
    { operator: every(60_000, (turn) => reconcile(turn, () => Promise.reject(new Error('broken')))) },
  ],
  [
    'orphan',
    /setControllerReference/,
    {
      operator: every(10_000, async (turn) => {
        await turn.client.get(Secret, key);
        await reconcile(turn, () => turn.client.create(ConfigMap, { metadata: { ...key, name: 'child' } }));
      }),
      workload: async ({ client, sleep: pause }) => {
        await client.create(Secret, { metadata: key });
        await pause(60_000);
        await client.delete(Secret, key);
      },
    },
  ],
  [
    'deletion-stuck',
    /configmaps default\/shop/,
    {
      operator: () => ({ run: waits }),
      workload: async ({ client }) => {
        await client.create(ConfigMap, { metadata: { ...key, finalizers: ['example.com/never'] } });
        await client.delete(ConfigMap, key);
      },
    },
  ],
  [
    'stop-hangs',
    /run has not ended \d+ s after its signal/,
    { operator: () => ({ run: () => new Promise(() => undefined) }) },
  ],
  [
    'stop-fails',
    /run rejected after its signal was aborted: too late/,
    { operator: () => ({ run: (signal) => waits(signal).then(() => Promise.reject(new Error('too late'))) }) },
  ],
  [
    'process-ends',
    /run ended by itself in quiet times: run ended without a stop/,
    { operator: ({ clock }) => ({ run: (signal) => sleep(300_000, { clock, signal }) }) },
  ],
  [
    'uncaught-error',
    /thrown from a turn of the event loop/,
    {
      operator: every(60_000, () => {
        setImmediate(() => {
          throw new Error('thrown from a turn of the event loop');
        });
        return Promise.resolve();
      }),
    },
  ],
  [
    'ready-before-sync',
    /its cache of ConfigMap has not synced/,
    { operator: answers(200, emptyCache('listing', false)) },
  ],
  ['unready-in-quiet', /answers \/readyz with 500 when nothing is broken/, { operator: answers(500) }],
])('finds what breaks the rule %s', async (rule, message, options) => {
  const outcome: unknown = await simulate({ ...small, ...options, only: [rule] }).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  expect(outcome.violation.rule).toBe(rule);
  expect(outcome.violation.message).toMatch(message);
});

it('counts no storm while two may lead after an edit of the Lease by hand', async () => {
  const options: SimulateOptions = {
    ...small,
    only: ['write-storm'],
    quietMs: 0,
    operator: every(100, (turn) =>
      turn.turn > 600 && turn.turn < 1100 ? setData(turn, String(turn.turn)) : Promise.resolve(),
    ),
  };
  await expect(simulate(options)).rejects.toThrow(/write-storm/);
  await simulate({ ...options, faults: { 'lease-edit': 1200 } });
});

it('counts no creation that the garbage collector undoes', async () => {
  const gone = { apiVersion: 'v1', kind: 'Secret', name: 'gone', uid: '00000000-0000-4000-8000-000000000000' };
  const creating = (ownerReferences: (typeof gone)[]): SimulateOptions => ({
    ...small,
    only: ['creates-again'],
    simulatedMinutes: 10,
    quietMs: 0,
    operator: every(500, async ({ client, turn }) => {
      if (turn > 500) return;
      await client.create(ConfigMap, { metadata: { namespace: 'default', generateName: 'shop-', ownerReferences } });
    }),
  });
  await expect(simulate(creating([]))).rejects.toThrow(/400 configmaps of replica-1 were created within/);
  await simulate(creating([gone]));
});

it('takes several writes of a timer that is due now and then for no reconcile that wakes itself', async () => {
  const operator = every(200_000, async (turn) => {
    for (const step of [1, 2, 3]) await setData(turn, `${turn.turn}.${step}`);
  });
  await simulate({ ...small, simulatedMinutes: 10, operator });
});

it('takes how long a Lease lasts from those who lead by it, not from an edit by hand', async () => {
  const options = {
    ...small,
    only: ['election-request-hangs'],
    faults: { 'half-open': 120 },
    simulatedMinutes: 10,
    operator: ({ connection, clock, name }: ReplicaWorld): Operator => ({
      run: async (signal) => {
        await using client = createHttpClient({ connection, clock, requestTimeoutMs: 5_000 });
        const spec = { holderIdentity: name, leaseDurationSeconds: 15 };
        await client.patch(Lease, key, { type: 'merge', body: { spec } }).catch(() => undefined);
        while (!signal.aborted) {
          await client.get(Lease, key).catch(() => undefined);
          await untilAborted(sleep(2_000, { clock, signal }), signal);
        }
      },
    }),
  };
  // A Lease that was given back says a second; another client may put a name into it.
  const spec = { holderIdentity: 'edited-by-hand', leaseDurationSeconds: 1 };
  const edited: typeof small.workload = async (world) => {
    await small.workload?.(world);
    await world.sleep(20_000);
    await world.client.patch(Lease, key, { type: 'merge', body: { spec } });
  };
  await expect(simulate({ ...options, workload: edited })).resolves.toMatchObject({ seeds: 1 });
});

it('has a test for each rule of the README', () => {
  const [, rules = ''] = readFileSync(new URL('../README.md', import.meta.url), 'utf8').split(
    /\n## (?:Rules|The machine)\n/,
  );
  const names = [...rules.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  );
  const tests = readdirSync(new URL('.', import.meta.url))
    .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    .join('\n');
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !tests.includes(`'${name}'`))).toEqual([]);
});
