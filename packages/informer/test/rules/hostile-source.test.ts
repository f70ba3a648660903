// What a ListerWatcher that is not ours may do: one bad object costs one object, one bad answer one attempt.
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createSharedInformer } from '../../src/index.js';
import type { SharedInformerOptions } from '../../src/index.js';
import { ScriptedServer, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { feeds, ThingKind } from './scripted-session.js';

const boom = (): never => {
  throw new Error('boom');
};

async function start(
  listerWatcher: SharedInformerOptions<Thing>['listerWatcher'],
): Promise<{ informer: ReturnType<typeof createSharedInformer<Thing>>; clock: FakeClock; stop: () => Promise<void> }> {
  const clock = new FakeClock();
  const informer = createSharedInformer<Thing>({
    kind: ThingKind,
    listerWatcher,
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  run.catch(() => undefined);
  await settle();
  return {
    informer,
    clock,
    stop: async () => {
      stop.abort();
      await run;
    },
  };
}

describe.each(feeds)('an informer fed by %s', (feed) => {
  it.each([
    ['has no dispose, as a generator before Node 24', { async *[Symbol.asyncIterator]() {} }],
    [
      'throws when it is disposed and when it is left',
      {
        [Symbol.asyncIterator]: () => ({ next: boom, return: boom }),
        [Symbol.asyncDispose]: boom,
      },
    ],
    ['is none', undefined],
  ])('outlives a stream that %s', async (_what, stream) => {
    const server = new ScriptedServer();
    const open = async (): Promise<never> => stream as never;
    const { informer, stop } = await start({ ...server[feed](false), watch: open, watchFrames: open });
    expect(informer.state.phase).toBe('retrying');
    await stop();
  });

  it('outlives a list that throws when it is left', async () => {
    const server = new ScriptedServer();
    const list = {
      metadata: Promise.resolve({}),
      items: undefined,
      [Symbol.asyncIterator]: () => ({ next: boom, return: boom }),
    };
    const open = async (): Promise<never> => list as never;
    const { informer, stop } = await start({ ...server[feed](false), list: open, listFrames: open });
    expect(informer.state.phase).toBe('retrying');
    await stop();
  });

  it('takes a failure that cannot be looked at for one of the connection', async () => {
    const server = new ScriptedServer();
    server.admit = () => {
      throw Object.defineProperty(new Error('x'), 'code', { get: boom });
    };
    const { informer, stop } = await start(server[feed](false));
    expect(informer.trouble).toMatchObject({ reason: 'connection', message: 'an error that cannot be read' });
    await stop();
  });
});

it('takes items that are null, as Go writes a list of nothing, for an empty list', async () => {
  const server = new ScriptedServer();
  const list = async (): Promise<never> => ({ metadata: { resourceVersion: '10' }, items: null }) as never;
  const { informer, stop } = await start({ ...server.objects(false), list });
  expect([informer.hasSynced, informer.state.phase, informer.resourceVersion]).toEqual([true, 'watching', '10']);
  await stop();
});

it('leaves out an object that throws where it is read, in a list and in a watch, and deletes nothing for it', async () => {
  const server = new ScriptedServer();
  const unreadable = [
    {
      get metadata() {
        return boom();
      },
    },
    { metadata: Object.defineProperty({}, 'name', { get: boom, enumerable: true }) },
    { ...thing('p', 3), spec: Object.defineProperty({}, 'size', { get: boom, enumerable: true }) },
  ];
  const source = server.objects(false);
  let lists = 0;
  const { informer, clock, stop } = await start({
    ...source,
    list: async () => ({
      metadata: { resourceVersion: String(++lists * 10) },
      items: [...unreadable, thing('a', 1), ...(lists === 1 ? [thing('b', 2)] : [])],
    }),
    watch: async () => ({
      async *[Symbol.asyncIterator]() {
        for (const object of unreadable) yield { type: 'ADDED', object } as never;
        if (lists === 1) yield { type: 'ADDED', object: thing('c', 13) };
        if (lists === 1) yield { type: 'ERROR', status: { code: 410, reason: 'Expired' } };
        await new Promise(() => undefined);
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  });
  expect(informer.indexer.listKeys()).toEqual(['a/a', 'a/b', 'a/c']);
  await clock.advance(2000);
  expect([lists, informer.state.phase]).toEqual([2, 'watching']);
  expect(informer.indexer.listKeys()).toEqual(['a/a', 'a/b', 'a/c']);
  await stop();
});
