import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { Client } from '@kctl/client';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { fencedClient, isNotLeader, type Fence } from '../src/index.js';
import { NotLeaderError } from '../src/internal/index.js';
import { startCandidate } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

/** A client that asks its signal right before it would write to the socket, as the HTTP client does. */
function slowClient(sent: string[], beforeSend: () => Promise<void>): Client {
  const patch = async (_kind: unknown, _key: unknown, _patch: unknown, options?: { signal?: AbortSignal }) => {
    await beforeSend();
    if (options?.signal?.aborted === true) throw options.signal.reason;
    sent.push('patch');
    return {};
  };
  return { patch } as unknown as Client;
}

const key = { namespace: 'default', name: 'x' };
const body = { type: 'merge', body: {} } as const;

it('sends nothing after a stall of 60 s, also when the write had begun before it', async () => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  let stalledMs = 0;
  const stalling = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow() + stalledMs,
    setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
  };
  const a = startCandidate(server, clock, 'a', { clock: stalling });
  await clock.advance(0);
  const sent: string[] = [];
  let resume: (() => void) | undefined;
  const client = slowClient(sent, () => new Promise<void>((resolve) => (resume = resolve)));
  const guarded = fencedClient(client, a.elector.fence);
  const write = guarded.patch(ConfigMap, key, body).catch((error: unknown) => error);
  stalledMs = 60_000;
  // What was waiting goes on before any timer runs.
  resume!();
  expect(isNotLeader(await write)).toBe(true);
  expect(isNotLeader(await guarded.patch(ConfigMap, key, body).catch((error: unknown) => error))).toBe(true);
  expect(sent).toEqual([]);
  await clock.advance(2_000);
  await a.ended;
});

it('aborts what is under way when leadership ends', async () => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  const a = startCandidate(server, clock, 'a');
  await clock.advance(0);
  let seen: AbortSignal | undefined;
  const client = {
    patch: (_kind: unknown, _key: unknown, _patch: unknown, { signal }: { signal: AbortSignal }) => {
      seen = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  } as unknown as Client;
  const write = fencedClient(client, a.elector.fence)
    .patch(ConfigMap, key, body)
    .catch((error: unknown) => error);
  expect(seen?.aborted).toBe(false);
  a.stop.abort();
  await clock.advance(0);
  expect(await write).toMatchObject({ name: 'AbortError' });
});

it("keeps a term's own fence closed when a later term opens the elector's", async () => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  const fences: Fence[] = [];
  const a = startCandidate(server, clock, 'a', {
    reelect: true,
    callbacks: {
      onStartedLeading: (signal, fence) => {
        fences.push(fence);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    },
  });
  await clock.advance(0);
  void a.elector.stepDown({ holdOffMs: 1_000 });
  await clock.advance(500);
  expect(server.record?.holderIdentity).toBe('');
  await clock.advance(3_000);
  expect(fences).toHaveLength(2);
  expect(fences.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  expect(() => fences[0]?.check()).toThrow('does not hold');
  a.stop.abort();
  await clock.advance(0);
});

describe('the signal of a write', () => {
  /** The signal that a write gets, with the fence in the hands of the test. */
  async function begin(options: { readonly signal?: AbortSignal } = {}) {
    const state = { isOpen: true };
    const term = new AbortController();
    const fence: Fence = {
      get isOpen() {
        return state.isOpen;
      },
      signal: term.signal,
      check: () => {
        if (!state.isOpen) throw new NotLeaderError('lease default/test');
      },
    };
    const given = Promise.withResolvers<AbortSignal>();
    const client = {
      patch: (_kind: unknown, _key: unknown, _patch: unknown, { signal }: { signal: AbortSignal }) => {
        given.resolve(signal);
        return new Promise(() => undefined);
      },
    } as unknown as Client;
    void fencedClient(client, () => fence).patch(ConfigMap, key, body, options);
    return { state, term, signal: await given.promise };
  }

  it('is aborted as soon as the fence is closed, in each way to look at it, and stays so', async () => {
    const { state, signal } = await begin();
    expect(signal.aborted).toBe(false);
    expect(() => signal.throwIfAborted()).not.toThrow();
    state.isOpen = false;
    expect(() => signal.throwIfAborted()).toThrow('does not hold lease default/test');
    expect([signal.aborted, isNotLeader(signal.reason)]).toEqual([true, true]);
    state.isOpen = true;
    expect(signal.aborted).toBe(true);
  });

  it.each(['the caller', 'the term'])('is aborted by %s with its reason, although the fence is open', async (who) => {
    const caller = new AbortController();
    const { term, signal } = await begin({ signal: caller.signal });
    const reason = new Error('enough');
    (who === 'the term' ? term : caller).abort(reason);
    expect(signal.aborted).toBe(true);
    expect(() => signal.throwIfAborted()).toThrow(reason);
  });
});

describe('a fenced client', () => {
  const object = { metadata: key };
  const reads: Record<string, (client: Client) => Promise<unknown>> = {
    get: (client) => client.get(ConfigMap, key),
    list: (client) => client.list(ConfigMap),
    'subResource.get': (client) => client.subResource(ConfigMap, 'scale').get(key),
  };
  const writes: Record<string, (client: Client) => Promise<unknown>> = {
    create: (client) => client.create(ConfigMap, object),
    update: (client) => client.update(ConfigMap, object),
    patch: (client) => client.patch(ConfigMap, key, body),
    delete: (client) => client.delete(ConfigMap, key),
    deleteAllOf: (client) => client.deleteAllOf(ConfigMap),
    'status.update': (client) => client.status(ConfigMap).update(object),
    'status.patch': (client) => client.status(ConfigMap).patch(key, body),
    'subResource.create': (client) =>
      client.subResource(ConfigMap, 'scale').create(key, { metadata: {}, spec: { replicas: 1 } }),
    'subResource.update': (client) =>
      client.subResource(ConfigMap, 'scale').update(key, { metadata: {}, spec: { replicas: 1 } }),
    'subResource.patch': (client) => client.subResource(ConfigMap, 'scale').patch(key, body),
  };

  /** A client that notes what reaches it: the verb, and whether it was given a signal. */
  function notingClient(sent: [string, boolean][]): Client {
    const verbs = (prefix: string): object =>
      new Proxy(
        {},
        {
          get: (_target, verb) =>
            prefix === '' && (verb === 'status' || verb === 'subResource')
              ? () => verbs(`${verb}.`)
              : (...given: { readonly signal?: AbortSignal }[]) => {
                  sent.push([`${prefix}${String(verb)}`, given.some((each) => each?.signal instanceof AbortSignal)]);
                  return Promise.resolve('answer');
                },
        },
      );
    return verbs('') as Client;
  }

  const fence = (isOpen: boolean): Fence => ({
    isOpen,
    signal: new AbortController().signal,
    check: () => {
      if (!isOpen) throw new NotLeaderError('lease default/test');
    },
  });

  it.each(Object.entries(writes))(
    'sends %s with the signal of the term, and not while the fence is closed',
    async (verb, write) => {
      const sent: [string, boolean][] = [];
      const client = notingClient(sent);
      expect(isNotLeader(await write(fencedClient(client, fence(false))).catch((error: unknown) => error))).toBe(true);
      expect(sent).toEqual([]);
      expect(await write(fencedClient(client, fence(true)))).toBe('answer');
      expect(sent).toEqual([[verb, true]]);
      expect(await write(fencedClient(client, () => fence(true)))).toBe('answer');
    },
  );

  it.each(Object.entries(reads))('lets %s pass while the fence is closed', async (verb, read) => {
    const sent: [string, boolean][] = [];
    expect(await read(fencedClient(notingClient(sent), fence(false)))).toBe('answer');
    expect(sent.map(([name]) => name)).toEqual([verb]);
  });
});
