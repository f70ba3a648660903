import { FakeClock } from '@kctl/wait/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import type { DelegatingClient } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const key = { namespace: 'ns', name: 'a' };

let server: ModelServer;
let cache: LaggingCache;
let client: DelegatingClient;
let clock: FakeClock;
let told: string[];
let stop: () => void;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const liveReads = (): number => server.calls.filter((call) => call === 'get' || call === 'list').length;

beforeEach(() => {
  server = new ModelServer();
  cache = new LaggingCache(server);
  clock = new FakeClock();
  client = createDelegatingClient({ cache, client: modelClient(server), clock });
  told = [];
  const registration = client.vanished(Thing).addEventHandler({
    onEvent: ({ type, header, finalStateUnknown }) =>
      void told.push(`${type} ${header.name} ${header.uid} ${String(finalStateUnknown)}`),
  });
  stop = () => void registration.remove();
});

describe('an own object that vanishes before the cache has it', () => {
  // JOSDK PR #3420: nobody else tells of it, because the store never had it.
  it('is told of, when a relist shows that it is gone', async () => {
    await client.create(Thing, thing('a'));
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect(told).toEqual(['delete a uid-1 true']);
  });

  it('is told of by the uid that it had, when another one has its name', async () => {
    await client.create(Thing, thing('a'));
    server.remove('ns/a');
    const events = server.events.length;
    server.put(thing('a'), true);
    cache.deliver(events);
    await turn();
    expect(told).toEqual(['delete a uid-1 true']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
  ])('is told to the other handlers when one %s', async (_, fail) => {
    stop();
    client.vanished(Thing).addEventHandler({ onEvent: fail });
    client.vanished(Thing).addEventHandler({ onEvent: ({ header }) => void told.push(header.name) });
    await client.create(Thing, thing('a'));
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect(told).toEqual(['a']);
  });

  it('is not told of while it is there, and costs no request then', async () => {
    await client.create(Thing, thing('a'));
    await turn();
    cache.deliver();
    await turn();
    server.remove('ns/a');
    cache.deliver();
    await turn();
    expect([told, liveReads()]).toEqual([[], 0]);
  });

  it('is not told of where the cache looks at a part of the kind that it is not in', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    await turn();
    cache.store.clear();
    await client.update(Thing, thing('a', { spec: { size: 2 } }));
    cache.namespaces = ['other'];
    cache.deliver();
    cache.namespaces = undefined;
    await turn();
    expect([told, liveReads()]).toEqual([[], 1]);
  });

  it('is not told of to the one who deleted it, nor after a later write', async () => {
    await client.create(Thing, thing('a'));
    await client.delete(Thing, key);
    cache.relist();
    await turn();
    expect(told).toEqual([]);
    await client.create(Thing, thing('a'));
    await client.update(Thing, thing('a', { spec: { size: 2 } }));
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect(told).toEqual(['delete a uid-2 true']);
  });

  it('is told of however long the cache was behind', async () => {
    await client.create(Thing, thing('a'));
    server.remove('ns/a');
    await clock.advance(3_600_000);
    cache.relist();
    await turn();
    expect(told).toEqual(['delete a uid-1 true']);
  });

  it('is told of once to each handler of a kind, and of no write before the last', async () => {
    const both: string[] = [];
    client.vanished(Thing).addEventHandler({ onEvent: ({ header }) => void both.push(header.name) });
    await client.create(Thing, thing('a'));
    await client.update(Thing, thing('a', { spec: { size: 2 } }));
    expect(cache.waiting).toBe(1);
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect([told, both]).toEqual([['delete a uid-1 true'], ['a']]);
  });

  it('is told of although the server could not be asked at first', async () => {
    const model = modelClient(server);
    let failures = 2;
    const get: typeof model.get = async (...given) => {
      if (failures-- > 0) throw new Error('no connection');
      return await model.get(...given);
    };
    const shaky = createDelegatingClient({ cache, client: { ...model, get }, clock });
    shaky.vanished(Thing).addEventHandler({ onEvent: ({ header }) => void told.push(header.name) });
    await shaky.create(Thing, thing('a'));
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect(told).toEqual([]);
    await clock.advance(1000);
    await clock.advance(2000);
    await turn();
    expect(told).toEqual(['a']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is refused a kind or a handler that is none: each write would fail after it was sent', async () => {
    expect(() => client.vanished(undefined as never)).toThrow('vanished: the kind is undefined');
    const vanished = client.vanished(Thing);
    for (const handler of [undefined, () => undefined, { onDelete: () => undefined }])
      expect(() => vanished.addEventHandler(handler as never)).toThrow('onEvent of the handler is undefined');
    await client.create(Thing, thing('a'));
    expect(server.objects.has('ns/a')).toBe(true);
  });

  it('leaves nothing behind when the last handler leaves', async () => {
    await client.create(Thing, thing('a'));
    expect(cache.waiting).toBe(1);
    stop();
    await turn();
    expect(cache.waiting).toBe(0);
  });

  it('is not told of to a handler that was removed', async () => {
    await client.create(Thing, thing('a'));
    stop();
    server.remove('ns/a');
    cache.relist();
    await turn();
    expect(told).toEqual([]);
  });
});
