import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { startCache, startSyncedCache, Thing } from './fake-server.js';

describe('a handler of several namespaces', () => {
  it('is called for one object at a time, whichever namespaces they are in', async () => {
    const { cache, stop } = startCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {}, b: {} } });
    const steps: string[] = [];
    const gates = { x: Promise.withResolvers<undefined>(), y: Promise.withResolvers<undefined>() };
    const handler = cache.informerFor(Thing).addEventHandler({
      onAdd: async ({ metadata: { name } }) => {
        steps.push(`begin ${name}`);
        await gates[name === 'x' ? 'x' : 'y'].promise;
        steps.push(`end ${name}`);
      },
    });
    await cache.waitForSync();
    await settle();
    expect([steps, handler.hasSynced]).toEqual([[expect.stringMatching(/^begin/u)], false]);
    for (const gate of Object.values(gates)) gate.resolve(undefined);
    await handler.waitForSync();
    const [first] = steps[0]?.split(' ').slice(1) ?? [];
    const second = first === 'x' ? 'y' : 'x';
    expect(steps).toEqual([`begin ${first}`, `end ${first}`, `begin ${second}`, `end ${second}`]);
    await stop();
  });

  it('does not share its turn with another handler', async () => {
    const { cache, stop } = startCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {}, b: {} } });
    const hanging = cache
      .informerFor(Thing)
      .addEventHandler({ onAdd: () => new Promise(() => undefined) }, { timeoutMs: 50 });
    const heard: unknown[] = [];
    const quick = cache.informerFor(Thing).addEventHandler({ onAdd: ({ metadata }) => void heard.push(metadata.name) });
    await quick.waitForSync();
    expect([heard.sort(), hanging.hasSynced]).toEqual([['x', 'y'], false]);
    await hanging.waitForSync();
    await stop();
  });

  it('that joins while a namespace leaves hears of nothing that it never saw', async () => {
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {}, b: {} },
    });
    const informer = cache.informerFor(Thing);
    const late: string[] = [];
    const first = informer.addEventHandler({
      onDelete: () =>
        void informer.addEventHandler({ onEvent: ({ type, header }) => void late.push(`${type} ${header.name}`) }),
    });
    await first.waitForSync();
    await cache.setNamespaces({ b: {} });
    await settle();
    expect(late).toEqual(['add y']);
    await stop();
  });

  it('knows what is there and nothing else, when it has ended and not before', async () => {
    const { cache, letGo, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {}, b: {} },
    });
    const informer = cache.informerFor(Thing);
    const known = new Set<unknown>();
    const handler = informer.addEventHandler({
      onAdd: ({ metadata }) => void known.add(metadata.name),
      onDelete: ({ metadata }) => void known.delete(metadata.name),
    });
    await handler.waitForSync();
    let hasEnded = false;
    void handler.ended.then(() => (hasEnded = true));
    const changed = cache.setNamespaces({ late: {}, b: {} });
    letGo();
    await changed;
    await settle();
    expect([hasEnded, known.has('x'), known.has('y')]).toEqual([false, false, true]);
    await stop();
    await settle();
    expect(hasEnded).toBe(true);
  });
});

describe('awaited in a callback', () => {
  type Act = (cache: Awaited<ReturnType<typeof startSyncedCache>>['cache']) => Promise<unknown>;
  const busyWith = async (
    act: Act,
  ): Promise<{ heard: string[]; done: Promise<unknown>; stop: () => Promise<void> }> => {
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {}, b: {} },
    });
    const heard: string[] = [];
    const done = Promise.withResolvers<unknown>();
    cache.informerFor(Thing).addEventHandler({
      onEvent: async ({ type, header }) => {
        if (heard.push(`${type} ${header.name}`) !== 2) return;
        await act(cache);
        done.resolve(undefined);
      },
    });
    return { heard, done: done.promise, stop };
  };

  it.each<[string, Act, string[]]>([
    ['the namespace of the event, and another one', (cache) => cache.setNamespaces({}), ['delete x', 'delete y']],
    ['all for one', (cache) => cache.setNamespaces({ b: { labelSelector: 'app' } }), ['delete x', 'delete y', 'add y']],
    ['the kind', (cache) => cache.removeInformer(Thing), ['delete x', 'delete y']],
  ])('it may take away %s: the handler hears of the rest afterwards', async (_what, act, after) => {
    const { heard, done, stop } = await busyWith(act);
    await done;
    while (heard.length < 2 + after.length) await settle();
    await settle();
    expect(heard.slice(0, 2).sort()).toEqual(['add x', 'add y']);
    expect(heard.slice(2, 4).sort()).toEqual(after.slice(0, 2));
    expect(heard.slice(4)).toEqual(after.slice(2));
    await stop();
  });

  it('a handler that waits for nothing has received the end of a namespace when setNamespaces is done', async () => {
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {}, b: {} },
    });
    const gone: DeepReadonly<KubeObject>[] = [];
    const handler = cache.informerFor(Thing).addEventHandler({ onDelete: (object) => void gone.push(object) });
    await handler.waitForSync();
    await cache.setNamespaces({ b: {} });
    expect(gone.map(({ metadata }) => metadata.name)).toEqual(['x']);
    await stop();
  });
});
