// An answer about another kind must not be taken for the end of every object.
import { metadataOnly } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { added, failed, initialEnd, modified, thing } from './scripted-server.js';
import type { Frame, Thing } from './scripted-server.js';
import { ScriptedSession, sources, ThingKind } from './scripted-session.js';

const other = (name: string, version: number): Thing => ({ ...thing(name, version), kind: 'Other' });
const answers: readonly (readonly [string, readonly unknown[]])[] = [
  ['another kind', [other('x', 21), other('z', 22)]],
  ['another version', [{ ...thing('x', 21), apiVersion: 'example.com/v2' }]],
  ['another group', [{ ...thing('x', 21), apiVersion: 'other.example.com/v1' }]],
  ['metadata', [{ ...thing('x', 21), apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }]],
  ['a Table', [{ apiVersion: 'meta.k8s.io/v1', kind: 'Table', metadata: { name: 'x' }, rows: [] }]],
  ['objects without a name', [{}, { metadata: {} }, { metadata: { name: 5 } }]],
];

describe.each(sources)('an informer of %s', (source) => {
  describe.each([false, true])('(streaming: %s)', (streams) => {
    const relist = async (items: readonly unknown[], frames?: readonly Frame[]): Promise<unknown> => {
      await using session = new ScriptedSession({ source, streams });
      session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2)] });
      const { seen } = session.listen();
      await session.start();
      if (streams) session.server.watch.send(added(thing('x', 1)), added(thing('y', 2)), initialEnd(10));
      await settle();
      session.server.page = () => ({ version: 20, items });
      session.server.watch.send(failed(410, 'Expired'));
      await session.clock.advance(2000);
      if (streams)
        session.server.watch.send(
          ...(frames ?? [...items.map((object) => ({ type: 'ADDED', object })), initialEnd(20)]),
        );
      await settle();
      const during = [session.names(), seen.slice(2), session.informer.trouble?.reason];
      session.server.page = () => ({ version: 30, items: [thing('x', 1), thing('y', 2)] });
      await session.clock.advance(60_000);
      if (streams && session.server.watch.call.sendInitialEvents === true)
        session.server.watch.send(added(thing('x', 1)), added(thing('y', 2)), initialEnd(30));
      await settle();
      expect([session.informer.state.phase, session.names(), seen.slice(2)]).toEqual(['watching', ['x@1', 'y@2'], []]);
      return during;
    };

    it.each(answers)('refuses a relist of %s, deletes nothing and lists again', async (_what, items) => {
      expect(await relist(items)).toEqual([['x@1', 'y@2'], [], 'decode']);
    });

    if (streams && source === 'bytes')
      it('refuses the end of the initial events of another kind', async () => {
        const end = initialEnd(20);
        const frames = [{ type: end.type, object: { ...(end.object as object), kind: 'Other' } }];
        expect(await relist([thing('x', 1), thing('y', 2)], frames)).toEqual([['x@1', 'y@2'], [], undefined]);
      });

    it('takes no object for deleted because one of another kind has its name, or none', async () => {
      await using session = new ScriptedSession({ source, streams });
      session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2)] });
      const { seen } = session.listen();
      await session.start();
      const say = async (version: number, items: readonly unknown[]): Promise<void> => {
        session.server.page = () => ({ version, items });
        if (version > 10) {
          session.server.watch.send(failed(410, 'Expired'));
          await session.clock.advance(10_000);
        }
        if (streams)
          session.server.watch.send(...items.map((object) => ({ type: 'ADDED', object })), initialEnd(version));
        await settle();
      };
      await say(10, [thing('x', 1), thing('y', 2)]);
      await say(20, [{ ...other('x', 21), metadata: { ...other('x', 21).metadata, uid: 'other' } }, thing('y', 2)]);
      expect([session.names(), seen.slice(2)]).toEqual([['x@1', 'y@2'], []]);
      await say(30, [{ metadata: { name: '' } }, thing('y', 2)]);
      expect([session.names(), seen.slice(2)]).toEqual([['x@1', 'y@2'], []]);
      // One of another kind that has a name leaves no doubt about the others.
      await say(40, [other('z', 31), thing('x', 1)]);
      expect([session.names(), seen.length]).toEqual([['x@1'], 3]);
    });

    it('reports an event of another kind, and goes on', async () => {
      await using session = new ScriptedSession({ source, streams });
      session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
      await session.start();
      if (streams) session.server.watch.send(added(thing('x', 1)), initialEnd(10));
      session.server.watch.send(modified(other('x', 11)), modified(thing('x', 12)));
      await settle();
      expect(session.names()).toEqual(['x@12']);
    });
  });
});

describe('a list of objects', () => {
  const items = [thing('x', 1)];
  it.each([
    ['another kind', { kind: 'OtherList', apiVersion: 'example.com/v1', items: [] }],
    ['another version', { kind: 'ThingList', apiVersion: 'example.com/v2', items: [] }],
    ['metadata', { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [] }],
    ['a Table', { kind: 'Table', apiVersion: 'meta.k8s.io/v1', items: [] }],
    ['items without a type', { kind: 'List', apiVersion: 'v1', items: [{ metadata: { name: 'x' } }] }],
    ['a number', { items: [thing('x', 1), 1] }],
    ['a string', { items: ['x'] }],
    ['null', { items: [null] }],
    ['no array', { items: 'x' }],
    ['no items', {}],
  ])('of %s is refused', async (_what, list) => {
    await using session = new ScriptedSession({ source: 'objects' });
    session.server.page = () => ({ version: 10, items });
    const { seen } = session.listen();
    await session.start();
    session.server.answer = { metadata: { resourceVersion: '20' }, ...list };
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(2000);
    expect([session.names(), seen.slice(1), session.informer.state.phase]).toEqual([['x@1'], [], 'retrying']);
  });

  it.each([
    ['its kind', { kind: 'ThingList', apiVersion: 'example.com/v1', items: [{ metadata: { name: 'n' } }] }, ThingKind],
    ['no type', { items: [{ metadata: { name: 'n' } }] }, ThingKind],
    ['objects with types', { kind: 'List', apiVersion: 'v1', items: [thing('n', 1)] }, ThingKind],
    ['another name', { kind: 'Thinglist', apiVersion: 'example.com/v1', items: [] }, ThingKind],
    ['null', { kind: 'ThingList', items: null }, ThingKind],
    [
      'metadata',
      { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [] },
      metadataOnly(ThingKind),
    ],
    ['whole objects', { kind: 'ThingList', items: [thing('n', 1)] }, metadataOnly(ThingKind)],
  ])('of %s is taken', async (_what, list, kind) => {
    await using session = new ScriptedSession({ source: 'objects', kind });
    session.server.answer = { metadata: { resourceVersion: '20' }, ...list };
    await session.start();
    expect([session.informer.state.phase, session.informer.indexer.list().length]).toEqual([
      'watching',
      list.items?.length ?? 0,
    ]);
  });
});
