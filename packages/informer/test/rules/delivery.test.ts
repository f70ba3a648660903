// What a handler may do, and when it may come and go, without any handler seeing what is not so.
import { runInNewContext } from 'node:vm';
import { isDeadlineExceeded } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { filterEvents } from '../../src/index.js';
import type { InformerEventHandler } from '../../src/index.js';
import { added, failed, modified, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { ScriptedSession } from './scripted-session.js';

const listed =
  (version: number, ...items: readonly Thing[]) =>
  () => ({ version, items });
const many = (count: number): Thing[] => Array.from({ length: count }, (_, at) => thing(`x${at}`, 1));

describe('a handler that joins within a callback', () => {
  it('of a delete hears once of the object that took the name', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1));
    const late: string[][] = [];
    session.informer.addEventHandler({ onDelete: () => void late.push(session.listen().seen) });
    await session.start();
    session.server.watch.send(modified(thing('x', 11, 'another')));
    await settle();
    expect(late).toEqual([['add x@11 initial']]);
  });

  it.each([
    ['of any event', 3, ['x', 'y', 'z']],
    ['in the middle of a relist', 1, ['x', 'y', 'z']],
  ])('%s hears of each object once', async (_when, at, names) => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, ...names.map((name) => thing(name, 1)));
    let calls = 0;
    let late: string[] = [];
    session.informer.addEventHandler({
      onEvent: () => {
        if (++calls === at) late = session.listen().seen;
      },
    });
    await session.start();
    expect(late).toEqual(['add x@1 initial', 'add y@1 initial', 'add z@1 initial']);
  });

  it('of the end of a scope hears of nothing that it never saw', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, ...many(20));
    const late: string[][] = [];
    let deletes = 0;
    session.informer.addEventHandler({
      onDelete: () => {
        if (++deletes % 5 === 1) late.push(session.listen().seen);
      },
    });
    await session.start();
    await session.informer.leaveScope();
    expect([deletes, late]).toEqual([20, [[], [], [], []]]);
  });
});

describe('a handler that leaves within a callback', () => {
  it('of an add hears nothing more, and the others hear all', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, ...many(3));
    let calls = 0;
    const leaving = session.informer.addEventHandler({
      onAdd: () => {
        calls++;
        void leaving.remove();
      },
    });
    const { seen } = session.listen();
    await session.start();
    await leaving.ended;
    expect([calls, seen.length]).toEqual([1, 3]);
  });
});

describe('a handler that is busy', () => {
  it.each(['latest', 'every'] as const)('is resynced all the same: %s', async (delivery) => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('hot', 1), thing('x', 1), thing('y', 1));
    const resynced: string[] = [];
    session.informer.addEventHandler(
      {
        onEvent: async ({ isResync, header }) => {
          if (isResync) resynced.push(header.name);
          await new Promise<void>((resolve) => session.clock.setTimer(resolve, 700));
        },
      },
      { delivery, resyncMs: 5000 },
    );
    await session.start();
    for (let version = 11; version < 60; version++) {
      session.server.watch.send(modified(thing('hot', version)));
      await session.clock.advance(600);
    }
    expect(resynced.filter((name) => name === 'x').length).toBeGreaterThan(delivery === 'latest' ? 2 : 0);
    expect(resynced).toContain('y');
    const stopped = session.stop();
    await session.clock.advance(5000);
    await stopped;
  });

  it('hears by a resync of no version that it did not hear of as a change', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 1));
    const { seen } = session.listen({ resyncMs: 1000 });
    await session.start();
    for (let version = 11; version < 30; version++) {
      session.server.watch.send(modified(thing(version % 2 === 0 ? 'x' : 'y', version)));
      await session.clock.advance(300);
    }
    const known = new Map<string, string>();
    const wrong = seen.filter((event) => {
      const [, name = '', from, to = ''] = /^\w+ (\w)@(?:(\d+)→)?(\d+)/u.exec(event) ?? [];
      const isWrong = from !== known.get(name) || (event.endsWith('resync') && from !== to);
      known.set(name, to);
      return isWrong;
    });
    expect(wrong).toEqual([]);
    expect(seen.some((event) => event.endsWith('resync'))).toBe(true);
  });
});

describe('a callback that fails', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('bad handler');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad handler'))],
    ['rejects with a promise of another realm', () => runInNewContext('Promise.reject(new Error("bad handler"))')],
    [
      'rejects as a thenable',
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
      () => ({ then: (_: unknown, reject: (e: unknown) => void) => reject(new Error('bad handler')) }),
    ],
  ])('is reported with handler, object and cause, and counts as delivered: %s', async (_how, fail) => {
    const reports: unknown[] = [];
    await using session = new ScriptedSession({
      onHandlerError: (error, handler, { type, key }) => void reports.push([String(error), handler, type, key]),
    });
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    const place = session.informer.addEventHandler({ onAdd: fail as () => undefined }, { name: 'mine' });
    const { registration } = session.listen();
    await session.start();
    expect([place.hasSynced, registration.hasSynced]).toEqual([true, true]);
    expect(reports).toEqual([
      ['Error: bad handler', 'mine', 'add', 'a/x'],
      ['Error: bad handler', 'mine', 'add', 'a/y'],
    ]);
  });

  it('to settle is reported after 30 s; neither others, nor its sync, nor the end of the informer wait longer', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    const heard: string[] = [];
    const place = session.informer.addEventHandler({
      onAdd: ({ metadata }) => {
        heard.push(metadata.name ?? '');
        return metadata.name === 'x' ? new Promise(() => undefined) : undefined;
      },
    });
    const { seen, registration } = session.listen();
    await session.start();
    expect([seen.length, registration.hasSynced, place.hasSynced]).toEqual([2, true, false]);
    await session.clock.advance(30_000);
    expect([heard, place.hasSynced]).toEqual([['x', 'y'], true]);
    expect(session.handlerErrors.map(isDeadlineExceeded)).toEqual([true]);
    session.server.watch.send(added(thing('x2', 11)));
    await settle();
    const hanging = session.informer.addEventHandler({ onAdd: () => new Promise(() => undefined) });
    await session.clock.advance(1000);
    let hasEnded = false;
    void session.stop().then(() => (hasEnded = true));
    await session.clock.advance(4000);
    expect([hasEnded, hanging.hasSynced, session.clock.pendingTimers]).toEqual([true, false, 0]);
  });

  it.each([NaN, -1])('takes no time that is none: %s', async (timeoutMs) => {
    await using session = new ScriptedSession();
    expect(() => session.informer.addEventHandler({}, { timeoutMs })).toThrow(
      `addEventHandler: timeoutMs ${timeoutMs}`,
    );
  });
});

describe('a promise of another realm', () => {
  it.each([
    ['a handler', (handler: InformerEventHandler<Thing>) => handler],
    ['a filtered handler', (handler: InformerEventHandler<Thing>) => filterEvents<Thing>(() => true, handler)],
  ])('of %s is awaited', async (_what, wrap) => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    const realm = runInNewContext('Promise.withResolvers()') as PromiseWithResolvers<undefined>;
    const heard: string[] = [];
    session.informer.addEventHandler(
      wrap({
        onEvent: ({ header }) => {
          heard.push(`event ${header.name}`);
          return realm.promise;
        },
        onAdd: ({ metadata }) => void heard.push(`add ${metadata.name}`),
      }),
    );
    await session.start();
    expect(heard).toEqual(['event x']);
    realm.resolve(undefined);
    await settle();
    expect(heard).toEqual(['event x', 'add x', 'event y', 'add y']);
  });
});

describe('a watch error handler', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('bad hook');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad hook'))],
    ['returns what it may not', () => ({ stop: true })],
  ])('that %s does not end the informer', async (_how, hook) => {
    await using session = new ScriptedSession({ watchErrorHandler: hook as () => undefined });
    session.server.page = listed(10, thing('x', 1));
    await session.start();
    session.server.watch.send(failed(410, 'Expired'));
    session.server.page = () => Promise.reject(new Error('down'));
    await session.clock.advance(5000);
    session.server.page = listed(20, thing('x', 15));
    await session.clock.advance(100_000);
    expect([session.names(), session.informer.isStopped, session.informer.state.phase]).toEqual([
      ['x@15'],
      false,
      'watching',
    ]);
  });

  it('ends it by "stop", and then it has stopped by every account', async () => {
    const seen: [boolean, string][] = [];
    await using session = new ScriptedSession({ watchErrorHandler: () => 'stop' });
    session.server.page = () => Promise.reject(new Error('down'));
    const look = (): void => void seen.push([session.informer.isStopped, session.informer.state.phase]);
    const started = session.start();
    for (let turn = 0; turn < 40; turn++) {
      look();
      await Promise.resolve();
    }
    await started;
    look();
    await expect(session.run).rejects.toThrow('down');
    for (const [isStopped, phase] of seen) expect([isStopped, phase]).toEqual([phase === 'stopped', phase]);
    expect(seen.at(-1)).toEqual([true, 'stopped']);
  });
});

describe('state and isStopped', () => {
  it('agree at every moment of leaving a scope', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, ...many(5));
    const gate = Promise.withResolvers<undefined>();
    session.informer.addEventHandler({ onDelete: () => gate.promise });
    await session.start();
    const left = session.informer.leaveScope();
    const look = (): unknown => [session.informer.isStopped, session.informer.state.phase === 'stopped'];
    for (let turn = 0; turn < 40; turn++) {
      expect(look()).toEqual([false, false]);
      await Promise.resolve();
    }
    gate.resolve(undefined);
    await left;
    await session.run;
    expect(look()).toEqual([true, true]);
  });
});

describe('leaveScope within a callback', () => {
  it('may be awaited: the handler that awaits it hears of the rest afterwards', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, ...many(3));
    const heard: string[] = [];
    session.informer.addEventHandler({
      onEvent: async ({ type, header }) => {
        heard.push(`${type} ${header.name}`);
        if (heard.length === 3) await session.informer.leaveScope();
      },
    });
    await session.start();
    await session.run;
    expect(heard.sort()).toEqual(['add x0', 'add x1', 'add x2', 'delete x0', 'delete x1', 'delete x2']);
  });
});
