import { execFileSync, spawn } from 'node:child_process';
import {
  getRandomValues,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  scrypt,
  subtle,
} from 'node:crypto';
import { lookup, promises as dnsPromises, Resolver } from 'node:dns';
import { opendir, readFile as readFileThen, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { uptime } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { gzip } from 'node:zlib';
import { setInterval as ticks, setTimeout as later, scheduler } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { sleep, systemRandom, untilAborted } from '@kctl/wait';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { expect, it, vi } from 'vitest';
import { isSimulationFailed, simulate, type Operator, type ReplicaWorld, type SimulateOptions } from '../src/index.js';

const small: Omit<SimulateOptions, 'operator'> = {
  replicas: 1,
  seeds: 1,
  simulatedMinutes: 1,
  quietMs: 0,
  compare: false,
  shrink: false,
  faults: 'none',
  verifyReplay: false,
};
const idle = (): Operator => ({ run: (signal) => untilAborted(new Promise(() => undefined), signal) });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** One that calls back whenever garbage is collected. */
const madeBefore = new FinalizationRegistry(() => undefined);

/** An operator that does this once a minute, whatever it throws. */
const everyMinute =
  (turn: (world: ReplicaWorld) => unknown) =>
  (world: ReplicaWorld): Operator => ({
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await turn(world);
        } catch {
          // What is not there in a world.
        }
        await untilAborted(sleep(10_000, { clock: world.clock, signal }), signal);
      }
    },
  });

async function messageOf(options: Partial<SimulateOptions> & Pick<SimulateOptions, 'operator'>): Promise<string> {
  const outcome: unknown = await simulate({ ...small, ...options }).catch((error: unknown) => error);
  if (!(outcome instanceof Error)) throw new Error('it does not fail');
  return isSimulationFailed(outcome) ? `${outcome.violation.rule}: ${outcome.violation.message}` : outcome.message;
}

it.each<[what: string, use: () => unknown]>([
  ['setInterval()', () => setInterval(() => undefined, 1000)],
  ['AbortSignal.timeout()', () => AbortSignal.timeout(1000)],
  ['setTimeout() of node:timers/promises', () => later(10)],
  ['setTimeout() of node:timers/promises', () => scheduler.wait(10)],
  ['setTimeout() of node:timers/promises', () => ticks(10)[Symbol.asyncIterator]().next()],
  ['setTimeout() of node:timers/promises', () => promisify(setTimeout)(10)],
  ['process.hrtime()', () => process.hrtime()],
  ['process.hrtime.bigint()', () => process.hrtime.bigint()],
  ['process.uptime()', () => process.uptime()],
  ['fetch()', () => fetch('http://127.0.0.1:1/')],
  ['a socket', () => connect(1, '127.0.0.1')],
  ['a socket', () => get('http://127.0.0.1:1/')],
  ['watch() of node:fs', () => watch(import.meta.dirname).close()],
  ['readFile() of node:fs', () => readFileThen(import.meta.filename, () => undefined)],
  ['readFile() of node:fs/promises', () => readFile(import.meta.filename)],
  ['spawn() of node:child_process', () => spawn(process.execPath, ['--version'], { stdio: 'ignore' }).unref()],
  ['lookup() of node:dns', () => lookup('localhost', () => undefined)],
  ['new Worker()', () => new Worker('', { eval: true }).unref()],
  ['new MessageChannel()', () => new MessageChannel().port1.close()],
  ['new BroadcastChannel()', () => new BroadcastChannel('shop').close()],
  ['new WebSocket()', () => void new WebSocket('ws://127.0.0.1:1')],
  ['a socket', () => connectTls(1, '127.0.0.1')],
  ['a socket', () => connectHttp2('http://127.0.0.1:1')],
  ['execFileSync() of node:child_process', () => execFileSync(process.execPath, ['--version'])],
  ['opendir() of node:fs', () => opendir(import.meta.dirname, () => undefined)],
  ['resolve() of node:dns/promises', () => dnsPromises.resolve('localhost').catch(() => undefined)],
  ['resolve4() of a Resolver of node:dns', () => new Resolver().resolve4('localhost', () => undefined)],
  ['performance.timeOrigin', () => performance.timeOrigin],
  ['performance.mark()', () => performance.mark('turn')],
  ['uptime() of node:os', () => uptime()],
  ['Intl.DateTimeFormat.format()', () => new Intl.DateTimeFormat('en').format()],
  ['Intl.DateTimeFormat.formatToParts()', () => new Intl.DateTimeFormat('en').formatToParts()],
  ['Atomics.wait()', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)],
  ['FinalizationRegistry.register()', () => madeBefore.register({}, 1)],
  ['scrypt() of node:crypto', () => scrypt('a', 'b', 8, { N: 2 }, () => undefined)],
  ['gzip() of node:zlib', () => gzip('a', () => undefined)],
  ['digest() of crypto.subtle', () => subtle.digest('SHA-256', new Uint8Array(1))],
])('names the line that uses %s', async (what, use) => {
  const message = await messageOf({ operator: everyMinute(use) });
  expect(message.startsWith(`stray: ${what} is called at `), message).toBe(true);
  expect(message).toMatch(/attacks\.test\.ts:\d+/);
});

const drawn = (): Promise<number> => new Promise((resolve) => randomInt(1000, (_error, value) => resolve(value)));

it('leaves alone what is the same in each run, and gives it by the seed', async () => {
  const run = async (seed: number): Promise<string> => {
    const seen: unknown[] = [];
    await simulate({
      ...small,
      seed,
      operator: everyMinute(async () => {
        seen.push(randomUUID(), randomBytes(4).toString('hex'), randomInt(1000), randomInt(5, 6));
        seen.push(globalThis.crypto.randomUUID(), [...globalThis.crypto.getRandomValues(new Uint32Array(2))]);
        seen.push([...randomFillSync(new Uint8Array(6), 2)]);
        await new Promise<void>((resolve) => setImmediate(resolve));
        await new Promise<void>((resolve) => process.nextTick(resolve));
        await new Promise<void>((resolve) => queueMicrotask(resolve));
        await promisify(setImmediate)();
        await scheduler.yield();
        seen.push(structuredClone({ a: 1 }), new Date(0).toISOString());
        seen.push([...getRandomValues(new Uint8Array(3))], await promisify(randomBytes)(3), await drawn());
        seen.push(await promisify(randomFill)(new Uint8Array(3)));
      }),
    });
    return JSON.stringify(seen);
  };
  const [first, again, other] = [await run(1), await run(1), await run(2)];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  expect((JSON.parse(first) as unknown[]).length % 13).toBe(0);
});

it('sees a stray that comes after many uses that are allowed', async () => {
  const message = await messageOf({
    operator: everyMinute(() => {
      for (let n = 0; n < 150; n++) systemRandom();
      for (let n = 0; n < 50; n++) Math.random();
    }),
  });
  expect(message).toMatch(/^stray: Math\.random\(\) is called at .*attacks\.test\.ts/);
});

it('keeps what a WeakRef refers to, and calls no finalizer, so that no run depends on the collector', async () => {
  const seen: unknown[] = [];
  const references: WeakRef<object>[] = [];
  let finalized = 0;
  await simulate({
    ...small,
    simulatedMinutes: 2,
    operator: everyMinute(() => {
      const reference = new WeakRef({ made: references.length });
      expect(reference).toBeInstanceOf(WeakRef);
      references.push(reference);
      new FinalizationRegistry(() => void finalized++).register({}, 1);
      collect();
      seen.push(references.map((each) => each.deref()));
    }),
  });
  expect(seen.at(-1)).toEqual(references.map((_, made) => ({ made })));
  expect(references.length).toBeGreaterThan(3);
  expect(finalized).toBe(0);
});

it('has the time zone UTC wherever it runs, and gives that of the machine back', async () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  try {
    const seen = new Set<unknown>();
    await simulate({
      ...small,
      operator: everyMinute(() => {
        const date = new Date(0);
        seen.add([date.getHours(), date.getTimezoneOffset(), date.toLocaleTimeString('en-GB')].join(' '));
        seen.add(new Intl.DateTimeFormat().resolvedOptions().timeZone);
        seen.add(new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }).format(date));
      }),
    });
    expect([...seen]).toEqual(['0 0 00:00:00', 'UTC', '00:00']);
    expect(new Date(0).getHours()).toBe(9);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('runs callbacks in the order of Node: ticks, promises, immediates, timers', async () => {
  const runs: string[] = [];
  const order = async (clock: ReplicaWorld['clock']): Promise<void> => {
    const seen: string[] = [];
    const timer = new Promise<void>((resolve) => {
      clock.setTimer(() => {
        seen.push('timer');
        resolve();
      }, 0);
    });
    setImmediate(() => {
      seen.push('immediate');
      process.nextTick(() => seen.push('tick of it'));
      void Promise.resolve().then(() => seen.push('promise of it'));
    });
    setImmediate(() => seen.push('second immediate'));
    void Promise.resolve().then(() => seen.push('promise'));
    queueMicrotask(() => seen.push('microtask'));
    process.nextTick(() => seen.push('tick'));
    await timer;
    runs.push(seen.join(', '));
  };
  await simulate({ ...small, operator: everyMinute(({ clock }) => order(clock)) });
  // Ticks come after the promises of a turn where that turn is one of promises, as everywhere in Node.
  expect(new Set(runs)).toEqual(
    new Set(['promise, microtask, tick, immediate, tick of it, promise of it, second immediate, timer']),
  );
});

it.each<[options: object, words: RegExp]>([
  [{ seeds: 0 }, /seeds 0/],
  [{ seeds: 1.5 }, /seeds 1\.5/],
  [{ seed: NaN }, /seed NaN/],
  [{ simulatedMinutes: 0 }, /simulatedMinutes 0/],
  [{ simulatedMinutes: Infinity }, /simulatedMinutes Infinity/],
  [{ replicas: -1 }, /replicas -1/],
  [{ replicas: 0 }, /replicas 0 is not valid: expected an integer ≥ 1/],
  [{ replicas: 1e9 }, /replicas 1000000000 is not valid: expected an integer ≥ 1 and ≤ 100/],
  [{ seed: 2 ** 60 }, /seed 1152921504606847000 is not valid: expected an integer ≥ 0 and ≤ 9007199254740991/],
  [{ resources: [null] }, /resources\[0\] is null: expected an object with apiVersion and kind/],
  [{ faults: 'some' }, /faults is "some": expected "all", "none" or rates/],
  [{ faults: null }, /faults is null/],
  [{ faults: { crash: -1 } }, /faults\.crash -1/],
  [{ only: 'stray' }, /only is a value of type string: expected an array/],
  [{ only: ['two-leader'] }, /only has no rule "two-leader": did you mean "two-leaders"\?/],
  [{ only: [] }, /only is empty: no rule would count: leave it out, or name some/],
  [{ only: ['orphan'], except: ['orphan'] }, /except has all rules of only: no rule would count/],
  [{ except: ['convergance'] }, /except has no rule "convergance": did you mean "convergence"\?/],
  [{ workload: {} }, /workload is .*: expected a function/],
  [{ settled: 1 }, /settled is .*: expected a function/],
  [{ compare: 'no' }, /compare is .*: expected true or false/],
  [{ signal: new AbortController() }, /signal is an AbortController/],
  [{ operator: undefined }, /operator is not a function/],
])('refuses %o', async (options, words) => {
  await expect(simulate({ ...small, operator: idle, ...options })).rejects.toThrow(words);
});

it('refuses to run without options', async () => {
  await expect(simulate(undefined as never)).rejects.toThrow(/expected options/);
});

it('takes the name of a rule of the test', async () => {
  const message = await messageOf({
    operator: everyMinute(({ violate }) => violate('shop-is-open', 'it is closed')),
    only: ['shop-is-open'],
  });
  expect(message).toBe('shop-is-open: replica-1: it is closed');
});

it('rejects with the seed and the reason where the workload fails', async () => {
  const reason = new Error('no such shop');
  const failing = simulate({ ...small, seed: 5, operator: idle, workload: () => Promise.reject(reason) });
  await expect(failing).rejects.toThrow('simulate: the workload of seed 5 failed: no such shop');
  await expect(failing).rejects.toMatchObject({ cause: reason });
  const thrown = simulate({
    ...small,
    operator: idle,
    workload: () => {
      throw reason;
    },
  });
  await expect(thrown).rejects.toMatchObject({ cause: reason });
});

it('ends where the workload, or what asks whether it has settled, never does', async () => {
  expect(await messageOf({ operator: idle, workload: () => new Promise(() => undefined) })).toMatch(
    /the workload of seed 1 has not ended after 241 simulated minutes/,
  );
  expect(await messageOf({ operator: idle, settled: () => new Promise(() => undefined) })).toMatch(
    /^convergence: .*settled has not returned/,
  );
});

it('reports what settled rejects with as what has not converged', async () => {
  expect(await messageOf({ operator: idle, settled: () => Promise.reject(new Error('two are missing')) })).toMatch(
    /^convergence: not settled 300 s after the last fault: two are missing/,
  );
});

it.each([undefined, {}, 'manager', { run: 1 }])('refuses %o as an operator', async (made) => {
  expect(await messageOf({ operator: () => made as never })).toMatch(
    /operator made .*: expected an object that has run\(signal\)/,
  );
});

it('ends with its signal, between two steps, and leaves nothing of the world', async () => {
  const reason = new Error('the test is over');
  await expect(simulate({ ...small, operator: idle, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const before = [globalThis.setTimeout, globalThis.fetch, process.hrtime, readFile];
  const controller = new AbortController();
  let steps = 0;
  const running = simulate({
    ...small,
    seeds: 1000,
    operator: idle,
    signal: controller.signal,
    onSeed: () => {
      if (++steps === 2) controller.abort(reason);
    },
  });
  await expect(running).rejects.toBe(reason);
  expect(steps).toBe(2);
  const late = new AbortController();
  const endless = simulate({
    ...small,
    simulatedMinutes: 1e6,
    operator: everyMinute(() => undefined),
    signal: late.signal,
  });
  setTimeout(() => late.abort(reason), 20);
  await expect(endless).rejects.toBe(reason);
  expect([globalThis.setTimeout, globalThis.fetch, process.hrtime, readFile]).toEqual(before);
});

it('refuses a simulation inside of another and beside another, and the other goes on', async () => {
  let inner: unknown;
  await simulate({
    ...small,
    operator: idle,
    workload: async () => {
      inner = await simulate({ ...small, operator: idle }).catch((error: unknown) => error);
    },
  });
  expect(String(inner)).toContain('a simulation is running in this process already');
  const [first, second] = await Promise.allSettled([
    simulate({ ...small, operator: idle }),
    simulate({ ...small, operator: idle }),
  ]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
});

it.each<[what: string, operator: SimulateOptions['operator'], words: RegExp]>([
  ['makes no operator', () => Promise.reject(new Error('no shop')), /^process-ends: replica-[12]: .*no shop/],
  ['throws in run', () => ({ run: () => Promise.reject(new Error('no shop')) }), /^process-ends: .*no shop/],
  ['ends at once', () => ({ run: () => Promise.resolve() }), /^process-ends: .*run ended without a stop/],
  [
    'makes no second operator',
    ({ name }) => (name === 'replica-2' ? Promise.reject(new Error('one is enough')) : idle()),
    /^process-ends: replica-2: .*one is enough/,
  ],
])('reports a program that %s, with a quiet time and without', async (_what, operator, words) => {
  for (const quietMs of [0, 60_000])
    expect(await messageOf({ operator, replicas: 2, quietMs, only: ['process-ends'] })).toMatch(words);
});

it('reports an error that is thrown where no code can catch it, and leaves the listeners of the process', async () => {
  const before = process.listeners('uncaughtException');
  const operator = (): Operator => {
    process.nextTick(() => {
      throw new Error('in a tick');
    });
    return idle();
  };
  expect(await messageOf({ operator })).toMatch(/^uncaught-error: .*in a tick/);
  expect(process.listeners('uncaughtException')).toEqual(before);
});
