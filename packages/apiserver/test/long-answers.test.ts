/** What another thread does, so that the one of the server is there for others: counted, not timed. */
import { Worker } from 'node:worker_threads';
import { settle } from '@kctl/wait/testing';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { createApiServer } from '../src/index.js';
import { LongBody } from '../src/storage/long-object.js';
import { configMap, configMaps, harness, type Answer, type Harness } from './harness.js';

const post = vi.spyOn(Worker.prototype, 'postMessage');
const read = vi.spyOn(LongBody.prototype, 'read');
const readMetadata = vi.spyOn(LongBody.prototype, 'readMetadata');

/** The jobs that another thread was given. */
function jobs(): string[] {
  return post.mock.calls.map(([job]) =>
    typeof job === 'object' && job !== null && 'type' in job ? String(job.type) : '',
  );
}

beforeEach(() => {
  vi.clearAllMocks();
});
afterAll(() => {
  vi.restoreAllMocks();
});

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = '/apis/ex.io/v1/namespaces/default/things';
const merge = { 'content-type': 'application/merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };
const applied = { 'content-type': 'application/apply-patch+yaml' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** A definition of two versions; the pad makes it long. */
function definition(pad: string, more: object = {}, spec: object = {}): object {
  const version = (name: string): object => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description: pad,
        properties: {
          spec: {
            type: 'object',
            properties: {
              size: { type: 'integer', default: 3 },
              text: { type: 'string', pattern: '^[a-z]*$' },
              ...(name === 'v1' && { only: { type: 'string' } }),
              ...spec,
            },
            'x-kubernetes-validations': [{ rule: 'self.size < 100', message: 'too large' }],
          },
          status: { type: 'object', properties: { ready: { type: 'boolean' } } },
        },
      },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.ex.io' },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [version('v1'), version('v2')],
    },
    ...more,
  };
}

const thing = (name: string, spec: object, version = 'v1'): object => ({
  apiVersion: `ex.io/${version}`,
  kind: 'Thing',
  metadata: { name },
  spec,
});

type Step = readonly [
  method: string,
  path: string,
  body?: (pad: string) => unknown,
  headers?: Readonly<Record<string, string>>,
];

const named = `${crds}/things.ex.io`;
const field = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';
/** Writes of a definition and of its objects: what each answers must not depend on the length of the definition. */
const steps: readonly Step[] = [
  ['POST', `${crds}?dryRun=All`, (pad) => definition(pad)],
  ['POST', crds, (pad) => definition(pad, {}, { bad: { type: 'nothing' }, worse: {} })],
  [
    'POST',
    crds,
    (pad) => definition(pad, {}, { rule: { type: 'string', 'x-kubernetes-validations': [{ rule: '1' }] } }),
  ],
  ['POST', crds, (pad) => definition(pad, { metadata: { name: 'other.ex.io' } })],
  ['POST', `${crds}?fieldValidation=Strict`, (pad) => definition(pad, { bogus: 1 })],
  ['POST', crds, (pad) => definition(pad)],
  ['POST', crds, (pad) => definition(pad)],
  ['GET', named],
  ['POST', things, () => thing('a', {})],
  ['POST', things, () => thing('b', { size: 200 })],
  ['POST', things, () => thing('b', { text: 'NO' })],
  ['POST', things, () => thing('b', { unknown: 1, only: 'x' })],
  ['GET', '/apis/ex.io/v2/namespaces/default/things/b'],
  ['PUT', named, (pad) => definition(pad)],
  ['PATCH', named, () => ({ metadata: { labels: { a: 'b' } } }), merge],
  ['PATCH', named, () => [{ op: 'replace', path: `${field}/size/default`, value: 'x' }], jsonPatch],
  ['PATCH', named, () => [{ op: 'replace', path: `${field}/size/default`, value: 7 }], jsonPatch],
  ['POST', things, () => thing('c', {})],
  ['PATCH', named, () => [{ op: 'remove', path: `${field}/only` }], jsonPatch],
  ['GET', `${things}/b`],
  ['PATCH', `${named}?fieldManager=m`, () => ({ ...definition(''), spec: { group: 'else.io' } }), applied],
  ['PATCH', `${named}/status`, () => ({ status: { storedVersions: ['v1', 'v2'] } }), merge],
  ['PUT', `${things}/a`, () => thing('a', { size: 5 })],
  ['PATCH', `${things}/a`, () => ({ spec: { size: 101 } }), merge],
  ['PATCH', `${things}/a/status`, () => ({ status: { ready: true } }), merge],
  ['PATCH', named, () => [{ op: 'replace', path: '/spec/versions/1/served', value: false }], jsonPatch],
  ['GET', '/apis/ex.io/v2/namespaces/default/things/b'],
  ['DELETE', named],
  ['GET', things],
];

/** What a client sees, without what is random. */
function seen({ status, text, headers }: Answer, pad: string): unknown {
  const body = text.replaceAll(pad, 'PAD').replaceAll(/"(uid|resourceVersion)":"[^"]+"/g, '"$1":"R"');
  return { status, body: body.startsWith('{') ? JSON.parse(body) : body, warning: headers.get('warning') };
}

async function play(
  { call }: Harness,
  pad: string,
  { 0: method, 1: path, 2: body, 3: headers }: Step,
): Promise<unknown> {
  const answer = await call(method, path, body?.(pad), headers);
  await settle();
  return { method, path, ...(seen(answer, pad) as object) };
}

test('a long definition is served as a short one, and another thread judges it', async () => {
  const pads = ['q7', 'p'.repeat(70_000)] as const;
  const [short, long] = [await harness(), await harness()];
  const expected: unknown[] = [];
  for (const step of steps) expected.push(await play(short, pads[0], step));
  expect(jobs()).toEqual([]);
  for (const [index, step] of steps.entries()) {
    post.mockClear();
    expect(await play(long, pads[1], step)).toEqual(expected[index]);
    const [method, path] = step;
    const isWrite = path.startsWith(crds) && method !== 'GET' && method !== 'DELETE';
    // A create whose name is taken begins again with what is in its way.
    expect({ step, jobs: [...new Set(jobs())] }).toEqual({ step, jobs: isWrite ? ['write'] : [] });
  }
});

/** 600 fields with a default, and as many rules: each object takes long. */
const heavy = Object.fromEntries(
  numbers(600).map((index) => [
    `f${index}`,
    { type: 'string', maxLength: 9, default: 'x', 'x-kubernetes-validations': [{ rule: "self != 'no'" }] },
  ]),
);

test('another thread judges the objects of a definition with hundreds of rules or defaults', async () => {
  const { post: send, get, merge: patch } = await harness();
  expect((await send(crds, definition('', {}, heavy))).status).toBe(201);
  post.mockClear();
  const created = await send(things, thing('a', { f0: 'y' }));
  expect(created.body.spec).toMatchObject({ f0: 'y', f599: 'x', size: 3 });
  expect((await patch(`${things}/a`, { spec: { f1: 'no' } })).body.message).toContain('failed rule');
  expect(jobs()).toEqual(['write', 'write']);
  expect((await get(`${things}/a`)).body).toEqual(created.body);
});

test('rules are counted where a definition is short', async () => {
  const { post: send, merge: patch } = await harness();
  const rules = numbers(400).map((index) => ({ rule: `self > ${index}` }));
  const ruled = definition('', {}, { n: { type: 'integer', 'x-kubernetes-validations': rules } });
  expect(JSON.stringify(ruled).length).toBeLessThan(64 * 1024);
  expect((await send(crds, ruled)).status).toBe(201);
  expect((await patch(named, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  expect(jobs()).toEqual(['write', 'write']);
});

test('another thread writes the documents of a long definition', async () => {
  const { post: send, get, delete: remove } = await harness();
  const documents = ['/openapi/v3/apis/ex.io/v1', '/openapi/v3/apis/ex.io/v2', '/openapi/v2'];
  const protobuf = (path: string): Record<string, string> => ({
    accept: `application/com.github.proto-openapi.spec.${path.slice(9, 11)}@v1.0+protobuf`,
  });
  const all = async (pad: string): Promise<unknown[]> => {
    expect((await send(crds, definition(pad))).status).toBe(201);
    post.mockClear();
    const answers: unknown[] = [];
    for (const path of documents) {
      const { status, body } = await get(path);
      expect(status).toBe(200);
      answers.push(JSON.parse(JSON.stringify(body).replaceAll(pad, 'PAD')));
      const encoded = await get(path, protobuf(path));
      expect(encoded.headers.get('content-type')).toContain('protobuf');
      answers.push(encoded.text.includes(pad));
    }
    await remove(named);
    await settle();
    return answers;
  };
  const short = await all('quite short');
  expect(jobs()).toEqual([]);
  expect(await all('p'.repeat(200_000))).toEqual(short);
  // Two versions, in both forms of v3; in v2 both are in one document.
  const v3 = ['openApiV3', 'openApiDocument'];
  expect(jobs()).toEqual([...v3, ...v3, 'openApiV2', 'openApiV2']);
});

test('another thread looks into long objects, for Tables and for protobuf, in lists and in watches', async () => {
  const { post: send, get, watch, merge: patch, clock } = await harness();
  const data = { pad: 'p'.repeat(70_000), other: 'x' };
  expect((await send(crds, definition(''))).status).toBe(201);
  await send(configMaps, configMap('a', { l: 'x' }, data));
  await send(things, { ...thing('t', { size: 9 }), metadata: { name: 't', annotations: { pad: 'p'.repeat(70_000) } } });
  const history = (await get(configMaps)).body.metadata.resourceVersion;
  const live = await watch(`${configMaps}?watch=1&allowWatchBookmarks=true`, table);
  expect((await live.next()).object.rows[0].cells.slice(0, 2)).toEqual(['a', 2]);
  expect((await live.next()).type).toBe('BOOKMARK');
  post.mockClear();
  read.mockClear();

  const list = await get(configMaps, table);
  expect(list.body.rows[0].cells).toEqual(['a', 2, '0s']);
  expect(list.body.rows[0].object.metadata).toMatchObject({ name: 'a', labels: { l: 'x' } });
  clock.advanceSync(5_000);
  expect((await get(configMaps, table)).body.rows[0].cells).toEqual(['a', 2, '5s']);
  expect((await get(`${configMaps}/a`, table)).body.rows[0].cells).toEqual(['a', 2, '5s']);
  expect((await get(things, table)).body.rows[0].cells).toEqual(['t', 9]);
  for (const path of [configMaps, `${configMaps}/a`]) {
    const encoded = await get(path, { accept: 'application/vnd.kubernetes.protobuf' });
    expect(encoded.text).toContain(data.pad);
  }

  // What follows keeps its order behind what another thread has to look into.
  await patch(`${configMaps}/a`, { data: { third: 'y' } });
  await send(configMaps, configMap('b', {}, { only: 'one' }));
  const rows = async ({ next }: Awaited<ReturnType<Harness['watch']>>): Promise<unknown> =>
    (await next()).object.rows[0].cells.slice(0, 2);
  expect([await rows(live), await rows(live)]).toEqual([
    ['a', 3],
    ['b', 1],
  ]);
  await live.cancel();
  const replayed = await watch(`${configMaps}?watch=1&resourceVersion=${history}`, table);
  expect([await rows(replayed), await rows(replayed)]).toEqual([
    ['a', 3],
    ['b', 1],
  ]);
  await replayed.cancel();
  expect(read).not.toHaveBeenCalled();
  const counts = Object.groupBy(jobs(), (type) => type);
  expect(counts['protobuf']).toHaveLength(1);
  // One for each state and time: answers at the same time share them.
  expect(counts['row']).toHaveLength(3);
});

test('an apply of thousands of fields is stored and shown without its owners being read here', async () => {
  const { post: send, call } = await harness();
  expect(
    (await send(crds, definition('', {}, { map: { type: 'object', additionalProperties: { type: 'string' } } })))
      .status,
  ).toBe(201);
  const map = Object.fromEntries(numbers(5_000).map((index) => [`key${index}`, 'x'.repeat(10)]));
  const wide = { ...thing('wide', { map }), metadata: { name: 'wide' } };
  readMetadata.mockClear();
  const apply = async (manager: string, labels: object): Promise<number> =>
    (
      await call(
        'PATCH',
        `${things}/wide?fieldManager=${manager}`,
        { ...wide, metadata: { name: 'wide', labels } },
        applied,
      )
    ).status;
  expect(await apply('m', { a: 'b' })).toBe(201);
  expect(await apply('n', { c: 'd' })).toBe(200);
  expect(readMetadata).not.toHaveBeenCalled();
});

test('lists of long objects go out in pieces', async () => {
  const server = createApiServer({ journalEntries: 0 });
  await server.start();
  const pieces = async (method: string, target: string, accept: string, body?: object): Promise<number[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<number[]>();
    const lengths: number[] = [];
    await server.answer(
      {
        method,
        target,
        headers: { accept, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: Buffer.from(JSON.stringify(body)) }),
        signal: new AbortController().signal,
      },
      {
        start: () => undefined,
        data: (chunk) => void lengths.push(chunk.length),
        end: () => resolve(lengths),
        destroy: () => reject(new Error('cut')),
      },
    );
    return await promise;
  };
  const json = 'application/json';
  for (const index of numbers(4))
    await pieces('POST', configMaps, json, configMap(`m${index}`, {}, { pad: 'p'.repeat(900_000) }));
  for (const [method, accept] of [
    ['GET', json],
    ['GET', 'application/vnd.kubernetes.protobuf'],
    ['DELETE', json],
  ] as const) {
    const lengths = await pieces(method, configMaps, accept);
    expect(lengths.length).toBeGreaterThan(1);
    expect(Math.max(...lengths)).toBeLessThan(2_000_000);
  }
  await server.stop();
});
