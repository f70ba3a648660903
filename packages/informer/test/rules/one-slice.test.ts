import { FakeClock, settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createEventStream } from '../../src/index.js';
import { added, thing } from './scripted-server.js';
import { ScriptedSession } from './scripted-session.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it.each([
  ['the first list', 'list'],
  ['events', 'watch'],
])(
  'takes one slice of a turn of the event loop, however many informers have received %s in it',
  async (_what, from) => {
    let now = 0;
    let calls = 0;
    const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
    await using stack = new AsyncDisposableStack();
    const sessions = Array.from({ length: 30 }, () => stack.use(new ScriptedSession({ clock })));
    const things = Array.from({ length: 10 }, (_, place) => thing(`x-${place}`, place + 11));
    for (const { informer, server } of sessions) {
      if (from === 'list') server.page = () => ({ version: 30, items: things });
      informer.addEventHandler({
        onEvent: () => {
          calls++;
          now += 1;
        },
      });
    }
    if (from === 'list') for (const session of sessions) void session.start();
    else {
      for (const session of sessions) await session.start();
      await settle();
      for (const { server } of sessions) server.watch.send(...things.map(added));
    }
    let longest = 0;
    for (let turns = 0; calls < 300; turns++) {
      expect(turns).toBeLessThan(10_000);
      const before = now;
      await turn();
      longest = Math.max(longest, now - before);
    }
    // 5 ms, and what was begun in the last of them; one of our turns may see the end of one slice and the next.
    expect(longest).toBeLessThanOrEqual(12);
  },
);

it('takes one slice of a turn, too, for a loop over events that has always something to read', async () => {
  let now = 0;
  const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
  await using session = new ScriptedSession({ clock });
  session.server.page = () => ({
    version: 200,
    items: Array.from({ length: 100 }, (_, at) => thing(`x-${at}`, at + 1)),
  });
  await session.start();
  let reads = 0;
  const read = async (): Promise<void> => {
    for await (const _ of createEventStream(session.informer, { clock })) {
      now += 1;
      if (++reads === 100) return;
    }
  };
  const reading = read();
  let longest = 0;
  for (let turns = 0; reads < 100; turns++) {
    expect(turns).toBeLessThan(10_000);
    const before = now;
    await turn();
    longest = Math.max(longest, now - before);
  }
  await reading;
  expect(longest).toBeLessThanOrEqual(12);
});
