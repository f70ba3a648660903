/** Statement 64: versions that were removed, whose types differ, or whose conversion fails, and what has owners in them. */
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, type Context } from '../harness/context.js';
import { startConverter, type Behaviour, type ConverterServer } from '../harness/converter.js';
import type { Draft, Json } from '../harness/doc.js';
import { created, failure, ok, same } from '../harness/expect.js';
import type { Answer } from '../harness/http.js';
import { spec } from '../harness/spec.js';
import { CRDS } from './paths.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const text = { type: 'string' };

interface Kind {
  readonly group: string;
  readonly converter: ConverterServer;
  readonly crdPath: string;
  path(version: string, name?: string, subresource?: string): string;
  draft(version: string, name: string, fields: object | undefined): Draft;
  /** `of` is a version and a name. */
  apply(of: string, manager: string, fields: object | undefined, query?: object): Promise<Answer>;
}

interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly fields?: object;
}

function version({ name, storage = false, fields = {} }: Version): object {
  return {
    name,
    served: true,
    storage,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { a: text, b: text, c: text, ...fields } },
          status: { type: 'object', properties: { phase: text } },
        },
      },
    },
  };
}

const convert = (object: Json, apiVersion: string): Json => ({ ...object, apiVersion });
const usual: Behaviour = ({ review: { request } }) => ({
  objects: (request.objects as Json[]).map((object) => convert(object, request.desiredAPIVersion as string)),
});

async function kindOf(t: Context, strategy: 'None' | 'Webhook', versions: readonly Version[]): Promise<Kind> {
  const converter = await startConverter(convert);
  t.defer(() => converter.stop());
  const group = `${t.unique('w')}.kctl.test`;
  const webhook = { clientConfig: converter.clientConfig, conversionReviewVersions: ['v1'] };
  await t.crd({
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      conversion: { strategy, ...(strategy === 'Webhook' && { webhook }) },
      versions: versions.map(version),
    },
  });
  const ns = await t.namespace();
  const path: Kind['path'] = (name, ...rest) =>
    [`/apis/${group}/${name}/namespaces/${ns}/gears`, ...rest].filter((part) => part !== undefined).join('/');
  const draft: Kind['draft'] = (apiVersion, name, fields) => ({
    apiVersion: `${group}/${apiVersion}`,
    kind: 'Gear',
    metadata: { name },
    ...(fields !== undefined && { spec: fields }),
  });
  return {
    group,
    converter,
    crdPath: `${CRDS}/gears.${group}`,
    path,
    draft,
    apply: (of, fieldManager, fields, query = {}) => {
      const [apiVersion = '', name = ''] = of.split('/');
      const options = { query: { fieldManager, ...query } };
      return t.patch(path(apiVersion, name), APPLY_PATCH, draft(apiVersion, name, fields), options);
    },
  };
}

async function serve(t: Context, { crdPath }: Kind, versions: readonly Version[]): Promise<void> {
  ok(await t.patch(crdPath, MERGE_PATCH, { spec: { versions: versions.map(version) } }));
}

const owners = ({ body }: Answer): Json => (body.metadata.managedFields ?? []).map(({ manager }: Json) => manager);

/** Lists that are read from a cache that was never filled, and watches. */
async function refusedLists(t: Context, { group, path }: Kind, why: string): Promise<void> {
  const refusal = {
    code: 429,
    reason: 'TooManyRequests',
    message: `storage is (re)initializing: failed to list ${group}/v2, Kind=Gear: ${why}`,
  };
  // Until a first attempt has failed, the reason is missing.
  await t.eventually(
    () => t.get(path('v2')),
    ({ body }) => body.message === refusal.message,
  );
  failure(await t.get(path('v2')), refusal);
  failure(await t.get(path('v2'), { query: { resourceVersion: 0 } }), refusal);
  failure(await t.get(path('v2'), { query: { labelSelector: 'a=b', limit: 1 } }), refusal);
  failure(await t.get(path('v2'), { query: { fieldSelector: 'metadata.name=nope' } }), refusal);
  failure(await t.get(path('v2'), { accept: TABLE }), refusal);
  failure(await t.get(`/apis/${group}/v2/namespaces/default/gears`), refusal);
  failure(await t.send('GET', path('v2'), { query: { watch: 1 } }), refusal);
  failure(
    await t.send('GET', path('v2'), {
      query: { watch: 1, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true },
    }),
    refusal,
  );
  failure(await t.get(path('v2'), { query: { limit: 1 } }), { code: 500, reason: undefined, message: why });
  failure(await t.delete(path('v2')), { code: 500, reason: undefined, message: why });
}

for (const strategy of ['None', 'Webhook'] as const) {
  spec(
    64,
    `an object of a version that was removed cannot be read, written nor deleted (conversion ${strategy})`,
    async (t) => {
      const k = await kindOf(t, strategy, [{ name: 'v1', storage: true }, { name: 'v2' }]);
      created(await t.post(k.path('v1'), k.draft('v1', 'one', { a: '1' })));
      await serve(t, k, [{ name: 'v1' }, { name: 'v2', storage: true }]);
      ok(await t.patch(`${k.crdPath}/status`, MERGE_PATCH, { status: { storedVersions: ['v2'] } }));
      await serve(t, k, [{ name: 'v2', storage: true }]);
      t.defer(() => serve(t, k, [{ name: 'v1' }, { name: 'v2', storage: true }]));
      const message = `request to convert CR from an invalid group/version: ${k.group}/v1`;
      const refusal = { code: 500, reason: undefined, message };
      await t.eventually(
        () => t.get(k.path('v2', 'one')),
        ({ status }) => status === 500,
      );
      const one = k.path('v2', 'one');
      failure(await t.get(one), refusal);
      failure(await t.get(`${one}/status`), refusal);
      failure(await t.put(one, k.draft('v2', 'one', { a: '2' })), refusal);
      failure(await t.patch(one, MERGE_PATCH, { spec: { b: '2' } }), refusal);
      failure(await t.patch(one, JSON_PATCH, [{ op: 'add', path: '/spec/b', value: '2' }]), refusal);
      failure(await t.patch(`${one}/status`, MERGE_PATCH, { status: { phase: 'x' } }), refusal);
      failure(await k.apply('v2/one', 'm', { b: '2' }), refusal);
      failure(await k.apply('v2/one', 'm', { b: '2' }, { force: true, dryRun: 'All' }), refusal);
      failure(await t.delete(one, undefined, { query: { dryRun: 'All' } }), refusal);
      failure(await t.delete(one), refusal);
      created(await t.post(k.path('v2'), k.draft('v2', 'two', { a: '1' })));
      await refusedLists(t, k, message);
      await serve(t, k, [{ name: 'v1' }, { name: 'v2', storage: true }]);
      const back = await t.eventually(
        () => t.get(k.path('v2')),
        ({ status }) => status === 200,
      );
      same(
        back.body.items.map(({ metadata }) => metadata.name),
        ['one', 'two'],
        'once the version is back',
      );
    },
  );

  spec(
    64,
    `owners of a version that was removed stop an apply, and are forgotten by other writes (conversion ${strategy})`,
    async (t) => {
      const k = await kindOf(t, strategy, [{ name: 'v1' }, { name: 'v2', storage: true }]);
      for (const name of ['one', 'two', 'three', 'four', 'five'])
        created(await k.apply(`v1/${name}`, 'first', { a: '1', b: '1' }));
      await serve(t, k, [{ name: 'v2', storage: true }]);
      const refusal = {
        code: 500,
        reason: undefined,
        message: `request to convert CR to an invalid group/version: ${k.group}/v1`,
      };
      await t.eventually(
        () => k.apply('v2/one', 'second', { c: '2' }, { dryRun: 'All' }),
        ({ status }) => status === 500,
      );
      failure(await k.apply('v2/one', 'second', { c: '2' }), refusal);
      failure(await k.apply('v2/one', 'first', { a: '1' }), refusal);
      failure(await k.apply('v2/one', 'second', { a: '2' }, { force: true }), refusal);
      same(owners(await t.get(k.path('v2', 'one'))), ['first'], 'after refused applies');
      same(owners(await t.patch(k.path('v2', 'two'), MERGE_PATCH, { spec: { c: '2' } })), [], 'merge patch');
      const three = ok(await t.get(k.path('v2', 'three')));
      same(owners(await t.put(k.path('v2', 'three'), { ...three, spec: { a: '2' } })), [], 'PUT');
      const status = { status: { phase: 'x' } };
      same(owners(await t.patch(k.path('v2', 'four', 'status'), MERGE_PATCH, status)), [], 'status');
      const again = await k.apply('v2/two', 'second', { c: '2' });
      same(owners(again), ['second', 'before-first-apply'], 'an apply after that');
      const { managedFields } = ok(await t.get(k.path('v2', 'five'))).metadata;
      const given = { ...k.draft('v2', 'six', { a: '1' }), metadata: { name: 'six', managedFields } };
      same(owners(await t.post(k.path('v2'), given)), [], 'create');
    },
  );
}

interface Difference {
  readonly name: string;
  readonly before: object;
  readonly after: object;
  readonly value: unknown;
  /** The error of the value by the type after. */
  readonly error: string;
}

const differences: readonly Difference[] = [
  {
    name: 'a string that became a number',
    before: text,
    after: { type: 'integer' },
    value: 's',
    error: '.spec.f: expected numeric (int or float), got string',
  },
  {
    name: 'a number that became a string',
    before: { type: 'integer' },
    after: text,
    value: 5,
    error: '.spec.f: expected string, got &value.valueUnstructured{Value:5}',
  },
  {
    name: 'a string that became an object',
    before: text,
    after: { type: 'object', properties: { x: text } },
    value: 's',
    error: '.spec.f: expected map, got &{s}',
  },
];

spec(64, 'a type that differs between versions: an apply is refused, other writes forget the owners', async (t) => {
  for (const { name: what, before, after, value, error } of differences) {
    const k = await kindOf(t, 'None', [
      { name: 'v1', storage: true, fields: { f: before } },
      { name: 'v2', fields: { f: after } },
    ]);
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      created(await k.apply(`v1/${name}`, 'first', { f: value, b: '1' }));
    const { namespace } = ok(await t.get(k.path('v1', 'one'))).metadata;
    const refusal = (name: string, beginning = 'failed to create typed live object', end = '') => ({
      code: 500,
      reason: undefined,
      message: `${beginning} (${namespace}/${name}; ${k.group}/v2, Kind=Gear)${end}: ${error}`,
    });
    failure(await k.apply('v2/one', 'second', { b: '1' }), refusal('one'));
    failure(await k.apply('v2/one', 'first', { b: '1' }), refusal('one'));
    failure(await k.apply('v2/one', 'second', { b: '2' }, { force: true }), refusal('one'));
    same(owners(await t.get(k.path('v1', 'one'))), ['first'], `${what}: after refused applies`);
    const merged = await t.patch(k.path('v2', 'two'), MERGE_PATCH, { spec: { b: '2' } });
    same([merged.status, owners(merged)], [200, []], `${what}: merge patch`);
    same(owners(await t.patch(k.path('v2', 'three'), MERGE_PATCH, { spec: { f: null } })), [], `${what}: taken off`);
    const four = ok(await t.get(k.path('v2', 'four')));
    same(owners(await t.put(k.path('v2', 'four'), { ...four, spec: { b: '2' } })), [], `${what}: PUT`);
    const status = { status: { phase: 'x' } };
    same(owners(await t.patch(k.path('v2', 'five', 'status'), MERGE_PATCH, status)), [], `${what}: status`);
    failure(
      await k.apply('v2/two', 'second', { b: '2' }),
      refusal('two', 'failed to create manager for existing fields: failed to convert new object', ' to smd typed'),
    );
    ok(await k.apply('v1/two', 'second', { b: '2' }));
    ok(await k.apply('v2/three', 'second', { c: '2' }));
  }
});

const answered = (object: (sent: Json, apiVersion: string) => Json): Behaviour => {
  return ({ review: { request } }) => ({
    objects: (request.objects as Json[]).map((sent) => object(sent, request.desiredAPIVersion as string)),
  });
};

const failures: readonly { readonly title: string; readonly fail: Behaviour; readonly message: string }[] = [
  {
    title: 'a failure',
    fail: () => ({ response: { result: { status: 'Failed', message: 'down' } } }),
    message: 'failed: down',
  },
  {
    title: 'an error of the server',
    fail: () => ({ status: 500, raw: 'boom', contentType: 'text/plain' }),
    message: 'failed: an error on the server ("boom") has prevented the request from succeeding',
  },
  { title: 'no objects', fail: () => ({ objects: [] }), message: 'returned 0 objects, expected 1' },
  {
    title: 'one object more',
    fail: ({ review }) => ({ objects: [...(review.request.objects as Json[]), {}] }),
    message: 'returned 2 objects, expected 1',
  },
  {
    title: 'another name',
    fail: answered((sent, apiVersion) => ({
      ...convert(sent, apiVersion),
      metadata: { ...sent.metadata, name: 'other' },
    })),
    message: 'returned invalid object: must have the same name: one != other',
  },
  {
    title: 'labels of another type',
    fail: answered((sent, apiVersion) => ({
      ...convert(sent, apiVersion),
      metadata: { ...sent.metadata, labels: 'x' },
    })),
    message: 'returned invalid metadata: invalid metadata.labels of type string in converted object',
  },
  {
    title: 'no metadata',
    fail: answered(({ metadata: _, ...sent }, apiVersion) => convert(sent, apiVersion)),
    message: 'returned invalid object: must have the same name: one != ',
  },
];

spec(64, 'a conversion webhook that fails on a pruned object stops the apply', async (t) => {
  const k = await kindOf(t, 'Webhook', [{ name: 'v1', storage: true }, { name: 'v2' }]);
  created(await k.apply('v1/one', 'first', { a: '1', b: '1' }));
  ok(await k.apply('v2/one', 'second', { c: '1' }));
  const isPruned = (object: Json): boolean => object.spec?.b === undefined;
  for (const { title, fail, message } of failures) {
    k.converter.behave((call) => ((call.review.request.objects as Json[]).some(isPruned) ? fail(call) : usual(call)));
    const answer = await k.apply('v1/one', 'first', { a: '1' });
    failure(answer, {
      code: 500,
      reason: undefined,
      message: `failed to prune fields: failed add back owned items: failed to convert pruned object at version ${k.group}/v2: conversion webhook for ${k.group}/v1, Kind=Gear ${message}`,
    });
    k.converter.behave(usual);
    same(ok(await t.get(k.path('v1', 'one'))).spec, { a: '1', b: '1', c: '1' }, title);
  }
  same(ok(await k.apply('v1/one', 'first', { a: '1' })).spec, { a: '1', c: '1' }, 'pruned');
});

spec(
  64,
  'a conversion webhook that has failed since the definition changed: lists and watches are refused',
  async (t) => {
    const k = await kindOf(t, 'Webhook', [{ name: 'v1', storage: true }, { name: 'v2' }]);
    created(await t.post(k.path('v1'), k.draft('v1', 'one', { a: '1' })));
    k.converter.behave(() => ({ response: { result: { status: 'Failed', message: 'down' } } }));
    await serve(t, k, [
      { name: 'v1', storage: true },
      { name: 'v2', fields: { d: text } },
    ]);
    await refusedLists(t, k, `conversion webhook for ${k.group}/v1, Kind=Gear failed: down`);
    same(
      ok(await t.get(k.path('v1'))).items.map(({ metadata }) => metadata.name),
      ['one'],
      'the storage version',
    );
    k.converter.behave(usual);
    const back = await t.eventually(
      () => t.get(k.path('v2')),
      ({ status }) => status === 200,
    );
    same(
      back.body.items.map(({ metadata }) => metadata.name),
      ['one'],
      'once the webhook is back',
    );
  },
);
