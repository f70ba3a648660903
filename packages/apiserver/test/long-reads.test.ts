/** Long objects are read in another thread, and as short ones are: counted, not timed. */
import { Worker } from 'node:worker_threads';
import { settle } from '@kctl/wait/testing';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { LongBody } from '../src/storage/long-object.js';
import { converter } from './converter.js';
import { harness, widget, widgetCrd, widgets, type Harness } from './harness.js';

const post = vi.spyOn(Worker.prototype, 'postMessage');
const read = vi.spyOn(LongBody.prototype, 'read');
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const named = `${crds}/widgets.ex.io`;
const others = widgets.replace('/v1/', '/v2/');
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const metadata = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };

function reads(): number {
  return post.mock.calls.filter(([job]) => Reflect.get(Object(job), 'type') === 'read').length;
}

beforeEach(() => {
  vi.clearAllMocks();
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** The CRD of the harness, whose objects have a text; in a second version they have no colour, and another default. */
function definition({ max = 10, extra = {} }: { readonly max?: number; readonly extra?: object } = {}): any {
  const [first] = widgetCrd.spec.versions;
  const version = (name: string, properties: object): object => ({
    ...first,
    name,
    storage: name === 'v1',
    selectableFields: name === 'v1' ? first.selectableFields : [{ jsonPath: '.spec.size' }],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' }, ...properties } },
          status: { type: 'object', properties: { ready: { type: 'boolean' } } },
        },
      },
    },
  });
  const common = { pad: { type: 'string' }, max: { type: 'integer', default: max }, ...extra };
  const versions = [
    version('v1', { ...common, color: { type: 'string' } }),
    version('v2', { ...common, min: { type: 'integer', default: 4 } }),
  ];
  return { ...widgetCrd, spec: { ...widgetCrd.spec, versions } };
}

/** JSON whose members are in one order: a long object has its resourceVersion first. */
function sorted(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** What may differ between a short object and a long one, and between two servers. */
function told(text: string, pad: string): string {
  return sorted(text)
    .replaceAll(pad, 'PAD')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST');
}

/** Objects are written, the definition changes, and everything that reads shows them; then they go. */
async function story(
  h: Harness,
  pad: string,
  crd: (more?: object) => any,
  onRead: () => void = () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  await settle();
  const note = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const { status, text } = await h.call(method, path, body, headers);
    seen.push(`${method} ${path} ${status} ${told(text, pad)}`);
  };
  expect((await h.post(crds, crd())).status).toBe(201);
  await settle();
  for (const [name, color, finalizers] of [
    ['a', 'red', undefined],
    ['b', 'blue', ['ex.io/hold']],
    ['c', 'red', undefined],
  ] as const)
    await note('POST', widgets, widget(name, { finalizers, labels: { color } }, { size: 2, color, pad }));
  const before = (await h.get(widgets)).body.metadata.resourceVersion;
  const live = await h.watch(`${others}?watch=1&resourceVersion=${before}`);
  const everywhere = async (): Promise<void> => {
    for (const path of [widgets, others]) {
      await note('GET', path);
      await note('GET', `${path}/a`);
      await note('GET', path, undefined, table);
      await note('GET', path, undefined, metadata);
      await note('GET', `${path}?labelSelector=color%3Dred&resourceVersion=0`);
      const watch = await h.watch(`${path}?watch=1`);
      seen.push(told(JSON.stringify([await watch.next(), await watch.next(), await watch.next()]), pad));
      await watch.cancel();
    }
    await note('GET', `${widgets}?fieldSelector=spec.color%3Dred`);
    await note('GET', `${widgets}?fieldSelector=spec.color%3Dnone`);
  };
  await everywhere();
  await h.merge(named, { spec: crd({ max: 20, extra: { late: { type: 'string', default: 'yes' } } }).spec });
  await settle();
  await everywhere();
  onRead();
  await note('PATCH', `${widgets}/a`, { spec: { size: 3 } }, { 'content-type': 'application/merge-patch+json' });
  await note('PATCH', `${others}/c`, { status: { ready: true } }, { 'content-type': 'application/merge-patch+json' });
  await note('DELETE', `${others}/b`);
  await note('DELETE', `${widgets}/a`);
  await note('GET', others);
  await note('DELETE', `${widgets}?labelSelector=color%3Dred`);
  await note(
    'PATCH',
    `${widgets}/b`,
    { metadata: { finalizers: null } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await note('GET', widgets);
  seen.push(told(JSON.stringify(await live.pending()), pad));
  await live.cancel();
  return seen;
}

/** Entry by entry: what differs first is shown alone. */
function expectAlike(seen: readonly string[], expected: readonly string[]): void {
  for (const [index, entry] of expected.entries()) expect(seen[index]).toBe(entry);
  expect(seen).toHaveLength(expected.length);
}

test('long objects are read as short ones are, in all versions and after their definition has changed', async () => {
  const short = await story(await harness(), 'q7', definition);
  expect(reads()).toBe(0);
  read.mockClear();
  const pad = 'p'.repeat(70_000);
  expectAlike(await story(await harness(), pad, definition), short);
  expect(reads()).toBeGreaterThan(0);
  expect(read.mock.calls.length).toBe(0);
});

test('long objects that a webhook converts are read as short ones are, by as many calls', async () => {
  const hooks = [await converter(), await converter()];
  const crdOf = (index: number) => (): any => {
    const crd = structuredClone(hooks[index]!.crd);
    for (const version of crd.spec.versions)
      version.schema.openAPIV3Schema.properties.spec.properties.pad = { type: 'string' };
    return crd;
  };
  const calls: unknown[] = [];
  const noting = (index: number) => () => void calls.push(structuredClone(hooks[index]!.calls));
  const short = await story(await harness(), 'q7', crdOf(0), noting(0));
  expect(reads()).toBe(0);
  expectAlike(await story(await harness(), 'p'.repeat(70_000), crdOf(1), noting(1)), short);
  expect(reads()).toBeGreaterThan(0);
  expect(calls[1]).toEqual(calls[0]);
});

test('a conversion that fails says the same of a long object, and one that is asked for again succeeds', async () => {
  const hook = await converter();
  const h = await harness();
  await h.post(crds, hook.crd);
  const annotations = { pad: 'p'.repeat(70_000) };
  expect((await h.post(widgets, widget('long', { annotations }))).status).toBe(201);
  expect((await h.post(widgets, widget('short'))).status).toBe(201);
  hook.before = () => {
    throw new Error('not today');
  };
  const message = async (name: string): Promise<unknown> => (await h.get(`${others}/${name}`)).body.message;
  expect(await message('long')).toBe(await message('short'));
  expect(await message('long')).toContain('not today');
  hook.before = () => undefined;
  expect((await h.get(`${others}/long`)).body).toMatchObject({ spec: { length: 1 }, metadata: { annotations } });
});
