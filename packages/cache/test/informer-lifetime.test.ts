import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { fakeServer, startCache, startSyncedCache, Thing } from './fake-server.js';
import { createCache } from '../src/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('the informers of a cache', () => {
  it('are let go when the last loan is over: nothing holds what they kept', async () => {
    const clock = new FakeClock();
    const { cache, stop } = await startSyncedCache({ clock, lingerMs: 1000 });
    const borrow = async (): Promise<WeakRef<object>> => {
      const lease = cache.acquire(Thing);
      await lease.informer.waitForSync();
      await lease[Symbol.asyncDispose]();
      await clock.advance(1000);
      return new WeakRef(lease.informer);
    };
    const informer = await borrow();
    for (let round = 0; round < 50 && informer.deref() !== undefined; round++) {
      // In a task of its own: what was looked at is held until the end of its task.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(informer.deref()).toBeUndefined();
    await stop();
  });

  it('are not ended by a loan of one that was removed before', async () => {
    const clock = new FakeClock();
    const { cache, stop } = await startSyncedCache({ clock, lingerMs: 1000 });
    const lease = cache.acquire(Thing);
    await lease.informer.waitForSync();
    await cache.removeInformer(Thing);
    const informer = cache.informerFor(Thing);
    await informer.waitForSync();
    await lease[Symbol.asyncDispose]();
    await clock.advance(5000);
    await settle();
    expect(cache.isCached(Thing)).toBe(true);
    expect(informer.isStopped).toBe(false);
    await stop();
  });

  it('say that they have stopped when they were removed before they had synced', async () => {
    const { cache, stop } = startCache({ byObject: [{ kind: Thing, namespaces: { late: {} } }] });
    const informer = cache.informerFor(Thing);
    const waiting = informer.waitForSync();
    const failed = expect(waiting).rejects.toMatchObject({ code: 'KCTL_SYNC' });
    await settle();
    await cache.removeInformer(Thing);
    await failed;
    expect([informer.hasSynced, informer.isStopped, informer.state.phase]).toEqual([false, true, 'stopped']);
    await expect(informer.waitForSync()).rejects.toMatchObject({
      code: 'KCTL_SYNC',
      message: 'informer things.example.com has not synced: it was removed from its cache',
    });
    await expect(informer.waitForResourceVersion('10')).rejects.toMatchObject({ code: 'KCTL_SYNC' });
    await stop();
  });

  it('that are removed before they have synced are not missed by who waits for the cache', async () => {
    const { cache, stop } = startCache({ byObject: [{ kind: Thing, namespaces: { late: {} } }] });
    const waiting = cache.waitForSync();
    await settle();
    await cache.removeInformer(Thing);
    await waiting;
    await stop();
  });

  it('let go of who waits when they are removed before the cache runs', async () => {
    const cache = createCache({ client: {} as never, listerWatcherFor: fakeServer().listerWatcherFor });
    const informer = cache.informerFor(Thing);
    const handler = informer.addEventHandler({});
    const waits = Promise.allSettled([informer.waitForSync(), handler.waitForSync()]);
    await cache.removeInformer(Thing);
    expect((await waits).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('end at once where they are declared after the cache has ended', async () => {
    const { cache, stop } = startCache({ undeclaredReads: 'start' });
    await stop();
    await expect(cache.list(Thing)).rejects.toMatchObject({ code: 'KCTL_SYNC' });
    expect(cache.informerFor(Thing).isStopped).toBe(true);
  });
});
