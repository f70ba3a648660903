// An answer of another kind than the one that was requested is an error at every place where answers come in.
import { defineKind, metadataOnly, untyped } from '@kctl/apimachinery';
import { isStatus } from '../src/transport/failure-status.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, isDecodeError } from '../src/index.js';
import type { HttpClient } from '../src/index.js';
import { json, startServer } from './support/server.js';
import type { TestServer } from './support/server.js';

const Item = defineKind({ group: 'example.com', version: 'v1', kind: 'Item', scope: 'Namespaced' });
const key = { namespace: 'ns', name: 'a' };
const metadata = { ...key, uid: 'u', resourceVersion: '1' };
const item = { apiVersion: 'example.com/v1', kind: 'Item', metadata };
const pad = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    metadata: { ...metadata, name: `n${index}` },
    data: 'x'.repeat(900),
  }));

let server: TestServer;
let client: HttpClient;
beforeAll(async () => {
  server = await startServer((_request, response) => json(response, item));
  client = createHttpClient({ connection: { server: server.url } });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
const answer = (body: object): void => {
  server.handler = (_request, response) => json(response, body);
};
const failureOf = async (work: () => Promise<unknown>): Promise<Error> => {
  const error = await work().then(
    (value: unknown) => new Error(`it returned ${JSON.stringify(value)?.slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('it rejected with something else');
  return error;
};
const framesOf = async (kind: typeof Item): Promise<number> => {
  const frames = await client.listFrames(kind);
  let count = 0;
  for await (const batch of frames) count += batch.length;
  await frames.metadata;
  return count;
};

const lists: readonly (readonly [string, object])[] = [
  ['a PodList', { apiVersion: 'v1', kind: 'PodList', metadata: {} }],
  ["another kind's list of the group", { apiVersion: 'example.com/v1', kind: 'OtherList', metadata: {} }],
  ["another version's list", { apiVersion: 'example.com/v2', kind: 'ItemList', metadata: {} }],
  ["another group's list", { apiVersion: 'example.org/v1', kind: 'ItemList', metadata: {} }],
  ['a list of metadata', { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList', metadata: {} }],
  ['a list whose kind is a number', { apiVersion: 'example.com/v1', kind: 5, metadata: {} }],
  ['a Table', { apiVersion: 'meta.k8s.io/v1', kind: 'Table', metadata: {}, rows: [] }],
];

describe.each(lists)('%s', (_what, envelope) => {
  const kinds = [Item, untyped(Item), ...(JSON.stringify(envelope).includes('Partial') ? [] : [metadataOnly(Item)])];
  it.each([0, 1, 600])('of %i items is no list of another kind, parsed or as frames', async (count) => {
    const typed = { apiVersion: 'v1', kind: 'Pod' };
    for (const items of [pad(count), pad(count).map((object) => ({ ...typed, ...object })), null])
      for (const sorted of [
        { ...envelope, items },
        { items, ...envelope },
      ]) {
        answer(sorted);
        for (const kind of kinds) {
          for (const read of [() => client.list(kind, { namespace: 'ns' }), () => framesOf(kind as typeof Item)]) {
            const error = await failureOf(read);
            expect([isDecodeError(error), error.message]).toEqual([
              true,
              expect.stringMatching(/list of example\.com\/v1, Kind=Item/),
            ]);
          }
          if (items !== null)
            expect(isDecodeError(await failureOf(() => client.deleteAllOf(kind, { namespace: 'ns' })))).toBe(true);
        }
      }
  });
});

it('names the verb, the kind, the namespace, what was expected and what came', async () => {
  answer({ apiVersion: 'v1', kind: 'PodList', metadata: {}, items: [] });
  expect((await failureOf(() => client.list(Item, { namespace: 'ns' }))).message).toContain(
    'list of example.com/v1, Kind=Item in namespace "ns": the response is a v1 PodList: expected a example.com/v1 ItemList',
  );
  answer({ apiVersion: 'v1', kind: 'Pod', metadata });
  expect((await failureOf(() => client.get(Item, key))).message).toBe(
    'get example.com/v1, Kind=Item "ns/a": the response is a "Pod" of "v1": expected a "Item" of "example.com/v1"',
  );
});

describe('a list', () => {
  it.each([
    ['its own', { apiVersion: 'example.com/v1', kind: 'ItemList' }, pad(2)],
    ['no type', {}, pad(2)],
    ['objects with types', { apiVersion: 'v1', kind: 'List' }, [item, item]],
    ['another name, with types', { apiVersion: 'example.com/v1', kind: 'AllItemsList' }, [item]],
    ['another name, empty', { apiVersion: 'example.com/v1', kind: 'ItemCollection' }, []],
  ])('of %s is taken', async (_what, envelope, items) => {
    answer({ ...envelope, metadata: { resourceVersion: '7' }, items });
    const list = await client.list(Item);
    expect(list).toMatchObject({ apiVersion: 'example.com/v1', kind: 'ItemList', metadata: { resourceVersion: '7' } });
    expect(list.items.map(({ apiVersion, kind }) => [apiVersion, kind])).toEqual(
      items.map(() => ['example.com/v1', 'Item']),
    );
    expect(await framesOf(Item)).toBe(items.length);
  });

  it.each([1, 600])('whose items do not state their type needs a kind: %i', async (count) => {
    answer({ apiVersion: 'v1', kind: 'List', metadata: {}, items: pad(count) });
    for (const read of [() => client.list(Item), () => framesOf(Item)])
      expect((await failureOf(read)).message).toContain(`a v1 List with ${count} items that do not state their type`);
  });

  it.each([
    ['a kind alone', { kind: 'Pod', metadata }],
    ['a version alone', { apiVersion: 'v1', metadata }],
    ['metadata alone', { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }],
    ['a list as metadata', { metadata: [] }],
    ['a number', 1],
    ['a string', 'x'],
    ['null', null],
  ])('with an item of another kind is refused: %s', async (_what, other) => {
    for (const items of [
      [item, other],
      [...pad(600), other],
    ]) {
      answer({ apiVersion: 'example.com/v1', kind: 'ItemList', metadata: {}, items });
      expect(isDecodeError(await failureOf(() => client.list(Item)))).toBe(true);
    }
  });
});

describe('an object of another kind', () => {
  const others: readonly object[] = [
    { ...item, kind: 'Pod' },
    { ...item, apiVersion: 'example.com/v2' },
    { ...item, apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' },
    { ...item, kind: 'ItemList', items: [] },
    { metadata, kind: 'Pod' },
    { metadata, apiVersion: 'v1' },
    { ...item, apiVersion: 'meta.k8s.io/v1', kind: 'Table', rows: [] },
  ];
  const merge = { type: 'merge', body: {} } as const;
  it.each<[string, () => Promise<unknown>]>([
    ['get', () => client.get(Item, key)],
    ['get, untyped', () => client.get(untyped(Item), key)],
    ['create', () => client.create(Item, item)],
    ['update', () => client.update(Item, item)],
    ['patch', () => client.patch(Item, key, merge)],
    ['apply', () => client.patch(Item, key, { type: 'apply', body: item }, { fieldOwner: 'me' })],
    ['delete', () => client.delete(Item, key)],
    ['status().update', () => client.status(Item).update(item)],
    ['status().patch', () => client.status(Item).patch(key, merge)],
    ['subResource(status).get', () => client.subResource(Item, 'status').get(key)],
    ['subResource(status).update', () => client.subResource(Item, 'status').update(key, item)],
    ['subResource(status).patch', () => client.subResource(Item, 'status').patch(key, merge)],
    ['subResource(scale).get', () => client.subResource(Item, 'scale').get(key)],
  ])('is refused by %s, with the key', async (verb, call) => {
    for (const other of others) {
      if (verb.includes('scale') && !('kind' in other)) continue;
      answer(other);
      const error = await failureOf(call);
      expect([isDecodeError(error), error.message]).toEqual([true, expect.stringContaining('"ns/a"')]);
    }
  });

  it.each([['null'], ['[]'], ['5'], ['"x"']])('is no body of a subresource: %s', async (text) => {
    server.handler = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    expect(isDecodeError(await failureOf(() => client.subResource(Item, 'token').get(key)))).toBe(true);
  });

  it('ends a watch: as an object and as a bookmark', async () => {
    for (const type of ['ADDED', 'DELETED', 'BOOKMARK']) {
      for (const object of others) {
        if (type === 'BOOKMARK' && !('kind' in object)) continue;
        answer({ type, object });
        const events: unknown[] = [];
        const error = await failureOf(async () => {
          for await (const event of await client.watch(Item)) events.push(event);
        });
        expect([events, isDecodeError(error), isStatus(error)]).toEqual([[], true, false]);
      }
    }
  });
});
