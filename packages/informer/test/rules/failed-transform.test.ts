// A version that the transform refuses: the object is there all the same, or another one is under its name.
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { added, deleted, failed, initialEnd, modified, thing } from './scripted-server.js';
import { ScriptedSession, sources } from './scripted-session.js';

const gone = { names: [], seen: ['delete x@10 unknown'] };
const kept = { names: ['x@10'], seen: [] };
const cases = [
  { what: 'the same object', known: 'u1', next: thing('x', 20, 'u1'), expected: kept },
  { what: 'another object', known: 'u1', next: thing('x', 20, 'u2'), expected: gone },
  { what: 'an object without a uid', known: 'u1', next: thing('x', 20, ''), expected: kept },
  { what: 'an object known without a uid', known: '', next: thing('x', 20, 'u2'), expected: kept },
];

describe.each(sources)('a version that the transform refuses, fed by %s', (source) => {
  async function started(known: string, streams: boolean) {
    const session = new ScriptedSession({
      source,
      streams,
      transform: (object) => {
        if (Number(object.metadata.resourceVersion) >= 20) throw new Error('the transform');
        return object;
      },
    });
    session.server.page = () => ({ version: 10, items: [thing('x', 10, known)] });
    await session.start();
    if (streams) session.server.watch.send(added(thing('x', 10, known)), initialEnd(10));
    await settle();
    const { seen } = session.listen();
    await settle();
    expect(seen.splice(0)).toEqual(['add x@10 initial']);
    return { session, seen };
  }

  it.each(cases)('is $what, live', async ({ known, next, expected }) => {
    const { session, seen } = await started(known, false);
    await using _ = session;
    session.server.watch.send(modified(next));
    await settle();
    expect({ names: session.names(), seen }).toEqual(expected);
    expect(session.informer.indexer.resourceVersion).toBe('20');
  });

  it('is an object that is not known, live', async () => {
    const { session, seen } = await started('u1', false);
    await using _ = session;
    session.server.watch.send(added(thing('y', 20)), modified(thing('x', 15, 'u1')));
    await settle();
    expect({ names: session.names(), seen }).toEqual({ names: ['x@15'], seen: ['update x@10→15'] });
    expect(session.informer.indexer.resourceVersion).toBe('20');
  });

  it.each([false, true])('is an object that is not known, in the next list (streaming: %s)', async (streams) => {
    const { session, seen } = await started('u1', streams);
    await using _ = session;
    const listed = [thing('x', 10, 'u1'), thing('y', 20)];
    session.server.page = () => ({ version: 30, items: listed });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(2_000);
    // The last of them came and went before the initial events ended.
    const passing = thing('z', 11);
    if (streams) session.server.watch.send(...listed.map(added), added(passing), deleted(passing), initialEnd(30));
    await settle();
    expect({ names: session.names(), seen }).toEqual(kept);
    expect(session.informer.indexer.resourceVersion).toBe('30');
  });

  it.each(cases.flatMap((each) => [false, true].map((streams) => ({ ...each, streams }))))(
    'is $what, in the next list (streaming: $streams)',
    async ({ known, next, expected, streams }) => {
      const { session, seen } = await started(known, streams);
      await using _ = session;
      session.server.page = () => ({ version: 30, items: [next, thing('y', 12)] });
      session.server.watch.send(failed(410, 'Expired'));
      await session.clock.advance(2_000);
      if (streams) session.server.watch.send(added(next), added(thing('y', 12)), initialEnd(30));
      await settle();
      expect({ names: session.names().toSorted(), seen }).toEqual({
        names: [...expected.names, 'y@12'],
        seen: [...expected.seen, 'add y@12'],
      });
    },
  );
});
