// What is left of a handler that was removed, or whose informer has ended.
import { getEventListeners } from 'node:events';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { added, failed, thing } from './scripted-server.js';
import { ScriptedSession } from './scripted-session.js';

describe('a handler that has ended', () => {
  it.each([
    ['was removed before the start', async ({ registration }: Listening): Promise<void> => registration.remove()],
    [
      'was left by its informer',
      async ({ session }: Listening): Promise<void> => {
        session.server.page = () => new Promise(() => undefined);
        await session.start();
        await session.stop();
      },
    ],
  ])('rejects at once to wait for a sync that will never be: it %s', async (_what, end) => {
    await using session = new ScriptedSession();
    const { registration } = session.listen();
    const waiting = registration.waitForSync();
    waiting.catch(() => undefined);
    await end({ session, registration });
    for (const wait of [waiting, registration.waitForSync()])
      await expect(wait).rejects.toThrow('handler handler-1 of informer things.example.com ended before it had synced');
    expect(registration.hasSynced).toBe(false);
  });

  it('has synced for good if it had', async () => {
    await using session = new ScriptedSession();
    const { registration } = session.listen();
    await session.start();
    await registration.remove();
    await registration.waitForSync();
    expect(registration.hasSynced).toBe(true);
  });

  it('leaves no timer, and receives neither resyncs nor what comes', async () => {
    await using session = new ScriptedSession();
    session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
    await session.start();
    const before = session.clock.pendingTimers;
    const { seen, registration } = session.listen({ resyncMs: 1000 });
    await settle();
    expect([seen, session.clock.pendingTimers]).toEqual([['add x@1 initial'], before + 1]);
    await session.clock.advance(1000);
    expect(seen).toHaveLength(2);
    const removed = registration.remove();
    expect(session.clock.pendingTimers).toBe(before);
    await removed;
    session.server.watch.send(added(thing('y', 11)));
    await session.clock.advance(5000);
    expect(seen).toHaveLength(2);
  });
});

it.each([false, true])(
  'leaves no listener on the signal of its run when it leaves its scope (busy handler: %s)',
  async (isBusy) => {
    await using session = new ScriptedSession();
    session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
    const callback = Promise.withResolvers<undefined>();
    session.informer.addEventHandler({
      onDelete: async () => {
        if (isBusy) await callback.promise;
      },
    });
    const { signal } = new AbortController();
    const run = session.informer.run(signal);
    await settle();
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
    const left = session.informer.leaveScope();
    await settle();
    callback.resolve(undefined);
    await left;
    await run;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(session.informer.isStopped).toBe(true);
  },
);

it('refuses to run without a signal, and runs with one after that', async () => {
  await using session = new ScriptedSession();
  await expect(session.informer.run(undefined as never)).rejects.toThrow(
    'informer things.example.com: run needs an AbortSignal',
  );
  expect(session.informer.isStarted).toBe(false);
  await session.start();
  expect(session.informer.state.phase).toBe('watching');
});

it('lists all at once from a version', async () => {
  await using session = new ScriptedSession();
  await session.start();
  session.server.watch.send(added(thing('x', 12)), failed(410, 'Expired'));
  await session.clock.advance(1_000);
  expect(session.server.lists[1]).toEqual({ resourceVersion: '12', signal: expect.any(AbortSignal) as AbortSignal });
});

interface Listening {
  readonly session: ScriptedSession;
  readonly registration: ReturnType<ScriptedSession['listen']>['registration'];
}
