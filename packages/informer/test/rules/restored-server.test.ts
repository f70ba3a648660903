// A server whose storage was restored from a backup: versions go back, and what it says then counts.
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { added, deleted, failed, modified, thing } from './scripted-server.js';
import { ScriptedSession, sources } from './scripted-session.js';

describe.each(sources)('after versions went back (%s)', (source) => {
  async function restored(listed: readonly unknown[], transformFails: boolean): Promise<ScriptedSession> {
    let isBroken = false;
    const session = new ScriptedSession({
      source,
      transform: (object) => {
        if (isBroken) throw new Error('the transform');
        return object;
      },
    });
    session.server.page = () => ({ version: 1001, items: [thing('a', 1000), thing('b', 1001)] });
    await session.start();
    isBroken = transformFails;
    session.server.page = () => ({ version: 500, items: listed });
    session.server.watch.send(failed(410, 'Expired'));
    await settle();
    await session.clock.advance(2000);
    isBroken = false;
    return session;
  }

  it('goes on from what the server lists', async () => {
    await using session = await restored([thing('a', 400)], false);
    expect([session.names(), session.informer.resourceVersion]).toEqual([['a@400'], '500']);
    session.server.watch.send(modified(thing('a', 501)), added(thing('c', 502)));
    await settle();
    expect([session.names(), session.informer.resourceVersion]).toEqual([['a@501', 'c@502'], '502']);
  });

  it('takes the next version of an object that was kept as it was before', async () => {
    await using session = await restored([thing('a', 400)], true);
    expect(session.names()).toEqual(['a@1000']);
    session.server.watch.send(modified(thing('a', 501)));
    await settle();
    expect(session.names()).toEqual(['a@501']);
    session.server.watch.send(modified(thing('a', 400)));
    await settle();
    expect(session.names()).toEqual(['a@501']);
  });

  it('takes the end of an object that was kept as it was before', async () => {
    await using session = await restored([thing('a', 400), thing('b', 401)], true);
    session.server.watch.send(deleted(thing('a', 501)));
    await settle();
    expect(session.names()).toEqual(['b@1001']);
  });
});
