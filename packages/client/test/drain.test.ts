import { StatusError } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import type { Client } from '../src/index.js';
import { drain } from '../src/operations/index.js';

const ended = (name: string) => ({ metadata: { namespace: 'shop', name, uid: name }, status: { phase: 'Succeeded' } });

/** A node with two pods: a budget does not let the one go, and the other must not be evicted. */
function refusing(evictions: string[]): Client {
  const stub = {
    get: async () => ({ metadata: {}, spec: { unschedulable: true } }),
    list: async () => ({ metadata: {}, items: [ended('budget'), ended('forbidden')] }),
    patch: async () => ({}),
    subResource: () => ({
      create: async ({ name }: { readonly name: string }) => {
        evictions.push(name);
        throw name === 'budget'
          ? new StatusError({ code: 429, reason: 'TooManyRequests', message: 'not now' })
          : new StatusError({ code: 403, reason: 'Forbidden', message: 'no right to evict' });
      },
    }),
  };
  return stub as unknown as Client;
}

it('ends the attempts at all pods when the eviction of one fails', async () => {
  const clock = new FakeClock();
  const evictions: string[] = [];
  await expect(drain(refusing(evictions), 'node-1', { clock })).rejects.toThrow('no right to evict');
  await settle();
  await clock.advance(60_000);
  expect(evictions).toEqual(['budget', 'forbidden']);
  expect(clock.pendingTimers).toBe(0);
});

it('evicts none for a grace period that there cannot be', async () => {
  const evictions: string[] = [];
  await expect(drain(refusing(evictions), 'node-1', { gracePeriodSeconds: 0.5 })).rejects.toThrow(
    'drain: gracePeriodSeconds 0.5 is not valid',
  );
  expect(evictions).toEqual([]);
});

it.each([
  ['the pods that a selector chooses', { podSelector: 'app=shop' }, { labelSelector: 'app=shop' }],
  ['all pods of the node without a selector', {}, {}],
])('asks for %s', async (_what, options, expected) => {
  const lists: object[] = [];
  const client = refusing([]);
  const list = async (_kind: unknown, given: object = {}): Promise<never> => {
    lists.push({ ...given, signal: undefined });
    return { metadata: {}, items: [] } as never;
  };
  await drain({ ...client, list }, 'node-1', { ...options, clock: new FakeClock() });
  expect(lists).not.toEqual([]);
  const wanted = { live: true, signal: undefined, fieldSelector: { 'spec.nodeName': 'node-1' }, ...expected };
  for (const each of lists) expect(each).toEqual(wanted);
});
