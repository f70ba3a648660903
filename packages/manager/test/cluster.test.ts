import type { Client } from '@kctl/client';
import { describe, expect, it } from 'vitest';
import { createCluster, createManager, type Cluster, type EventSink } from '../src/index.js';
import { FakeCache, untilAborted, type Journal } from './fakes.js';

describe('createCluster with factories', () => {
  it('makes each part from those before it, once, and runs what they made', async () => {
    const live = { list: async () => ({ items: [] }) } as unknown as Client;
    const journal: Journal = [];
    const cache = new FakeCache(journal);
    const cached = {} as Client;
    const made: string[] = [];
    const cluster = createCluster({
      name: 'west',
      newLiveClient: () => {
        made.push('live');
        return live;
      },
      newCache: (from) => {
        expect(from).toBe(live);
        made.push('cache');
        return cache;
      },
      newEvents: (parts) => {
        expect(parts.live).toBe(live);
        made.push('events');
        return {
          run: async (signal) => {
            await untilAborted(signal);
            journal.push('events ended');
          },
        };
      },
      newClient: (parts) => {
        expect(parts).toEqual({ live, cache });
        made.push('client');
        return cached;
      },
    });
    expect(made).toEqual(['live', 'cache', 'events', 'client']);
    const manager = createManager({ cluster });
    expect([cluster.name, manager.apiReader, manager.cache, manager.client]).toEqual(['west', live, cache, cached]);
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    stop.abort();
    await done;
    expect(journal).toEqual(['start cache', 'cache synced', 'stop cache', 'events ended']);
  });

  it('has synced only while its cache runs', async () => {
    const client = {} as Client;
    const parts = { client, apiReader: client };
    const own = createCluster({ ...parts, cache: new FakeCache() });
    const other = createCluster({ ...parts, name: 'east', cache: new FakeCache() });
    const manager = createManager({ cluster: own });
    const handle = manager.add(other);
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    expect([own.hasSynced, other.hasSynced]).toEqual([true, true]);
    await handle.remove();
    expect([own.hasSynced, other.hasSynced]).toEqual([true, false]);
    stop.abort();
    await done;
    expect(own.hasSynced).toBe(false);
  });

  it('delivers the events of each cluster, once where two share them, until it is removed', async () => {
    const client = {} as Client;
    const journal: Journal = [];
    const eventsOf = (name: string): EventSink => ({
      run: async (signal) => {
        journal.push(`deliver ${name}`);
        await untilAborted(signal);
        journal.push(`delivered ${name}`);
      },
    });
    const clusterOf = (name: string, events: EventSink): Cluster =>
      createCluster({ name, client, apiReader: client, cache: new FakeCache(), events });
    const shared = eventsOf('shared');
    const manager = createManager({ cluster: clusterOf('own', eventsOf('own')) });
    const [east, west] = [clusterOf('east', shared), clusterOf('west', shared)];
    manager.add(east);
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    expect(journal.splice(0)).toEqual(['deliver own', 'deliver shared']);
    manager.add(west);
    const north = manager.add(clusterOf('north', eventsOf('north')));
    expect(journal.splice(0)).toEqual(['deliver north']);
    await north.remove();
    await manager.remove(east);
    expect(journal.splice(0)).toEqual(['delivered north']);
    await manager.remove(west);
    expect(journal.splice(0)).toEqual(['delivered shared']);
    stop.abort();
    await done;
    expect(journal).toEqual(['delivered own']);
  });

  it('ends with the failure of the events of a further cluster', async () => {
    const client = {} as Client;
    const parts = { client, apiReader: client };
    const manager = createManager({ cluster: createCluster({ ...parts, cache: new FakeCache() }) });
    const events: EventSink = { run: () => Promise.reject(new Error('no event is delivered')) };
    manager.add(createCluster({ ...parts, name: 'east', cache: new FakeCache(), events }));
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('no event is delivered');
  });
});
