import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type Connection, type HttpClient } from '@kctl/client-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  fencedClient,
  isLeadershipLost,
  isNotLeader,
  type LeaderElector,
} from '../src/index.js';
import { leaseKind } from '../src/internal/index.js';
import { untilAborted } from './candidate.js';

let server: ApiServerWorker;
let connection: Connection;
let client: HttpClient;
const durations = { leaseDurationMs: 2_000, renewDeadlineMs: 1_200, retryPeriodMs: 200 };

beforeAll(async () => {
  // In a thread of its own: these tests block theirs.
  server = await startApiServerWorker();
  connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  client = createHttpClient({ connection });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.stop();
});

/** Blocks this thread, as a long computation does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

interface Running {
  readonly elector: LeaderElector;
  readonly stop: AbortController;
  readonly log: string[];
  readonly leads: Promise<undefined>;
  readonly ended: Promise<unknown>;
}

function start(
  identity: string,
  make: (callbacks: {
    onStartedLeading: (signal: AbortSignal) => Promise<void>;
    onStoppedLeading: (outcome: { led: boolean }) => void;
  }) => LeaderElector,
  work: (signal: AbortSignal) => Promise<void> = untilAborted,
): Running {
  const leads = Promise.withResolvers<undefined>();
  const log: string[] = [];
  const elector = make({
    onStartedLeading: async (signal) => {
      log.push('started');
      leads.resolve(undefined);
      await work(signal);
      log.push('work ended');
    },
    onStoppedLeading: ({ led }) => log.push(`${identity} ${led ? 'stopped' : 'never led'}`),
  });
  const stop = new AbortController();
  const ended = elector.run(stop.signal).then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return { elector, stop, log, leads: leads.promise, ended };
}

function startWorker(
  name: string,
  options: { mainStallLimitMs?: number; reelect?: boolean; work?: (signal: AbortSignal) => Promise<void> } = {},
): Running {
  const { work, ...rest } = options;
  return start(
    'w',
    (callbacks) =>
      createWorkerLeaderElector({
        ...durations,
        ...rest,
        callbacks,
        name,
        lockModule: new URL('./lease-lock-module.ts', import.meta.url),
        lockData: { connection, namespace: 'default', identity: name },
      }),
    work,
  );
}

async function holder(): Promise<string | undefined> {
  const lease = await client.get(leaseKind, { namespace: 'default', name: 'worker' });
  return lease.spec?.holderIdentity;
}

describe('createWorkerLeaderElector', () => {
  it('leads, aborts the work when stopped, and gives the lock back', async () => {
    const w = startWorker('plain');
    await w.leads;
    expect(w.elector.isLeader).toBe(true);
    const { renewedMsAgo = -1 } = w.elector;
    expect([renewedMsAgo >= 0, renewedMsAgo < durations.renewDeadlineMs]).toEqual([true, true]);
    expect(await holder()).toBe('plain');
    w.stop.abort();
    expect(await w.ended).toBe('resolved');
    expect(w.elector.renewedMsAgo).toBeUndefined();
    expect(w.log).toEqual(['started', 'work ended', 'w stopped']);
    expect(w.elector.isLeader).toBe(false);
    expect(await holder()).toBe('');
  });

  it('keeps the lease over stalls that cost an elector of this thread its own', async () => {
    const w = startWorker('busy', { mainStallLimitMs: 10_000 });
    const lock = createLeaseLock({ client, namespace: 'default', name: 'in-thread', identity: 'in-thread' });
    const inThread = start('i', (callbacks) => createLeaderElector({ ...durations, lock, callbacks }));
    await Promise.all([w.leads, inThread.leads]);
    const { leaseTransitions } = (await client.get(leaseKind, { namespace: 'default', name: 'worker' })).spec ?? {};
    block(3_000);
    expect(w.elector.isLeader).toBe(true);
    expect(inThread.elector.isLeader).toBe(false);
    expect(isLeadershipLost(await inThread.ended)).toBe(true);
    block(3_000);
    expect(w.elector.isLeader).toBe(true);
    const { spec } = await client.get(leaseKind, { namespace: 'default', name: 'worker' });
    expect(spec).toMatchObject({ holderIdentity: 'busy', leaseTransitions });
    w.stop.abort();
    expect(await w.ended).toBe('resolved');
  });

  it('closes the fence and lets the lease lapse when this thread is silent for too long', {
    timeout: 300_000,
  }, async () => {
    const w = startWorker('silent', { mainStallLimitMs: 1_000 });
    await w.leads;
    block(2_000);
    expect(w.elector.isLeader).toBe(false);
    expect(() => w.elector.fence.check()).toThrow('does not hold');
    expect(isLeadershipLost(await w.ended)).toBe(true);
    expect(w.log).toEqual(['started', 'work ended', 'w stopped']);
    // Not released: the work may have been in the middle of something. It lapses.
    expect(await holder()).toBe('silent');
  });

  it('lets no write out that began before the stall', async () => {
    const w = startWorker('writer', { mainStallLimitMs: 500 });
    await w.leads;
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'guarded' } });
    // A client without connections yet: the request is on its way to the socket when the stall begins.
    await using fresh = createHttpClient({ connection });
    const guarded = fencedClient(fresh, w.elector.fence);
    const write = guarded
      .patch(ConfigMap, { namespace: 'default', name: 'guarded' }, { type: 'merge', body: { data: { late: 'yes' } } })
      .catch((error: unknown) => error);
    block(1_500);
    expect(isNotLeader(await write)).toBe(true);
    const { data } = await client.get(ConfigMap, { namespace: 'default', name: 'guarded' });
    expect(data).toBeUndefined();
    await w.ended;
  });

  it('rejects with what the work failed with', async () => {
    const boom = new Error('boom');
    const w = startWorker('failing', { work: () => Promise.reject(boom) });
    expect(await w.ended).toBe(boom);
    expect(await holder()).toBe('');
  });

  it('steps down on request', async () => {
    const w = startWorker('generous');
    await w.leads;
    await w.elector.stepDown();
    expect(await holder()).toBe('');
    expect(await w.ended).toBe('resolved');
  });

  it('has nothing to step down from before, between and after its terms', async () => {
    const w = startWorker('modest', { reelect: true });
    await w.elector.stepDown();
    await w.leads;
    await w.elector.stepDown({ holdOffMs: 60_000 });
    expect(w.log).toEqual(['started', 'work ended', 'w stopped']);
    await w.elector.stepDown();
    w.stop.abort();
    expect(await w.ended).toBe('resolved');
    await w.elector.stepDown();
    expect(w.elector.isLeader).toBe(false);
    expect(() => w.elector.checkHealth()).not.toThrow();
  });

  it('closes the fence and lets the work end before it rejects, when its thread dies', {
    timeout: 300_000,
  }, async () => {
    const order: string[] = [];
    const mayEnd = Promise.withResolvers<undefined>();
    const stopped = Promise.withResolvers<undefined>();
    const w = start(
      'w',
      (callbacks) =>
        createWorkerLeaderElector({
          ...durations,
          leaseDurationMs: 20_000,
          callbacks,
          name: 'mortal',
          lockModule: new URL('./mortal-lock-module.ts', import.meta.url),
        }),
      async (signal) => {
        await untilAborted(signal);
        stopped.resolve(undefined);
        await mayEnd.promise;
        order.push('work');
      },
    );
    void w.ended.then(() => order.push('run'));
    await stopped.promise;
    expect(w.elector.isLeader).toBe(false);
    expect(() => w.elector.fence.check()).toThrow('does not hold');
    mayEnd.resolve(undefined);
    expect(await w.ended).toMatchObject({ message: 'a bug in the thread' });
    expect(order).toEqual(['work', 'run']);
    expect(w.log).toEqual(['started', 'work ended', 'w stopped']);
    await w.elector.stepDown();
    expect(w.elector.isLeader).toBe(false);
  });

  it('does not run again beside the work of a run whose thread died', async () => {
    const mayEnd = Promise.withResolvers<undefined>();
    let works = 0;
    const mortal = { ...durations, name: 'mortal', lockModule: new URL('./mortal-lock-module.ts', import.meta.url) };
    const elector = createWorkerLeaderElector({
      ...mortal,
      callbacks: {
        onStartedLeading: async () => {
          works++;
          await mayEnd.promise; // whatever its signal says
        },
      },
    });
    const run = (signal: AbortSignal): Promise<unknown> => elector.run(signal).catch((error: unknown) => error);
    expect(await run(new AbortController().signal)).toMatchObject({ message: 'a bug in the thread' });
    expect(works).toBe(1);
    const stop = new AbortController();
    const waiting = run(stop.signal);
    expect(await run(stop.signal)).toMatchObject({ message: 'LeaderElector.run: already running' });
    stop.abort();
    expect(await waiting).toBeUndefined();
    expect(works).toBe(1);
    mayEnd.resolve(undefined);
    expect(await run(new AbortController().signal)).toMatchObject({ message: 'a bug in the thread' });
    expect(works).toBe(2);
  });

  it('rejects when the lock cannot be made', async () => {
    const { ended } = start('w', (callbacks) =>
      createWorkerLeaderElector({ callbacks, name: 'x', lockModule: new URL('./nowhere.ts', import.meta.url) }),
    );
    expect(await ended).toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
  });

  it('refuses options that mean nothing', () => {
    expect(() =>
      createWorkerLeaderElector({
        callbacks: { onStartedLeading: () => undefined },
        name: 'x',
        lockModule: 'file:///x.js',
        mainStallLimitMs: 0,
      }),
    ).toThrow('mainStallLimitMs must be a positive number of ms');
  });
});
