/** §2.10, statement 64: conversion of custom resources by webhook. */
import type { Context } from '../harness/context.js';
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH } from '../harness/context.js';
import { startConverter, type ConverterServer } from '../harness/converter.js';
import type { Doc, Draft, Json } from '../harness/doc.js';
import { check, created, failure, names, ok, same, status } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { CRDS } from './paths.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** v1 has host and port, v2 has both in one. What only one of them knows travels in an annotation. */
function convert(object: Json, apiVersion: string): Json {
  const { spec: from = {}, ...rest } = object;
  const isToV2 = apiVersion.endsWith('/v2');
  const { host, port, address, ...common } = from;
  if (isToV2) return { ...rest, apiVersion, spec: { ...common, address: `${host}:${port}` } };
  const [name, number] = String(address).split(':');
  return { ...rest, apiVersion, spec: { ...common, host: name, port: Number(number) } };
}

const common = {
  color: { type: 'string', default: 'red' },
  replicas: { type: 'integer' },
  secret: { type: 'string' },
};
const status_ = { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } };
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
};

function version(name: string, properties: object, rest: object): Draft {
  return {
    name,
    served: true,
    storage: name === 'v1',
    subresources,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { ...common, ...properties } }, status: status_ },
      },
    },
    ...rest,
  };
}

interface Gadgets {
  readonly group: string;
  readonly ns: string;
  readonly crdPath: string;
  readonly converter: ConverterServer;
  path(apiVersion: string, name?: string, subresource?: string): string;
  everywhere(apiVersion: string): string;
  draft(apiVersion: string, name: string, fields?: object, metadata?: object): Draft;
  create(apiVersion: string, name: string, fields?: object): Promise<Doc>;
}

async function gadgets(t: Context, rest: { reviewVersions?: string[]; spec?: object } = {}): Promise<Gadgets> {
  const converter = await startConverter(convert);
  t.defer(() => converter.stop());
  const group = `${t.unique('v')}.kctl.test`;
  await t.crd({
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: converter.clientConfig, conversionReviewVersions: rest.reviewVersions ?? ['v1'] },
      },
      versions: [
        version(
          'v1',
          { host: { type: 'string' }, port: { type: 'integer' } },
          { selectableFields: [{ jsonPath: '.spec.host' }] },
        ),
        version(
          'v2',
          { address: { type: 'string' }, tier: { type: 'string', default: 'gold' } },
          {
            selectableFields: [{ jsonPath: '.spec.address' }],
            additionalPrinterColumns: [{ name: 'Address', type: 'string', jsonPath: '.spec.address' }],
          },
        ),
      ],
      ...rest.spec,
    },
  });
  const ns = await t.namespace();
  const path: Gadgets['path'] = (apiVersion, name, subresource) =>
    [`/apis/${group}/${apiVersion}/namespaces/${ns}/gadgets`, name, subresource]
      .filter((part) => part !== undefined)
      .join('/');
  const draft: Gadgets['draft'] = (apiVersion, name, fields = {}, metadata = {}) => ({
    apiVersion: `${group}/${apiVersion}`,
    kind: 'Gadget',
    metadata: { name, ...metadata },
    spec: apiVersion === 'v1' ? { host: 'a', port: 1, ...fields } : { address: 'a:1', ...fields },
  });
  return {
    group,
    ns,
    converter,
    crdPath: `${CRDS}/gadgets.${group}`,
    path,
    everywhere: (apiVersion) => `/apis/${group}/${apiVersion}/gadgets`,
    draft,
    create: async (apiVersion, name, fields) =>
      created(await t.post(path(apiVersion), draft(apiVersion, name, fields))),
  };
}

/** What the webhook says from now on instead of converting. */
function fails(g: Gadgets, message: string): void {
  g.converter.behave(() => ({ response: { result: { status: 'Failed', message } } }));
}

/** Answers with what `change` makes of the converted objects. */
function answers(g: Gadgets, change: (object: Json) => Json): void {
  g.converter.behave(({ review }) => ({
    objects: (review.request.objects as Json[]).map((object) =>
      change(convert(structuredClone(object), review.request.desiredAPIVersion as string)),
    ),
  }));
}

function restored(g: Gadgets): void {
  answers(g, (object: Json) => object);
}

spec('64a', 'a conversion webhook converts what is created, read, listed and watched', async (t) => {
  const g = await gadgets(t);
  const one = await g.create('v1', 'one', { host: 'x', port: 80 });
  same(one.spec, { host: 'x', port: 80, color: 'red' }, 'v1, created');
  const two = await g.create('v2', 'two', { address: 'y:90' });
  same(
    [two.apiVersion, two.spec],
    [`${g.group}/v2`, { address: 'y:90', color: 'red', tier: undefined }],
    'v2, created: what v1 does not know is lost in storage',
  );
  const shown = ok(await t.get(g.path('v2', 'one')));
  same([shown.apiVersion, shown.spec], [`${g.group}/v2`, { address: 'x:80', color: 'red' }], 'v1 as v2: no defaults');
  same(ok(await t.get(g.path('v1', 'two'))).spec, { host: 'y', port: 90, color: 'red' }, 'v2 as v1');
  const list = ok(await t.get(g.path('v2')));
  same(
    list.items.map(({ apiVersion, spec: { address } }) => [apiVersion, address]),
    [
      [`${g.group}/v2`, 'x:80'],
      [`${g.group}/v2`, 'y:90'],
    ],
    'list',
  );
  const watch = await t.watch(g.path('v2'), {
    query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true },
  });
  const first = await watch.until((event) => event.type === 'BOOKMARK');
  same(
    first.map(({ type, object }) => [type, object.apiVersion, object.spec?.address]),
    [
      ['ADDED', `${g.group}/v2`, 'x:80'],
      ['ADDED', `${g.group}/v2`, 'y:90'],
      ['BOOKMARK', `${g.group}/v2`, undefined],
    ],
    'initial events',
  );
  await g.create('v1', 'three', { host: 'z', port: 7 });
  ok(await t.patch(g.path('v1', 'three'), MERGE_PATCH, { spec: { port: 8 } }));
  ok(await t.delete(g.path('v1', 'three')));
  const later = await watch.take(3);
  same(
    later.map(({ type, object }) => [type, object.apiVersion, object.spec.address]),
    [
      ['ADDED', `${g.group}/v2`, 'z:7'],
      ['MODIFIED', `${g.group}/v2`, 'z:8'],
      ['DELETED', `${g.group}/v2`, 'z:8'],
    ],
    'events',
  );
});

spec('64b', 'what a conversion webhook is sent', async (t) => {
  const g = await gadgets(t, { reviewVersions: ['v7', 'v1', 'v1beta1'] });
  await g.create('v1', 'one');
  g.converter.calls.length = 0;
  ok(await t.get(g.path('v2', 'one')));
  const call = g.converter.calls.at(-1);
  check(call !== undefined, 'the webhook was not called');
  same(call.path, '/convert?timeout=30s', 'path');
  same(
    [call.headers['content-type'], call.headers['accept']],
    ['application/json', 'application/json, */*'],
    'headers',
  );
  const { kind, apiVersion, request } = call.review;
  same([kind, apiVersion], ['ConversionReview', 'apiextensions.k8s.io/v1'], 'review');
  same([request.desiredAPIVersion, request.objects.length], [`${g.group}/v2`, 1], 'request');
  check(/^[0-9a-f-]{36}$/.test(request.uid as string), `uid ${request.uid as string}`);
  const [object] = request.objects as Json[];
  same(
    [object.apiVersion, object.kind, object.spec, object.metadata.name, object.metadata.resourceVersion],
    [`${g.group}/v1`, 'Gadget', { host: 'a', port: 1, color: 'red' }, 'one', undefined],
    'object',
  );
});

spec(
  '64c',
  'a v1beta1 review is sent where the definition prefers it, and answered without a check of its uid',
  async (t) => {
    const g = await gadgets(t, { reviewVersions: ['v1beta1', 'v1'] });
    await g.create('v1', 'one');
    g.converter.behave(({ review }) => ({
      response: {
        uid: 'another',
        convertedObjects: (review.request.objects as Json[]).map((object) =>
          convert(structuredClone(object), review.request.desiredAPIVersion as string),
        ),
        result: { status: 'Success' },
      },
    }));
    same(ok(await t.get(g.path('v2', 'one'))).spec.address, 'a:1', 'address');
    same(g.converter.calls.at(-1)?.review.apiVersion, 'apiextensions.k8s.io/v1beta1', 'review');
  },
);

spec('64d', 'writes through both versions: update, patches, status and scale', async (t) => {
  const g = await gadgets(t);
  const one = await g.create('v1', 'one', { replicas: 2 });
  const v2 = ok(await t.get(g.path('v2', 'one')));
  const put = ok(await t.put(g.path('v2', 'one'), { ...v2, spec: { ...v2.spec, address: 'b:2' } }));
  same([put.spec.address, put.metadata.generation], ['b:2', 2], 'PUT');
  same(ok(await t.get(g.path('v1', 'one'))).spec.host, 'b', 'PUT as v1');
  const merged = ok(await t.patch(g.path('v2', 'one'), MERGE_PATCH, { spec: { address: 'c:3' } }));
  same([merged.spec.address, merged.metadata.generation], ['c:3', 3], 'merge patch');
  const patched = ok(
    await t.patch(g.path('v2', 'one'), JSON_PATCH, [
      { op: 'test', path: '/spec/address', value: 'c:3' },
      { op: 'replace', path: '/spec/address', value: 'd:4' },
    ]),
  );
  same(patched.spec.address, 'd:4', 'JSON patch');
  const withStatus = ok(
    await t.patch(g.path('v2', 'one', 'status'), MERGE_PATCH, { status: { phase: 'Up', replicas: 2 } }),
  );
  same(
    [withStatus.apiVersion, withStatus.status, withStatus.spec.address],
    [`${g.group}/v2`, { phase: 'Up', replicas: 2 }, 'd:4'],
    'status',
  );
  same(ok(await t.get(g.path('v1', 'one', 'status'))).status.phase, 'Up', 'status as v1');
  const scaled = ok(await t.patch(g.path('v2', 'one', 'scale'), MERGE_PATCH, { spec: { replicas: 5 } }));
  same([scaled.kind, scaled.spec.replicas, scaled.status.replicas], ['Scale', 5, 2], 'scale');
  same(ok(await t.get(g.path('v1', 'one'))).spec.replicas, 5, 'scale as v1');
  const same_ = ok(await t.patch(g.path('v2', 'one'), MERGE_PATCH, { spec: { address: 'd:4' } }));
  same(same_.metadata.resourceVersion, ok(await t.get(g.path('v2', 'one'))).metadata.resourceVersion, 'no change');
  failure(await t.put(g.path('v2', 'one'), { ...v2, spec: { address: 'e:5' } }), { code: 409, reason: 'Conflict' });
  same(one.metadata.uid, same_.metadata.uid, 'uid');
});

spec('64e', 'selectors, Tables and metadata show the version of the request', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one', { host: 'x', port: 80 });
  await g.create('v2', 'two', { address: 'y:90' });
  const query = { fieldSelector: 'spec.address=x:80' };
  same(names(ok(await t.get(g.path('v2'), { query }))), ['one'], 'by address');
  same(names(ok(await t.get(g.path('v1'), { query: { fieldSelector: 'spec.host=y' } }))), ['two'], 'by host');
  failure(await t.get(g.path('v1'), { query }), { code: 400, reason: 'BadRequest' });
  const watch = await t.watch(g.path('v2'), { query });
  same((await watch.next()).object.metadata.name, 'one', 'initial event');
  ok(await t.patch(g.path('v1', 'one'), MERGE_PATCH, { spec: { port: 81 } }));
  const left = await watch.next();
  same([left.type, left.object.spec.address], ['DELETED', 'x:80'], 'leaves the selection');
  ok(await t.patch(g.path('v1', 'two'), MERGE_PATCH, { spec: { host: 'x', port: 80 } }));
  const entered = await watch.next();
  same(
    [entered.type, entered.object.metadata.name, entered.object.apiVersion],
    ['ADDED', 'two', `${g.group}/v2`],
    'enters',
  );
  const table = ok(await t.get(g.path('v2'), { accept: TABLE }));
  same(
    (table['rows'] as Json[]).map(({ cells }) => cells),
    [
      ['one', 'x:81'],
      ['two', 'x:80'],
    ],
    'rows',
  );
  const partial = ok(
    await t.get(g.path('v2', 'one'), { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }),
  );
  same(partial.kind, 'PartialObjectMetadata', 'partial');
});

spec('64f', 'apply through two versions keeps the owners of each', async (t) => {
  const g = await gadgets(t);
  const apply = (apiVersion: string, manager: string, fields: object, force = false) =>
    t.patch(
      g.path(apiVersion, 'one'),
      APPLY_PATCH,
      { ...g.draft(apiVersion, 'one'), spec: fields },
      {
        query: { fieldManager: manager, force },
      },
    );
  created(await apply('v1', 'first', { host: 'a', port: 1 }));
  const second = ok(await apply('v2', 'second', { color: 'blue' }));
  same([second.spec.address, second.spec.color], ['a:1', 'blue'], 'merged');
  const owners = (doc: Doc): Json[] =>
    (doc.metadata.managedFields ?? []).map(({ manager, operation, apiVersion, fieldsV1 }: Json) => [
      manager,
      operation,
      apiVersion,
      Object.keys((fieldsV1['f:spec'] ?? {}) as object).sort(),
    ]);
  same(
    owners(second).sort(),
    [
      ['first', 'Apply', `${g.group}/v1`, ['f:host', 'f:port']],
      ['second', 'Apply', `${g.group}/v2`, ['f:color']],
    ],
    'owners',
  );
  const conflict = failure(await apply('v2', 'second', { color: 'blue', address: 'b:2' }), {
    code: 409,
    reason: 'Conflict',
  });
  same(
    (conflict.details.causes as Json[]).map(({ field, message }) => [field, message] as Json),
    [
      ['.spec.host', 'conflict with "first"'],
      ['.spec.port', 'conflict with "first"'],
    ],
    'causes',
  );
  const forced = ok(await apply('v2', 'second', { color: 'blue', address: 'b:2' }, true));
  same(owners(forced).sort(), [['second', 'Apply', `${g.group}/v2`, ['f:address', 'f:color']]], 'owners after force');
  const updated = ok(
    await t.patch(g.path('v1', 'one'), MERGE_PATCH, { spec: { port: 9 } }, { query: { fieldManager: 'third' } }),
  );
  same(
    owners(updated).sort(),
    [
      ['second', 'Apply', `${g.group}/v2`, ['f:color']],
      ['third', 'Update', `${g.group}/v1`, ['f:port']],
    ],
    'an update through the other version takes what it changes',
  );
});

interface Answered {
  readonly title: string;
  readonly behave: (g: Gadgets) => void;
  readonly message: ((g: Gadgets) => string | RegExp) | RegExp;
}

const forKind = (g: Gadgets): string => `conversion webhook for ${g.group}/v1, Kind=Gadget`;
const changed = (change: (object: Json) => void): ((g: Gadgets) => void) => {
  return (g) =>
    answers(g, (object: Json) => {
      change(object);
      return object;
    });
};

const refusals: readonly Answered[] = [
  {
    title: 'a failure with a message',
    behave: (g) => fails(g, 'no can do'),
    message: (g) => `${forKind(g)} failed: no can do`,
  },
  {
    title: 'a failure without one',
    behave: (g) => g.converter.behave(() => ({ response: { result: { status: 'Failed' } } })),
    message: (g) => `${forKind(g)} failed: response.result.status was 'Failed', not 'Success'`,
  },
  {
    title: 'no response',
    behave: (g) =>
      g.converter.behave(() => ({
        status: 200,
        raw: JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
      })),
    message: (g) => `${forKind(g)} failed: no response provided`,
  },
  {
    title: 'no apiVersion and kind',
    behave: (g) => g.converter.behave(() => ({ status: 200, raw: '{}' })),
    message: (g) =>
      `${forKind(g)} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`,
  },
  {
    title: 'another uid',
    behave: (g) => g.converter.behave(() => ({ response: { uid: 'x', result: { status: 'Success' } } })),
    message: () => /failed: expected response\.uid="[0-9a-f-]{36}", got "x"$/,
  },
  {
    title: 'too few objects',
    behave: (g) => g.converter.behave(() => ({ objects: [] })),
    message: (g) => `${forKind(g)} returned 0 objects, expected 1`,
  },
  {
    title: 'too many objects',
    behave: (g) => g.converter.behave(({ review }) => ({ objects: [...review.request.objects, {}] })),
    message: (g) => `${forKind(g)} returned 2 objects, expected 1`,
  },
  {
    title: 'the version that was sent',
    behave: (g) => g.converter.behave(({ review }) => ({ objects: review.request.objects as Json[] })),
    message: (g) =>
      `${forKind(g)} returned invalid object at index 0: invalid groupVersion (expected ${g.group}/v2, received ${g.group}/v1)`,
  },
  {
    title: 'another kind',
    behave: changed((object: Json) => (object.kind = 'Other')),
    message: (g) => `${forKind(g)} returned invalid object at index 0: invalid kind (expected Gadget, received Other)`,
  },
  {
    title: 'no kind',
    behave: changed((object: Json) => {
      delete object.kind;
      delete object.spec;
      delete object.metadata;
    }),
    message: (g) => `Object 'Kind' is missing in '{"apiVersion":"${g.group}/v2"}'`,
  },
  {
    title: 'another name',
    behave: changed((object: Json) => (object.metadata.name = 'other')),
    message: (g) => `${forKind(g)} returned invalid object: must have the same name: one != other`,
  },
  {
    title: 'another namespace',
    behave: changed((object: Json) => (object.metadata.namespace = 'other')),
    message: (g) => `${forKind(g)} returned invalid object: must have the same namespace: ${g.ns} != other`,
  },
  {
    title: 'another uid of the object',
    behave: changed((object: Json) => (object.metadata.uid = 'other')),
    message: (g) =>
      new RegExp(`^${forKind(g)} returned invalid object: must have the same UID: [0-9a-f-]{36} != other$`),
  },
  {
    title: 'labels of another type',
    behave: changed((object: Json) => (object.metadata.labels = 'x')),
    message: (g) =>
      `${forKind(g)} returned invalid metadata: invalid metadata.labels of type string in converted object`,
  },
  {
    title: 'a label that is a number',
    behave: changed((object: Json) => (object.metadata.labels = { x: 1 })),
    message: (g) =>
      `${forKind(g)} returned invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object`,
  },
  {
    title: 'an invalid label',
    behave: changed((object: Json) => (object.metadata.labels = { x: 'a b' })),
    message: /returned invalid metadata: metadata\.labels: Invalid value: "a b": a valid label must be/,
  },
  {
    title: 'an invalid annotation',
    behave: changed((object: Json) => (object.metadata.annotations = { 'a b': '' })),
    message: /returned invalid metadata: metadata\.annotation: Invalid value: "a b": name part must consist of/,
  },
  {
    title: 'an error of the server',
    behave: (g) => g.converter.behave(() => ({ status: 500, raw: 'boom', contentType: 'text/plain' })),
    message: (g) => `${forKind(g)} failed: an error on the server ("boom") has prevented the request from succeeding`,
  },
  {
    title: 'a 404',
    behave: (g) => g.converter.behave(() => ({ status: 404, raw: 'what?', contentType: 'text/plain' })),
    message: (g) => `${forKind(g)} failed: the server could not find the requested resource`,
  },
  {
    title: 'no JSON',
    behave: (g) => g.converter.behave(() => ({ status: 200, raw: '{x' })),
    message: (g) =>
      `${forKind(g)} failed: couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of object key string`,
  },
  {
    title: 'nothing',
    behave: (g) => g.converter.behave(() => ({ status: 200, raw: '' })),
    message: (g) => `${forKind(g)} failed: 0-length response with status code: 200 and content type: application/json`,
  },
];

spec('64g', 'what a conversion webhook may not answer', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one');
  const problems: string[] = [];
  for (const { title, behave, message } of refusals) {
    behave(g);
    try {
      const expected = message instanceof RegExp ? message : message(g);
      failure(await t.get(g.path('v2', 'one')), { code: 500, reason: undefined, message: expected });
    } catch (error) {
      problems.push(`${title}: ${(error as Error).message}`);
    }
  }
  same(problems, [], 'problems');
});

spec('64h', 'metadata that a converter changes: labels and annotations count, the rest is put back', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one');
  answers(g, (object: Json) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { by: 'converter' },
      annotations: { note: 'x' },
      finalizers: ['x.io/y'],
      generation: 77,
      creationTimestamp: '2001-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }],
    },
  }));
  const { metadata } = ok(await t.get(g.path('v2', 'one')));
  same(
    [metadata.labels, metadata.annotations, metadata.finalizers, metadata.generation, metadata.ownerReferences],
    [{ by: 'converter' }, { note: 'x' }, undefined, 1, undefined],
    'metadata',
  );
  check(!metadata.creationTimestamp.startsWith('2001'), metadata.creationTimestamp);
});

spec('64i', 'a converted object is pruned, and gets no defaults of the version that it is converted to', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one');
  answers(g, (object: Json) => ({ ...object, extra: 1, spec: { ...object.spec, unknown: 1, secret: null } }));
  const shown = ok(await t.get(g.path('v2', 'one')));
  same([shown['extra'], shown.spec], [undefined, { address: 'a:1', color: 'red' }], 'read');
  const put = ok(await t.patch(g.path('v2', 'one'), MERGE_PATCH, { spec: { address: 'b:2' } }));
  same(put.spec, { address: 'b:2', color: 'red' }, 'written: the default of v2 is not in v1, where it is stored');
  restored(g);
  same(ok(await t.get(g.path('v1', 'one'))).spec, { host: 'b', port: 2, color: 'red' }, 'stored');
});

spec(
  '64j',
  'a failing conversion webhook stops reads, writes and deletes in other than the storage version',
  async (t) => {
    const g = await gadgets(t);
    const one = await g.create('v1', 'one');
    fails(g, 'down');
    const down = { code: 500, reason: undefined, message: `${forKind(g)} failed: down` } as const;
    failure(await t.get(g.path('v2', 'one')), down);
    failure(await t.patch(g.path('v2', 'one'), MERGE_PATCH, { spec: { address: 'b:2' } }), {
      code: 500,
      reason: undefined,
      message: /^conversion webhook for .*, Kind=Gadget failed: down$/,
    });
    failure(await t.put(g.path('v2', 'one'), { ...g.draft('v2', 'one'), metadata: one.metadata }), {
      code: 500,
      reason: undefined,
      message: /^conversion webhook for .*, Kind=Gadget failed: down$/,
    });
    failure(await t.post(g.path('v2'), g.draft('v2', 'two')), {
      code: 500,
      reason: undefined,
      message: `conversion webhook for ${g.group}/v2, Kind=Gadget failed: down`,
    });
    failure(await t.delete(g.path('v2', 'one')), down);
    failure(await t.delete(g.path('v2')), down);
    failure(await t.get(g.path('v2', 'one', 'scale')), down);
    same(ok(await t.get(g.path('v1', 'one'))).metadata.resourceVersion, one.metadata.resourceVersion, 'unchanged');
    same(names(ok(await t.get(g.path('v1')))), ['one'], 'the storage version lists');
    ok(await t.patch(g.path('v1', 'one'), MERGE_PATCH, { spec: { port: 2 } }));
    ok(await t.delete(g.path('v1', 'one')));
    status(await t.get(g.path('v1', 'one')), 404);
  },
);

spec('64k', 'a watch waits for a conversion webhook that fails for a moment, and misses nothing', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one');
  const watch = await t.watch(g.path('v2'));
  same((await watch.next()).object.metadata.name, 'one', 'initial event');
  const other = await t.watch(g.path('v1'));
  same((await other.next()).object.metadata.name, 'one', 'initial event of v1');
  fails(g, 'down');
  await g.create('v1', 'two');
  same((await other.next()).object.metadata.name, 'two', 'the storage version goes on');
  failure(await t.get(g.path('v2', 'two')), { code: 500, reason: undefined, message: `${forKind(g)} failed: down` });
  restored(g);
  await g.create('v1', 'three');
  const seen = (await watch.take(2)).map(({ type, object }) => [type, object.metadata.name, object.spec.address]);
  same(
    seen,
    [
      ['ADDED', 'two', 'a:1'],
      ['ADDED', 'three', 'a:1'],
    ],
    'after the webhook is back',
  );
});

spec('64l', 'a conversion webhook that cannot be reached, or is not trusted', async (t) => {
  const g = await gadgets(t);
  await g.create('v1', 'one');
  const change = async (clientConfig: object): Promise<void> => {
    ok(
      await t.patch(g.crdPath, MERGE_PATCH, {
        spec: { conversion: { webhook: { clientConfig: { ...g.converter.clientConfig, ...clientConfig } } } },
      }),
    );
  };
  const { url } = g.converter.clientConfig;
  const other = await startConverter(convert, 'another-authority');
  t.defer(() => other.stop());
  await change({ caBundle: other.clientConfig.caBundle });
  const answer = await t.eventually(
    () => t.get(g.path('v2', 'one')),
    ({ status: code }) => code === 500,
    { what: 'the other CA' },
  );
  failure(answer, {
    code: 500,
    reason: undefined,
    message: `${forKind(g)} failed: Post "${url}?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  });
  await g.converter.stop();
  await change({});
  const refusedCall = await t.eventually(
    () => t.get(g.path('v2', 'one')),
    ({ text }) => text.includes('refused'),
    { what: 'a refused connection' },
  );
  failure(refusedCall, {
    code: 500,
    reason: undefined,
    message: `${forKind(g)} failed: Post "${url}?timeout=30s": dial tcp ${new URL(url).host}: connect: connection refused`,
  });
});

spec(
  '64m',
  'the storage version changes: objects are read from where they are, and move when they are written',
  async (t) => {
    const g = await gadgets(t);
    await g.create('v1', 'old', { host: 'x', port: 80 });
    const crd = ok(await t.get(g.crdPath));
    for (const each of crd.spec.versions as Json[]) each.storage = each.name === 'v2';
    const changedCrd = ok(await t.put(g.crdPath, crd));
    same(changedCrd.status.storedVersions, ['v1', 'v2'], 'storedVersions');
    await t.eventually(
      async () => {
        g.converter.calls.length = 0;
        ok(await t.get(g.path('v2', 'old')));
        return g.converter.calls.length;
      },
      (calls) => calls > 0,
      { what: 'the new storage version' },
    );
    same(ok(await t.get(g.path('v1', 'old'))).spec.host, 'x', 'v1');
    same(ok(await t.get(g.path('v2', 'old'))).spec.address, 'x:80', 'v2');
    const fresh = await g.create('v2', 'fresh', { address: 'y:90' });
    same(fresh.spec.tier, 'gold', 'stored as v2, which knows the tier');
    const before = ok(await t.get(g.path('v2', 'old')));
    const moved = ok(await t.put(g.path('v2', 'old'), before));
    check(
      moved.metadata.resourceVersion !== before.metadata.resourceVersion,
      'an update without a change moves the object',
    );
    const again = ok(await t.put(g.path('v2', 'old'), moved));
    same(again.metadata.resourceVersion, moved.metadata.resourceVersion, 'once');
    failure(await t.patch(g.crdPath, JSON_PATCH, [{ op: 'remove', path: '/spec/versions/0' }]), {
      code: 422,
      reason: 'Invalid',
    });
    const list = ok(await t.get(g.path('v1')));
    same(
      list.items.map(({ apiVersion, spec: { host } }) => [apiVersion, host]),
      [
        [`${g.group}/v1`, 'y'],
        [`${g.group}/v1`, 'x'],
      ],
      'list',
    );
  },
);

spec('64n', 'dry runs are converted, and not stored', async (t) => {
  const g = await gadgets(t);
  const query = { dryRun: 'All' };
  const dry = created(await t.post(g.path('v2'), g.draft('v2', 'one'), { query }));
  same([dry.apiVersion, dry.spec], [`${g.group}/v2`, { address: 'a:1', color: 'red' }], 'through storage and back');
  status(await t.get(g.path('v2', 'one')), 404);
  await g.create('v2', 'one');
  const put = ok(await t.patch(g.path('v2', 'one'), MERGE_PATCH, { spec: { address: 'b:2' } }, { query }));
  same(put.spec.address, 'b:2', 'patch');
  same(ok(await t.get(g.path('v2', 'one'))).spec.address, 'a:1', 'unchanged');
  ok(await t.delete(g.path('v2', 'one'), undefined, { query }));
  ok(await t.get(g.path('v2', 'one')));
});

spec('64o', 'lists in pages and deletecollection in another version', async (t) => {
  const g = await gadgets(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await g.create('v1', name, { host: name });
  const page = ok(await t.get(g.path('v2'), { query: { limit: 2 } }));
  same(
    page.items.map(({ spec: { address } }) => address as string),
    ['a:1', 'b:1'],
    'first page',
  );
  const rest = ok(await t.get(g.path('v2'), { query: { limit: 9, continue: page.metadata.continue } }));
  same(
    rest.items.map(({ spec: { address } }) => address as string),
    ['c:1', 'd:1', 'e:1'],
    'second page',
  );
  const gone = ok(await t.delete(g.path('v2'), undefined, { query: { fieldSelector: 'spec.address=c:1' } }));
  same(
    gone.items.map(({ apiVersion }) => apiVersion),
    [`${g.group}/v2`],
    'deleted',
  );
  same(names(ok(await t.get(g.path('v1')))), ['a', 'b', 'd', 'e'], 'left');
});

spec('64p', 'objects of the storage version are neither sent nor held up', async (t) => {
  const g = await gadgets(t);
  fails(g, 'down');
  const one = await g.create('v1', 'one');
  same(ok(await t.put(g.path('v1', 'one'), { ...one, spec: { ...one.spec, port: 5 } })).spec.port, 5, 'PUT');
  const watch = await t.watch(g.path('v1'));
  same((await watch.next()).object.spec.port, 5, 'watch');
});

spec('64q', 'conversion None changes the apiVersion and prunes by both schemas', async (t) => {
  const g = await gadgets(t, { spec: { conversion: { strategy: 'None' } } });
  const one = await g.create('v2', 'one', { tier: 'silver', color: 'blue' });
  same([one.apiVersion, one.spec], [`${g.group}/v2`, { color: 'blue' }], 'v2: the storage version knows color only');
  same([ok(await t.get(g.path('v1', 'one'))).apiVersion, g.converter.calls.length], [`${g.group}/v1`, 0], 'v1');
});

spec('64r', 'what a conversion stanza must say', async (t) => {
  const g = `${t.unique('v')}.kctl.test`;
  const draft = (conversion: object): Draft => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${g}` },
    spec: {
      group: g,
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      conversion,
      versions: [version('v1', {}, {})],
    },
  });
  const webhook = (clientConfig: object, conversionReviewVersions: readonly string[] = ['v1']): Draft =>
    draft({ strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } });
  const causes = async (body: Draft): Promise<Json[]> => {
    const answer = await t.post(CRDS, body);
    if (answer.status === 201) await t.delete(`${CRDS}/gadgets.${g}`);
    return ((answer.body.details?.causes ?? []) as Json[]).map(({ field, message }) => `${field}: ${message}`);
  };
  const url = 'https://127.0.0.1:1/convert';
  const service = { namespace: 'a', name: 'b' };
  const found = [
    await causes(webhook({ url: 'http://127.0.0.1:1/convert' })),
    await causes(webhook({ url: 'https://u:p@h/c?x=1#f' })),
    await causes(webhook({ url: 'https:///x' })),
    await causes(webhook({})),
    await causes(webhook({ url, service })),
    await causes(webhook({ service: { ...service, path: 'x' } })),
    await causes(webhook({ service: { ...service, path: '/a//b', port: 70_000 } })),
    await causes(webhook({ service: { name: '', namespace: '' } })),
    await causes(webhook({ url }, ['v1', 'v1'])),
    await causes(webhook({ url }, ['v7'])),
    await causes(webhook({ url }, ['V1', 'v1'])),
    await causes(draft({ strategy: 'None', webhook: { clientConfig: { url }, conversionReviewVersions: ['v1'] } })),
  ];
  const at = 'spec.conversion.webhookClientConfig';
  const form = '; desired format: https://host[/path]';
  same(
    found,
    [
      [`${at}.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`],
      [
        `${at}.url: Invalid value: "u:p": user information is not permitted in the URL`,
        `${at}.url: Invalid value: "f": fragments are not permitted in the URL`,
        `${at}.url: Invalid value: "x=1": query parameters are not permitted in the URL`,
      ],
      [`${at}.url: Invalid value: "": host must be specified${form}`],
      [`${at}: Required value: exactly one of url or service is required`],
      [`${at}: Required value: exactly one of url or service is required`],
      [
        `${at}.service.path: Invalid value: "x": must start with a '/'`,
        `${at}.service.path: Invalid value: "x": segment[0] may not be empty`,
      ],
      [
        `${at}.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
        `${at}.service.path: Invalid value: "/a//b": segment[1] may not be empty`,
      ],
      [`${at}.service.name: Required value`, `${at}.service.namespace: Required value`],
      ['spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version'],
      ['spec.conversion.conversionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1'],
      [
        "spec.conversion.conversionReviewVersions[0]: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
      [
        'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
        'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
      ],
    ],
    'causes',
  );
});

spec('64s', 'certificates that cannot be read: a definition that begins with them is not established', async (t) => {
  const caBundle = Buffer.from('no pem').toString('base64');
  const g = await gadgets(t);
  const change = (clientConfig: object): ReturnType<Context['patch']> =>
    t.patch(g.crdPath, MERGE_PATCH, { spec: { conversion: { webhook: { clientConfig } } } });
  failure(await change({ caBundle }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.conversion.webhookClientConfig.caBundle',
        message: /unable to load root certificates: unable to parse bytes as PEM block$/,
      },
    ],
  });
  const { metadata: _metadata, status: _status, ...crd } = ok(await t.get(g.crdPath));
  const group = `${t.unique('v')}.kctl.test`;
  const name = `gadgets.${group}`;
  const draft = structuredClone(crd) as Draft & { spec: Json };
  draft.spec.group = group;
  draft.spec.conversion.webhook.clientConfig.caBundle = caBundle;
  t.defer(() => t.delete(`${CRDS}/${name}`));
  created(await t.post(CRDS, { ...draft, metadata: { name } }));
  const established = (doc: Doc): Json =>
    ((doc.status?.conditions ?? []) as Json[]).find(({ type }) => type === 'Established');
  const broken = await t.eventually(
    async () => ok(await t.get(`${CRDS}/${name}`)),
    (doc) => established(doc)?.reason === 'InvalidCABundle',
    { what: 'the condition' },
  );
  same(
    [established(broken).status, established(broken).message],
    ['False', 'The conversion webhook CABundle is invalid'],
    'Established',
  );
  ok(
    await t.patch(`${CRDS}/${name}`, MERGE_PATCH, {
      spec: { conversion: { webhook: { clientConfig: { caBundle: g.converter.clientConfig.caBundle } } } },
    }),
  );
  await t.eventually(
    async () => ok(await t.get(`${CRDS}/${name}`)),
    (doc) => established(doc)?.status === 'True',
    { what: 'being established' },
  );
});

spec(
  '64t',
  'owners of another version whose conversion fails: a write drops them all, an apply is refused',
  async (t) => {
    const g = await gadgets(t);
    await g.create('v2', 'one');
    await g.create('v2', 'two');
    fails(g, 'down');
    const patched = ok(await t.patch(g.path('v1', 'one'), MERGE_PATCH, { spec: { port: 2 } }));
    same(patched.metadata.managedFields, undefined, 'owners');
    failure(
      await t.patch(
        g.path('v1', 'two'),
        APPLY_PATCH,
        { ...g.draft('v1', 'two'), spec: { color: 'blue' } },
        { query: { fieldManager: 'm' } },
      ),
      { code: 500, reason: undefined, message: `${forKind(g)} failed: down` },
    );
  },
);

spec('64', 'a write of the status leaves the owners of the rest alone, in every version', async (t) => {
  const g = await gadgets(t);
  // What only v2 knows is no field of v1: an object with it would have no owners at all.
  answers(g, ({ spec: { tier: _tier, ...rest }, ...object }: Json) => ({ ...object, spec: rest }));
  const query = { fieldManager: 'first' };
  created(await t.patch(g.path('v1', 'one'), APPLY_PATCH, g.draft('v1', 'one'), { query }));
  const label = { metadata: { labels: { l: 'a' } } };
  ok(await t.patch(g.path('v2', 'one'), MERGE_PATCH, label, { query: { fieldManager: 'second' } }));
  const { labels: _, ...metadata } = ok(await t.get(g.path('v1', 'one'))).metadata;
  const body = { ...g.draft('v1', 'one'), metadata, status: { phase: 'x' } };
  const { metadata: after } = ok(await t.put(g.path('v1', 'one', 'status'), body));
  same(after.labels, { l: 'a' }, 'labels');
  const owner = (after.managedFields ?? []).find(({ manager }: Json) => manager === 'second');
  same(owner?.fieldsV1['f:metadata'], { 'f:labels': { '.': {}, 'f:l': {} } }, 'fields of the manager of v2');
});

spec('64', 'a deletion that leaves the object there stores it as its version has it', async (t) => {
  const g = await gadgets(t);
  const held = { metadata: { finalizers: ['kctl.test/f'] } };
  // Of this address v2 shows more than it takes back.
  await g.create('v1', 'one', { host: 'a:1', port: 2 });
  ok(await t.patch(g.path('v1', 'one'), MERGE_PATCH, held));
  t.defer(() => t.patch(g.path('v1', 'one'), MERGE_PATCH, { metadata: { finalizers: null } }));
  const stored = async (): Promise<Json> => ok(await t.get(g.path('v1', 'one')));
  const before = (await stored()).metadata.resourceVersion;
  const tried = ok(await t.delete(g.path('v2', 'one'), { dryRun: ['All'] }));
  same(tried.spec.address, 'a:1', 'dry run');
  same((await stored()).metadata.resourceVersion, before, 'after the dry run');
  const shown = ok(await t.delete(g.path('v2', 'one')));
  same([shown.apiVersion, shown.spec.address], [`${g.group}/v2`, 'a:1'], 'the answer');
  const marked = await stored();
  same([marked.spec.host, marked.spec.port], ['a', 1], 'after the deletion through v2');
  // The same again changes nothing; a new value is lost with the next one.
  ok(await t.delete(g.path('v2', 'one')));
  same((await stored()).metadata.resourceVersion, marked.metadata.resourceVersion, 'after the second');
  ok(await t.patch(g.path('v1', 'one'), MERGE_PATCH, { spec: { host: 'b:3', port: 4 } }));
  ok(await t.delete(g.path('v1', 'one')));
  same((await stored()).spec.host, 'b:3', 'after a deletion through v1');
  ok(await t.send('DELETE', g.path('v2')));
  same((await stored()).spec.host, 'b', 'after the deletion of all through v2');
});
