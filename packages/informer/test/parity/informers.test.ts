import { metadataOnly } from '@kctl/apimachinery';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import type { Metrics } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { SharedInformerOptions } from '../../src/index.js';
import { added, bookmark, deleted, failed, initialEnd, modified, rawItem, thing } from '../rules/scripted-server.js';
import type { Frame, Thing } from '../rules/scripted-server.js';
import { ScriptedSession, sources, ThingKind } from '../rules/scripted-session.js';
import type { SourceName } from '../rules/scripted-session.js';

/** What a server says, one after the other. */
interface Script {
  readonly list?: readonly unknown[];
  readonly frames?: readonly Frame[];
  /** What a second list finds, after a 410. */
  readonly relist?: readonly unknown[];
  readonly options?: Partial<SharedInformerOptions<Thing>>;
}

/** Everything that can be seen of an informer. */
interface Outcome {
  readonly store: readonly unknown[];
  readonly seen: readonly string[];
  readonly index: readonly string[];
  readonly logged: readonly unknown[];
  readonly skipped: readonly string[];
  readonly reasons: readonly string[];
  readonly watchedFrom: string | undefined;
}

function countingMetrics(into: string[]): Metrics {
  return {
    ...noopMetrics,
    counter: (options) => ({
      ...noopMetrics.counter(options),
      with: (labels) => ({
        inc: () => {
          if (options.name === 'informer_skipped_objects_total') into.push(labels['reason'] ?? '');
        },
      }),
    }),
  };
}

async function play(source: SourceName, streams: boolean, script: Script): Promise<Outcome> {
  const logged: unknown[] = [];
  const skipped: string[] = [];
  const reasons: string[] = [];
  await using session = new ScriptedSession({
    source,
    streams,
    indexers: { size: { path: 'spec.size' }, uid: { header: ({ uid }) => [uid] } },
    logger: { ...noopLogger, error: (message, fields) => void logged.push([message, fields?.['key']]) },
    metrics: countingMetrics(skipped),
    watchErrorHandler: ({ reason }) => void reasons.push(reason),
    ...script.options,
  });
  const { list = [], frames = [], relist } = script;
  const { seen } = session.listen();
  session.server.page = () => ({ version: 10, items: list });
  await session.start();
  if (streams) session.server.watch.send(...list.map((object) => ({ type: 'ADDED', object })), initialEnd(10));
  await settle();
  session.server.watch.send(...frames);
  await settle();
  if (relist !== undefined) {
    session.server.page = () => ({ version: 50, items: relist });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(2000);
    if (streams) session.server.watch.send(...relist.map((object) => ({ type: 'ADDED', object })), initialEnd(50));
    await settle();
  }
  const values = (): string[] =>
    ['size', 'uid'].flatMap((index) =>
      session.informer.indexer
        .listIndexFuncValues(index)
        .map((value) => `${index} ${value}: ${session.informer.indexer.indexKeys(index, value).join()}`),
    );
  const index = values();
  const store = session.informer.indexer.list();
  session.informer.addIndexers({ again: { path: 'spec.size' } });
  expect(session.informer.indexer.listIndexFuncValues('again')).toEqual(
    session.informer.indexer.listIndexFuncValues('size'),
  );
  expect(values()).toEqual(index);
  session.server.watch.close();
  await settle();
  const watchedFrom = session.server.watches.findLast(({ call }) => call.sendInitialEvents !== true)?.call
    .resourceVersion;
  return {
    store,
    seen,
    index,
    logged,
    skipped,
    reasons: reasons.filter((reason) => reason !== 'short-watch'),
    watchedFrom,
  };
}

const throwing = (poison: (object: Thing) => boolean) => ({
  transform: (object: Thing): Thing => {
    if (poison(object)) throw new Error('the transform');
    return { ...object, spec: { size: (object.spec?.size ?? 0) + 1000 } };
  },
});
const isVersion =
  (version: number) =>
  ({ metadata }: Thing): boolean =>
    metadata.resourceVersion === String(version);
const named = (outcome: Outcome): string[] =>
  outcome.store.map((object) => {
    const { metadata, spec } = object as Thing;
    return `${metadata.name}@${metadata.resourceVersion}=${spec?.size}`;
  });

const scripts: readonly (readonly [string, Script, (outcome: Outcome) => void])[] = [
  [
    'objects of other kinds, and without an identity, are skipped',
    {
      list: [
        thing('x', 1),
        { ...thing('secret', 2), kind: 'Secret' },
        { ...thing('other', 3), apiVersion: 'other.example.com/v1' },
        { ...thing('next', 4), apiVersion: 'example.com/v2' },
        { kind: 'Thing', apiVersion: 'example.com/v1', metadata: { name: '', resourceVersion: '5' } },
        { kind: 'Thing', apiVersion: 'example.com/v1', metadata: { name: 'n', uid: 5 } },
        { kind: 'Thing', apiVersion: 'example.com/v1' },
      ],
      frames: [
        added({ ...thing('late', 11), kind: 'Secret' }),
        modified({ ...thing('x', 12), kind: 'Secret' }),
        deleted({ ...thing('x', 13), kind: 'Secret' }),
        {
          type: 'ADDED',
          object: { metadata: thing('table', 14).metadata, rows: [], apiVersion: 'meta.k8s.io/v1', kind: 'Table' },
        },
        { type: 'ADDED', object: 'text' },
      ],
    },
    (outcome) => {
      expect(named(outcome)).toEqual(['x@1=1']);
      expect(outcome.skipped.filter((reason) => reason === 'wrong-kind')).toHaveLength(7);
      expect(outcome.skipped.filter((reason) => reason === 'no-identity')).toHaveLength(4);
      expect(['10', undefined]).toContain(outcome.watchedFrom);
    },
  ],
  [
    'objects that do not say their type get it',
    {
      list: [
        { metadata: thing('x', 1).metadata },
        { metadata: thing('y', 2).metadata, spec: { size: 2 }, kind: null, apiVersion: null },
      ],
    },
    ({ store }) => {
      expect(store).toMatchObject([
        { apiVersion: 'example.com/v1', kind: 'Thing' },
        { apiVersion: 'example.com/v1', kind: 'Thing', spec: { size: 2 } },
      ]);
    },
  ],
  [
    'a metadata-only kind keeps nothing but metadata, of whatever is sent',
    {
      list: [
        thing('whole', 1),
        { ...thing('partial', 2), apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', spec: undefined },
        { metadata: { ...thing('untyped', 3).metadata, managedFields: [{ manager: 'm' }] }, spec: { size: 3 } },
        { ...thing('other', 4), kind: 'Secret' },
      ],
      frames: [
        modified(thing('whole', 11)),
        added({ ...thing('new', 12), kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }),
      ],
      options: { kind: metadataOnly(ThingKind) },
    },
    (outcome) => {
      for (const object of outcome.store)
        expect(object).toEqual({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: (object as Thing).metadata });
      expect(named(outcome)).toEqual([
        'new@12=undefined',
        'partial@2=undefined',
        'untyped@3=undefined',
        'whole@11=undefined',
      ]);
      expect(outcome.index.filter((line) => line.startsWith('size'))).toEqual([]);
      expect(JSON.stringify(outcome.store)).not.toContain('managedFields');
    },
  ],
  [
    'a transform that throws for an event keeps the version before, and the watch goes on behind it',
    { list: [thing('x', 1)], frames: [modified(thing('x', 11))], options: throwing(isVersion(11)) },
    (outcome) => {
      expect(named(outcome)).toEqual(['x@1=1001']);
      expect([outcome.seen, outcome.skipped]).toEqual([['add x@1 initial'], ['transform']]);
      expect(outcome.logged).toEqual([[expect.stringContaining('could not be transformed'), 'a/x']]);
      expect(outcome.watchedFrom).toBe('11');
    },
  ],
  [
    'a transform that throws during a relist keeps the version before, and tells no deletion',
    {
      list: [thing('x', 1), thing('y', 2)],
      relist: [thing('x', 41), thing('y', 42)],
      options: throwing(isVersion(41)),
    },
    (outcome) => {
      expect(named(outcome)).toEqual(['x@1=1001', 'y@42=1042']);
      expect(outcome.seen).toEqual(['add x@1 initial', 'add y@2 initial', 'update y@2→42']);
    },
  ],
  [
    'a transform that throws for another object of the name tells the deletion of the one before',
    {
      list: [thing('x', 1), thing('y', 2)],
      frames: [added(thing('x', 11, 'other'))],
      relist: [thing('y', 42, 'other')],
      options: throwing(({ metadata }) => metadata.uid === 'other'),
    },
    (outcome) => {
      expect(named(outcome)).toEqual([]);
      expect(outcome.seen).toEqual(['add x@1 initial', 'add y@2 initial', 'delete x@1 unknown', 'delete y@2 unknown']);
    },
  ],
  [
    'a transform that throws for a deletion does not keep what was deleted',
    { list: [thing('x', 1)], frames: [deleted(thing('x', 11))], options: throwing(isVersion(11)) },
    (outcome) => {
      expect([named(outcome), outcome.seen]).toEqual([[], ['add x@1 initial', 'delete x@11']]);
    },
  ],
  [
    'what a transform takes away of the identity is put back',
    {
      list: [thing('x', 1)],
      frames: [modified(thing('x', 11)), bookmark(12), modified(thing('x', 13))],
      options: {
        transform: ({ spec }: Thing): Thing => ({
          metadata: { name: 'renamed', namespace: 'other' },
          spec: spec ?? { size: 0 },
        }),
      },
    },
    (outcome) => {
      expect(outcome.store).toMatchObject([
        { metadata: { namespace: 'a', name: 'x', uid: 'u-x', resourceVersion: '13' } },
      ]);
      expect(outcome.seen).toEqual(['add x@1 initial', 'update x@1→11', 'update x@11→13']);
      expect(outcome.watchedFrom).toBe('13');
    },
  ],
  [
    'a transform that returns no object is one that fails',
    {
      list: [thing('x', 1), thing('y', 2), thing('z', 3)],
      options: {
        transform: (object: Thing): Thing =>
          ({ x: undefined, y: Promise.resolve(object), z: object })[object.metadata.name ?? ''] as Thing,
      },
    },
    (outcome) => {
      expect([named(outcome), outcome.skipped]).toEqual([['z@3=3'], ['transform', 'transform']]);
    },
  ],
];

describe.each([false, true])('an informer of bytes and one of objects come to the same (streaming: %s)', (streams) => {
  it.each(scripts)('%s', async (_name, script, judge) => {
    const outcomes: Outcome[] = [];
    for (const source of sources) outcomes.push(await play(source, streams, structuredCloneOf(script)));
    const [objects, bytes] = outcomes;
    if (objects === undefined || bytes === undefined) throw new Error('not played');
    expect(bytes).toEqual(objects);
    judge(bytes);
  });
});

/** The informer owns what it reads. */
function structuredCloneOf({ options, ...script }: Script): Script {
  return { ...structuredClone(script), ...(options === undefined ? {} : { options }) };
}

describe('an item of a list that cannot be read', () => {
  it('is reported, and nothing is taken for deleted because of it', async () => {
    const skipped: string[] = [];
    await using session = new ScriptedSession({ source: 'bytes', metrics: countingMetrics(skipped) });
    const { seen } = session.listen();
    session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2)] });
    await session.start();
    session.server.page = () => ({ version: 20, items: [thing('y', 12), rawItem('{"metadata":{"name":"x",]}}')] });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(800);
    expect([session.names(), seen, skipped]).toEqual([
      ['x@1', 'y@12'],
      ['add x@1 initial', 'add y@2 initial', 'update y@2→12'],
      ['unreadable'],
    ]);
  });

  it('keeps the version before of its object alone, where it says which that is', async () => {
    const skipped: string[] = [];
    const transform = (object: Thing): Thing => object;
    await using session = new ScriptedSession({ source: 'bytes', metrics: countingMetrics(skipped), transform });
    const { seen } = session.listen();
    session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2), thing('z', 3)] });
    await session.start();
    const broken = '{"metadata":{"namespace":"a","name":"x","uid":"u-x","resourceVersion":"15"},"spec":{oops}}';
    session.server.page = () => ({ version: 20, items: [thing('y', 12), rawItem(broken)] });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(800);
    expect([session.names(), seen.slice(3), skipped]).toEqual([
      ['x@1', 'y@12'],
      ['delete z@3 unknown', 'update y@2→12'],
      ['unreadable'],
    ]);
  });

  it('that does not say which object it is: what is gone goes with the next list, when the watch has ended', async () => {
    await using session = new ScriptedSession({ source: 'bytes' });
    session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('z', 3)] });
    await session.start();
    session.server.page = () => ({ version: 20, items: [rawItem('{"metadata":{"name":"x",]}}')] });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(800);
    expect(session.names()).toEqual(['x@1', 'z@3']);
    session.server.page = () => ({ version: 30, items: [thing('x', 15)] });
    await session.clock.advance(60_000);
    session.server.watch.close();
    await session.clock.advance(1000);
    expect(session.names()).toEqual(['x@15']);
  });

  it('costs one object, not the list: also where it is found at the first read', async () => {
    const skipped: string[] = [];
    const logged: unknown[] = [];
    await using session = new ScriptedSession({
      source: 'bytes',
      metrics: countingMetrics(skipped),
      logger: { ...noopLogger, error: (message, fields) => void logged.push([message, fields?.['key']]) },
      indexers: { all: { header: () => ['all'] } },
    });
    session.server.page = () => ({
      version: 10,
      items: [
        thing('x', 1),
        rawItem('{"metadata":{"namespace":"a","name":"broken","resourceVersion":"2"},"spec":{"size":oops}}'),
        thing('z', 3),
      ],
    });
    await session.start();
    for (let read = 0; read < 3; read++) {
      expect(session.names()).toEqual(['x@1', 'z@3']);
      expect(session.informer.lister.list()).toHaveLength(2);
      expect(session.informer.indexer.byIndex('all', 'all')).toHaveLength(2);
    }
    expect([skipped, logged]).toEqual([['unreadable'], [['an object cannot be read; it is skipped', 'a/broken']]]);
    expect(() => session.informer.indexer.get({ namespace: 'a', name: 'broken' })).toThrow('cannot decode a/broken');
    session.server.watch.send(modified(thing('broken', 11)));
    await settle();
    expect(session.names()).toEqual(['broken@11', 'x@1', 'z@3']);
  });
});
