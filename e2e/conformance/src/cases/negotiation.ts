/** §2.2 Negotiation and bodies. */
import { gunzipSync } from 'node:zlib';
import { connect as connectHttp2, constants } from 'node:http2';
import type { Json } from '../harness/doc.js';
import type { Answer } from '../harness/http.js';
import { MERGE_PATCH } from '../harness/context.js';
import { check, created, failure, matches, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps } from './paths.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const header = (value: string | string[] | undefined): string => [value ?? ''].flat().join(', ');
const MEDIA_TYPES = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

spec(8, '*/* and a missing Accept mean JSON', async (t) => {
  for (const accept of ['*/*', '']) {
    const answer = await t.get('/api/v1/namespaces/default', { accept });
    same(ok(answer).kind, 'Namespace', 'kind');
    same(header(answer.headers['content-type']), 'application/json', `content type for ${JSON.stringify(accept)}`);
  }
});

spec(8, 'application/yaml answers YAML', async (t) => {
  const answer = await t.get('/api/v1/namespaces/default', { accept: 'application/yaml' });
  same([answer.status, header(answer.headers['content-type'])], [200, 'application/yaml'], 'answer');
  matches(answer.text, /^apiVersion: v1\nkind: Namespace\nmetadata:\n/, 'body');
});

spec(8, 'the first acceptable clause wins', async (t) => {
  const answer = await t.get('/api/v1/namespaces/default', {
    accept: 'application/bogus, application/yaml, application/json',
  });
  same(header(answer.headers['content-type']), 'application/yaml', 'content type');
});

spec(8, 'nothing acceptable answers 406 and lists the media types', async (t) => {
  for (const accept of ['application/bogus', 'text/html', 'application/*'])
    failure(await t.get('/api/v1/namespaces/default', { accept }), {
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${MEDIA_TYPES}`,
      details: {},
    });
  failure(await t.get((await t.widgets()).everywhere, { accept: 'application/bogus' }), {
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${MEDIA_TYPES}`,
  });
});

spec(8, 'protobuf or JSON for a custom resource answers JSON', async (t) => {
  const widgets = await t.widgets();
  const answer = await t.get(widgets.everywhere, { accept: 'application/vnd.kubernetes.protobuf,application/json' });
  same(ok(answer).kind, 'WidgetList', 'kind');
  same(header(answer.headers['content-type']), 'application/json', 'content type');
});

spec(8, 'as=Table for something that is not one of the known forms answers 406', async (t) => {
  failure(await t.get('/api/v1/namespaces', { accept: 'application/json;as=Bogus;v=v1;g=meta.k8s.io' }), {
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${MEDIA_TYPES}`,
  });
});

spec(8, 'as=PartialObjectMetadataList answers metadata only', async (t) => {
  const ns = await t.namespace();
  created(
    await t.post(`/api/v1/namespaces/${ns}/configmaps`, {
      metadata: { name: 'a', labels: { x: 'y' } },
      data: { a: '1' },
    }),
  );
  const list = ok(await t.get(`/api/v1/namespaces/${ns}/configmaps?labelSelector=x%3Dy`, { accept: PARTIAL_LIST }));
  same([list.kind, list.apiVersion], ['PartialObjectMetadataList', 'meta.k8s.io/v1'], 'kind');
  check(Boolean(list.metadata.resourceVersion), 'no resourceVersion');
  same(
    list.items.map((item) => [Object.keys(item).toSorted(), item.kind, item.apiVersion, item.metadata.name]),
    [[['apiVersion', 'kind', 'metadata'], 'PartialObjectMetadata', 'meta.k8s.io/v1', 'a']],
    'items',
  );
});

spec(8, 'as=PartialObjectMetadata answers metadata only, also of a write', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  const made = created(await t.post(path, { metadata: { name: 'a' }, data: { a: '1' } }, { accept: PARTIAL }));
  same([made.kind, made.data], ['PartialObjectMetadata', undefined], 'created');
  const got = ok(await t.get(`${path}/a`, { accept: `${PARTIAL},application/json` }));
  same(
    [got.kind, got.apiVersion, got.metadata.uid, got.data],
    ['PartialObjectMetadata', 'meta.k8s.io/v1', made.metadata.uid, undefined],
    'got',
  );
});

spec(9, 'YAML bodies are understood', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: why\ndata:\n  a: "1"\n';
  same(created(await t.post(path, yaml, { contentType: 'application/yaml' })).data, { a: '1' }, 'data');
  const widgets = await t.widgets();
  const widget = `apiVersion: ${widgets.apiVersion}\nkind: Widget\nmetadata:\n  name: why\nspec:\n  size: 2\n`;
  same(created(await t.post(widgets.path(ns), widget, { contentType: 'application/yaml' })).spec.size, 2, 'size');
});

spec(
  9,
  'dates and times of YAML are texts, words that YAML 1.1 takes for booleans are written in quotes',
  async (t) => {
    const ns = await t.namespace();
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dated}\ndata:\n  day: 2024-01-02\n  time: 12:30\n  word: "on"\n`;
    const made = created(await t.post(configMaps(ns), yaml, { contentType: 'application/yaml' }));
    same(made.data, { day: '2024-01-02', time: '12:30', word: 'on' }, 'data');
    const shown = await t.get(configMaps(ns, 'dated'), { accept: 'application/yaml' });
    matches(shown.text, /word: "on"/, 'YAML');
  },
);

spec(9, 'YAML scalars have the values that go-yaml gives them', async (t) => {
  const ns = await t.namespace();
  const send = async (name: string, data: string): Promise<Json> =>
    created(
      await t.post(configMaps(ns), `\ufeffapiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n${data}`, {
        contentType: 'application/yaml',
      }),
    ).data;
  same(
    await send('plain', '  a: .\n  b: e3\n  c: 0x\n  d: ._\n  e: 1e400\n  f: !!str 0o644\n  g: !!binary aGVsbG8=\n'),
    { a: '.', b: 'e3', c: '0x', d: '._', e: '1e400', f: '0o644', g: 'hello' },
    'data',
  );
  same(await send('quoted', '  a: \'x\n\n\'\n  b: "y\n  z"\n'), { a: 'x\n', b: 'y z' }, 'quoted');
  same(await send('first', '  a: x\n---\nkind: Other\n'), { a: 'x' }, 'the first of two documents');
  const widgets = await t.widgets();
  const widget = `apiVersion: ${widgets.apiVersion}\nkind: Widget\nmetadata:\n  name: octal\nspec:\n  size: 0o17\n`;
  same(created(await t.post(widgets.path(ns), widget, { contentType: 'application/yaml' })).spec.size, 15, 'size');
});

spec(9, 'duplicate keys of YAML are refused, reported or ignored', async (t) => {
  const ns = await t.namespace();
  const send = async (name: string, validation: string): Promise<Answer> =>
    await t.post(
      `${configMaps(ns)}?fieldValidation=${validation}`,
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n  a: "1"\n  a: "2"\n  b: "3"\n  b: "4"\n`,
      { contentType: 'application/yaml' },
    );
  failure(await send('strict', 'Strict'), {
    code: 400,
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 6: key "a" already set in map\n  line 8: key "b" already set in map',
  });
  const warned = await send('warned', 'Warn');
  same(created(warned).data, { a: '2', b: '4' }, 'data');
  same(
    header(warned.headers['warning']),
    '299 - "line 6: key \\"a\\" already set in map", 299 - "line 8: key \\"b\\" already set in map"',
    'warnings',
  );
  same(header((await send('ignored', 'Ignore')).headers['warning']), '', 'warnings');
});

spec(9, 'duplicate keys of an applied configuration are refused, reported or ignored', async (t) => {
  const ns = await t.namespace();
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: "1"\n  a: "2"\n';
  const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}';
  for (const [body, line] of [
    [yaml, 6],
    [json, 1],
  ] as const) {
    const send = async (validation: string): Promise<Answer> =>
      await t.patch(
        `${configMaps(ns)}/a?fieldManager=x&fieldValidation=${validation}`,
        'application/apply-patch+yaml',
        body,
      );
    failure(await send('Strict'), {
      code: 400,
      reason: 'BadRequest',
      message: `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line ${line}: key "a" already set in map`,
    });
    for (let round = 0; round < 3; round++) {
      const warned = await send('Warn');
      same(warned.body.data, { a: '2' }, 'data');
      same(header(warned.headers['warning']), `299 - "line ${line}: key \\"a\\" already set in map"`, 'warnings');
    }
    same(header((await send('Ignore')).headers['warning']), '', 'warnings');
  }
});

spec(9, 'a body of another type answers 415', async (t) => {
  const ns = await t.namespace();
  for (const path of [`/api/v1/namespaces/${ns}/configmaps`, (await t.widgets()).path(ns)])
    failure(await t.post(path, 'hello', { contentType: 'text/plain' }), {
      code: 415,
      reason: 'UnsupportedMediaType',
      message: new RegExp(
        `^the body of the request was in an unknown format - accepted media types include: ${MEDIA_TYPES}`,
      ),
    });
});

spec(9, 'a body without a content type is JSON', async (t) => {
  const ns = await t.namespace();
  const answer = await t.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'a' } }, { contentType: '' });
  same(created(answer).metadata.name, 'a', 'name');
});

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** A field with a length: strings and messages, of less than 128 bytes. */
function field(number: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
}

/** k8s\0 + Unknown{ typeMeta{ apiVersion, kind }, raw } */
function envelope(kind: string, raw: Buffer): Buffer {
  const typeMeta = kind === '' ? [] : [field(1, field(1, Buffer.from('v1')), field(2, Buffer.from(kind)))];
  return Buffer.concat([Buffer.from('k8s\0'), ...typeMeta, field(2, raw)]);
}

/** An object with a name alone. */
const named = (name: string): Buffer => field(1, field(1, Buffer.from(name)));

spec(9, 'a protobuf body is understood for a built-in kind, with its kind and without', async (t) => {
  const path = `/api/v1/namespaces/${await t.namespace()}/configmaps`;
  for (const [kind, name] of [
    ['ConfigMap', 'pb'],
    ['', 'nokind'],
  ] as const) {
    const answer = await t.post(path, envelope(kind, named(name)), { contentType: PROTOBUF });
    same(created(answer).metadata.name, name, 'name');
  }
});

spec(9, 'a protobuf body that is no such message answers 400 with the words of the decoder', async (t) => {
  const path = `/api/v1/namespaces/${await t.namespace()}/configmaps`;
  const handled = 'cannot be handled as a ConfigMap:';
  for (const [body, message] of [
    [envelope('ConfigMap', Buffer.from([0x0a, 0x7f, 1])), `ConfigMap in version "v1" ${handled} unexpected EOF`],
    [
      envelope('ConfigMap', Buffer.from([0x08, 1])),
      `ConfigMap in version "v1" ${handled} proto: wrong wireType = 0 for field ObjectMeta`,
    ],
    [
      envelope('ConfigMap', Buffer.from([0x07, 1])),
      `ConfigMap in version "v1" ${handled} proto: ConfigMap: illegal tag 0 (wire type 7)`,
    ],
    [
      envelope('Pod', named('a')),
      `Pod in version "v1" ${handled} converting (v1.Pod) to (core.ConfigMap): unknown conversion`,
    ],
    [
      envelope('Nope', Buffer.alloc(0)),
      `Nope in version "v1" ${handled} no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
    ],
    [
      Buffer.from('{"hello":1}'),
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"hello":1})',
    ],
    [Buffer.from('k8s\0'), 'the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)'],
  ] as const)
    failure(await t.post(path, body, { contentType: PROTOBUF }), { code: 400, reason: 'BadRequest', message });
});

spec(8, 'objects, lists, watches and failures are answered in protobuf, and custom resources are not', async (t) => {
  const path = `/api/v1/namespaces/${await t.namespace()}/configmaps`;
  await t.post(path, { metadata: { name: 'a' } });
  const head = (kind: string) =>
    Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, Buffer.from('v1')), field(2, Buffer.from(kind)))]);
  for (const [where, status, kind] of [
    [`${path}/a`, 200, 'ConfigMap'],
    [path, 200, 'ConfigMapList'],
    [`${path}/none`, 404, 'Status'],
  ] as const) {
    const answer = await t.get(where, { accept: PROTOBUF });
    same([answer.status, header(answer.headers['content-type'])], [status, PROTOBUF], where);
    same(answer.bytes.subarray(0, head(kind).length).toString('latin1'), head(kind).toString('latin1'), 'envelope');
  }
  const widgets = await t.widgets();
  const refused = await t.get(widgets.everywhere, { accept: PROTOBUF });
  same([refused.status, header(refused.headers['content-type'])], [406, PROTOBUF], 'custom resource');
  const partial = await t.get(widgets.everywhere, {
    accept: `${PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`,
  });
  same([partial.status, header(partial.headers['content-type'])], [200, PROTOBUF], 'metadata of custom resources');
  const table = await t.get(path, { accept: `${PROTOBUF};as=Table;v=v1;g=meta.k8s.io` });
  failure(table, { code: 406, reason: 'NotAcceptable' });
});

spec(9, 'CBOR answers 415 and 406', async (t) => {
  const ns = await t.namespace();
  for (const path of [`/api/v1/namespaces/${ns}/configmaps`, (await t.widgets()).path(ns)]) {
    failure(await t.post(path, Buffer.from([0xa0]), { contentType: 'application/cbor' }), {
      code: 415,
      reason: 'UnsupportedMediaType',
    });
    failure(await t.get(path, { accept: 'application/cbor' }), { code: 406, reason: 'NotAcceptable' });
  }
});

spec(8, 'a watch in YAML answers 406 in YAML', async (t) => {
  const answer = await t.get(`/api/v1/namespaces/${await t.namespace()}/configmaps`, {
    accept: 'application/yaml',
    query: { watch: true },
  });
  same([answer.status, header(answer.headers['content-type'])], [406, 'application/yaml'], 'answer');
});

spec(10, 'a body over 3 MiB answers 413', async (t) => {
  const ns = await t.namespace();
  const answer = await t.post(`/api/v1/namespaces/${ns}/configmaps`, {
    metadata: { name: 'big' },
    data: { a: 'x'.repeat(3_200_000) },
  });
  failure(answer, {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
    details: {},
  });
});

spec(10, 'bad JSON answers 400', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(`/api/v1/namespaces/${ns}/configmaps`, '{"a":', {}), {
    code: 400,
    reason: 'BadRequest',
    message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"a":)`,
  });
  failure(await t.post((await t.widgets()).path(ns), '{"a":', {}), {
    code: 400,
    reason: 'BadRequest',
    message: `the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input ({"a":)`,
  });
});

spec(10, 'a version that is not that of the URL answers 400', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(
    await t.post(widgets.path(ns), { apiVersion: `${widgets.group}/v2`, kind: 'Widget', metadata: { name: 'a' } }),
    {
      code: 400,
      reason: 'BadRequest',
      message: `the API version in the data (${widgets.group}/v2) does not match the expected API version (${widgets.apiVersion})`,
    },
  );
  failure(
    await t.post(`/apis/apps/v1/namespaces/${ns}/deployments`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    }),
    {
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a Deployment: converting (v1.ConfigMap) to (apps.Deployment): unknown conversion',
    },
  );
});

spec(10, 'a version that nobody knows answers 400 for a built-in', async (t) => {
  const ns = await t.namespace();
  failure(
    await t.post(`/apis/apps/v1/namespaces/${ns}/deployments`, {
      apiVersion: 'apps/v9',
      kind: 'Deployment',
      metadata: { name: 'a' },
    }),
    {
      code: 400,
      reason: 'BadRequest',
      message: /no kind "Deployment" is registered for version "apps\/v9"/,
    },
  );
});

spec(10, 'a built-in may be sent without kind, a custom resource may not', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'a' } }));
  same([made.kind, made.apiVersion], ['ConfigMap', 'v1'], 'kind');
  failure(await t.post((await t.widgets()).path(ns), { metadata: { name: 'a' }, spec: { size: 1 } }), {
    code: 400,
    reason: 'BadRequest',
    message: `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"a"},"spec":{"size":1}}' ({"metadata":{"name":"a"},"spec ...)`,
  });
});

spec(10, 'a wrong kind answers 422 for a custom resource and 400 for a built-in', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.post(widgets.path(ns), { ...widgets.draft('a'), kind: 'Gadget' }), {
    code: 422,
    reason: 'Invalid',
    message: `Gadget.${widgets.group} "a" is invalid: kind: Invalid value: "Gadget": must be Widget`,
    details: { name: 'a', group: widgets.group, kind: 'Gadget' },
    causes: [{ reason: 'FieldValueInvalid', field: 'kind', message: 'Invalid value: "Gadget": must be Widget' }],
  });
  failure(
    await t.post(`/api/v1/namespaces/${ns}/configmaps`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
    {
      code: 400,
      reason: 'BadRequest',
      message:
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    },
  );
});

spec(10, 'a wrong JSON type answers 400 for a built-in and 422 for a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(
    await t.post(`/api/v1/namespaces/${ns}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { a: 1 },
    }),
    {
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    },
  );
  failure(await t.post(widgets.path(ns), widgets.draft('a', { size: 'x' })), {
    code: 422,
    reason: 'Invalid',
    message:
      /^Widget\.\S+ "a" is invalid: spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"$/,
    causes: [
      {
        reason: 'FieldValueTypeInvalid',
        field: 'spec.size',
        message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
      },
    ],
  });
});

spec(10, 'a body that is not an object answers 400', async (t) => {
  const ns = await t.namespace();
  const prefix =
    /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: /;
  for (const body of ['[]', '"x"', '1', ''])
    failure(await t.post(`/api/v1/namespaces/${ns}/configmaps`, body, { contentType: 'application/json' }), {
      code: 400,
      reason: 'BadRequest',
      message: prefix,
    });
});

spec(10, 'null is an object without any field', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(`/api/v1/namespaces/${ns}/configmaps`, 'null', { contentType: 'application/json' }), {
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    details: { kind: 'ConfigMap' },
    causes: [
      {
        reason: 'FieldValueRequired',
        field: 'metadata.name',
        message: 'Required value: name or generateName is required',
      },
    ],
  });
});

spec(11, 'Table: columns, cells and metadata of each row', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  created(await t.post(path, { metadata: { name: 'a', labels: { x: 'y' } }, data: { a: '1', b: '2' } }));
  const table = ok(await t.get(`${path}?labelSelector=x%3Dy`, { accept: TABLE })) as Json;
  same([table.kind, table.apiVersion], ['Table', 'meta.k8s.io/v1'], 'kind');
  check(Boolean(table.metadata.resourceVersion), 'no resourceVersion');
  same(
    table.columnDefinitions.map(({ name, type, format, priority }: Json) => ({ name, type, format, priority })),
    [
      { name: 'Name', type: 'string', format: 'name', priority: 0 },
      { name: 'Data', type: 'string', format: '', priority: 0 },
      { name: 'Age', type: 'string', format: '', priority: 0 },
    ],
    'columns',
  );
  const [row] = table.rows;
  same(row.cells.slice(0, 2), ['a', 2], 'cells');
  matches(row.cells[2] as string, /^\d+s$/, 'age');
  same(
    [row.object.kind, row.object.apiVersion, row.object.metadata.name, row.object.data],
    ['PartialObjectMetadata', 'meta.k8s.io/v1', 'a', undefined],
    'object',
  );
});

spec(11, 'Table: includeObject None and Object', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  created(await t.post(path, { metadata: { name: 'a', labels: { x: 'y' } }, data: { a: '1' } }));
  const none = ok(await t.get(`${path}?labelSelector=x%3Dy&includeObject=None`, { accept: TABLE })) as Json;
  same(none.rows[0].object, null, 'object for None');
  const whole = ok(await t.get(`${path}?labelSelector=x%3Dy&includeObject=Object`, { accept: TABLE })) as Json;
  same([whole.rows[0].object.kind, whole.rows[0].object.data], ['ConfigMap', { a: '1' }], 'object for Object');
});

spec(11, 'Table of one object, and of an empty list', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/secrets`;
  created(await t.post(path, { metadata: { name: 'a' }, stringData: { a: '1' } }));
  const one = ok(await t.get(`${path}/a`, { accept: TABLE })) as Json;
  same([one.kind, one.rows.length, one.rows[0].cells.slice(0, 3)], ['Table', 1, ['a', 'Opaque', 1]], 'table');
  const empty = ok(await t.get(`${path}?labelSelector=no%3Dthing`, { accept: TABLE })) as Json;
  same([empty.columnDefinitions.length, empty.rows], [4, []], 'empty table');
});

spec(11, 'Table: list metadata of a page', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const name of ['a', 'b', 'c']) created(await t.post(widgets.path(ns), widgets.draft(name)));
  const table = ok(await t.get(`${widgets.path(ns)}?limit=2`, { accept: TABLE })) as Json;
  same([table.rows.map((row: Json) => row.cells[0]), table.metadata.remainingItemCount], [['a', 'b'], 1], 'page');
  check(Boolean(table.metadata.continue), 'no continue token');
});

spec(11, 'Table: printer columns of a custom resource by JSONPath', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a', { size: 3 })));
  const table = ok(await t.get(widgets.path(ns), { accept: TABLE })) as Json;
  same(
    table.columnDefinitions.map(({ name, type, priority }: Json) => [name, type, priority]),
    [
      ['Name', 'string', 0],
      ['Size', 'integer', 0],
      ['Color', 'string', 1],
      ['Age', 'date', 0],
    ],
    'columns',
  );
  same(table.rows[0].cells.slice(0, 3), ['a', 3, 'blue'], 'cells');
  matches(table.rows[0].cells[3] as string, /^\d+s$/, 'age');
});

const columns: Record<string, string[]> = {
  '/api/v1/pods': ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates'],
  '/api/v1/services': ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', 'Selector'],
  '/api/v1/namespaces': ['Name', 'Status', 'Age'],
  '/api/v1/nodes': [
    'Name',
    'Status',
    'Roles',
    'Age',
    'Version',
    'Internal-IP',
    'External-IP',
    'OS-Image',
    'Kernel-Version',
    'Container-Runtime',
  ],
  '/api/v1/events': [
    'Last Seen',
    'Type',
    'Reason',
    'Object',
    'Subobject',
    'Source',
    'Message',
    'First Seen',
    'Count',
    'Name',
  ],
  '/api/v1/serviceaccounts': ['Name', 'Age'],
  '/api/v1/persistentvolumeclaims': [
    'Name',
    'Status',
    'Volume',
    'Capacity',
    'Access Modes',
    'StorageClass',
    'VolumeAttributesClass',
    'Age',
    'VolumeMode',
  ],
  '/apis/apps/v1/deployments': ['Name', 'Ready', 'Up-to-date', 'Available', 'Age', 'Containers', 'Images', 'Selector'],
  '/apis/apps/v1/replicasets': ['Name', 'Desired', 'Current', 'Ready', 'Age', 'Containers', 'Images', 'Selector'],
  '/apis/apps/v1/statefulsets': ['Name', 'Ready', 'Age', 'Containers', 'Images'],
  '/apis/apps/v1/daemonsets': [
    'Name',
    'Desired',
    'Current',
    'Ready',
    'Up-to-date',
    'Available',
    'Node Selector',
    'Age',
    'Containers',
    'Images',
    'Selector',
  ],
  '/apis/batch/v1/jobs': ['Name', 'Status', 'Completions', 'Duration', 'Age', 'Containers', 'Images', 'Selector'],
  '/apis/batch/v1/cronjobs': [
    'Name',
    'Schedule',
    'Timezone',
    'Suspend',
    'Active',
    'Last Schedule',
    'Age',
    'Containers',
    'Images',
    'Selector',
  ],
  '/apis/coordination.k8s.io/v1/leases': ['Name', 'Holder', 'Age'],
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions': ['Name', 'Created At'],
};
for (const [path, expected] of Object.entries(columns))
  spec(11, `Table: columns of ${path}`, async (t) => {
    const table = ok(await t.get(`${path}?labelSelector=no%3Dthing`, { accept: TABLE })) as Json;
    same(
      table.columnDefinitions.map(({ name }: Json) => name),
      expected,
      'columns',
    );
  });

spec(12, 'a large body is compressed when asked for, a small one never', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  created(await t.post(path, { metadata: { name: 'big' }, data: { a: 'x'.repeat(200_000) } }));
  const large = await t.get(`${path}/big`, { headers: { 'accept-encoding': 'gzip' } });
  same([large.status, header(large.headers['content-encoding'])], [200, 'gzip'], 'large');
  matches(header(large.headers['vary']), /Accept-Encoding/i, 'vary');
  same(JSON.parse(gunzipSync(large.bytes).toString()).data.a.length, 200_000, 'length after decompression');
  const small = await t.get('/api/v1/namespaces/default', { headers: { 'accept-encoding': 'gzip' } });
  same([ok(small).kind, small.headers['content-encoding']], ['Namespace', undefined], 'small');
  const plain = await t.get(`${path}/big`);
  same([ok(plain).kind, plain.headers['content-encoding']], ['ConfigMap', undefined], 'not asked for');
});

spec(12, 'a watch is never compressed', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  created(await t.post(path, { metadata: { name: 'big' }, data: { a: 'x'.repeat(200_000) } }));
  const watch = await t.watch(path, {
    query: { fieldSelector: 'metadata.name=big' },
    headers: { 'accept-encoding': 'gzip' },
  });
  same(watch.headers['content-encoding'], undefined, 'content-encoding');
  same((await watch.next()).object.metadata.name, 'big', 'name');
});

spec(13, 'HTTP/2: requests and many watches on one connection, and PING is answered', async (t) => {
  const ns = await t.namespace();
  const { token } = t.target.credentials;
  const session = connectHttp2(t.target.url, {
    ca: t.target.caPem,
    ...(t.target.credentials.certPem === undefined
      ? {}
      : { cert: t.target.credentials.certPem, key: t.target.credentials.keyPem }),
  });
  t.defer(async () => session.destroy());
  const base = {
    [constants.HTTP2_HEADER_SCHEME]: 'https',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    accept: 'application/json',
  };
  const watches = Array.from({ length: 40 }, (_unused, index) =>
    session.request({ ...base, ':path': `/api/v1/namespaces/${ns}/configmaps?watch=1&labelSelector=n%3D${index}` }),
  );
  const firstLines = watches.map(
    (stream) =>
      new Promise<string>((resolve, reject) => {
        let text = '';
        stream.once('error', reject);
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
        });
      }),
  );
  await Promise.all(watches.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
  const roundTrip = await new Promise<number>((resolve, reject) => {
    session.ping((error, duration) => (error === null ? resolve(duration) : reject(error)));
  });
  check(roundTrip < 5_000, `PING took ${roundTrip} ms`);
  for (const index of watches.keys())
    created(
      await t.post(`/api/v1/namespaces/${ns}/configmaps`, {
        metadata: { name: `m${index}`, labels: { n: String(index) } },
      }),
    );
  const lines = await Promise.all(firstLines);
  same(
    lines.map((line) => JSON.parse(line).object.metadata.name),
    [...watches.keys()].map((index) => `m${index}`),
    'events',
  );
  for (const stream of watches) stream.close(constants.NGHTTP2_CANCEL);
});

spec(13, 'timeout= that is not a duration answers 400', async (t) => {
  failure(await t.get('/api/v1/namespaces?timeout=soon'), {
    code: 400,
    reason: 'BadRequest',
    message: /^invalid timeout specified in the request URL/,
  });
});

spec(13, 'timeout= as clients send it is accepted', async (t) => {
  for (const timeout of ['32s', '6m38s', '1m0s', '30']) {
    const answer = await t.get(`/api/v1/namespaces/default?timeout=${timeout}`);
    if (timeout === '30') failure(answer, { code: 400, reason: 'BadRequest' });
    else ok(answer);
  }
});

spec(10, 'an unknown query parameter is ignored', async (t) => {
  ok(await t.get('/api/v1/namespaces/default?pretty=true&bogus=1'));
  const ns = await t.namespace();
  const made = created(await t.post(`/api/v1/namespaces/${ns}/configmaps?bogus=1`, { metadata: { name: 'a' } }));
  ok(
    await t.patch(`/api/v1/namespaces/${ns}/configmaps/${made.metadata.name}?bogus=1`, MERGE_PATCH, {
      data: { a: '1' },
    }),
  );
});

spec(9, 'a patch of an unknown type is refused before an answer that cannot be given', async (t) => {
  const widgets = await t.widgets();
  const ns = await t.namespace();
  const answer = await t.send('PATCH', widgets.path(ns, 'x'), {
    contentType: 'application/strategic-merge-patch+json',
    accept: PROTOBUF,
    body: {},
  });
  same(answer.status, 415, 'status');
});
