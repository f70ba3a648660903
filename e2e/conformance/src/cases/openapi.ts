/** §2.1-5 and 6: OpenAPI v3 and v2. */
import { createHash } from 'node:crypto';
import type { Context } from '../harness/context.js';
import type { Json } from '../harness/doc.js';
import { check, matches, ok, same, status } from '../harness/expect.js';
import { spec } from '../harness/spec.js';

const header = (value: string | string[] | undefined): string => [value ?? ''].flat().join(', ');
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const APPS = '/openapi/v3/apis/apps/v1';

/** Without descriptions, which servers word for themselves. */
function bare(value: Json): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(
    members
      .filter(([name, member]) => name !== 'description' || typeof member !== 'string')
      .map(([name, member]) => [name, bare(member)]),
  );
}

async function index(t: Context): Promise<Record<string, { serverRelativeURL: string }>> {
  const answer = await t.get('/openapi/v3');
  same(answer.status, 200, 'status');
  return (JSON.parse(answer.text) as { paths: Record<string, { serverRelativeURL: string }> }).paths;
}

spec(5, 'GET /openapi/v3 lists each group version with the hash of its document', async (t) => {
  const paths = await index(t);
  for (const path of ['api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'version', 'openid/v1/jwks'])
    matches(paths[path]?.serverRelativeURL ?? '', new RegExp(`^/openapi/v3/${path}\\?hash=[0-9A-F]{128}$`), path);
  const answer = await t.get(paths['apis/apps/v1']?.serverRelativeURL ?? '');
  const hash = createHash('sha512').update(answer.text).digest('hex').toUpperCase();
  same(ok(answer)['openapi'], '3.0.0', 'openapi');
  same(header(answer.headers['etag']), `"${hash}"`, 'etag');
  same(header(answer.headers['cache-control']), 'public, immutable', 'cache-control');
  same(header(answer.headers['vary']), 'Accept', 'vary');
});

spec(5, 'GET of an OpenAPI v3 document with another hash is sent to the present one', async (t) => {
  const answer = await t.get(`${APPS}?hash=AB`);
  same(answer.status, 301, 'status');
  same(header(answer.headers['location']), (await index(t))['apis/apps/v1']?.serverRelativeURL, 'location');
});

spec(5, 'GET of an OpenAPI document that the client has is 304', async (t) => {
  for (const path of [APPS, '/openapi/v2']) {
    // Other cases define custom resources meanwhile.
    const again = await t.eventually(
      async () => {
        const etag = header((await t.get(path)).headers['etag']);
        return t.get(path, { headers: { 'if-none-match': etag } });
      },
      ({ status: code }) => code === 304,
    );
    same(again.text, '', 'body');
  }
});

spec(5, 'GET of an OpenAPI document in an unknown media type, or of none, is an empty answer', async (t) => {
  for (const path of [APPS, '/openapi/v2']) {
    const answer = await t.get(path, { accept: 'text/plain' });
    same([path, answer.status, answer.text], [path, 406, ''], 'answer');
  }
  const missing = await t.get('/openapi/v3/apis/apps/v9');
  same([missing.status, missing.text], [404, ''], 'missing');
});

spec(5, 'OpenAPI v3 describes built-in kinds with types, defaults, list types and merge keys', async (t) => {
  const { components, paths } = ok(await t.get(APPS)) as Json;
  const container = components.schemas['io.k8s.api.core.v1.Container'];
  same(
    bare(container.properties.ports),
    {
      type: 'array',
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }], default: {} },
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    },
    'ports',
  );
  same(container.required, ['name'], 'required');
  same(bare(container.properties.name), { type: 'string', default: '' }, 'name');
  same(container.properties.imagePullPolicy.enum, ['Always', 'IfNotPresent', 'Never'], 'imagePullPolicy');
  matches(container.properties.image.description, /^Container image name\./, 'description');
  const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'].patch;
  same(
    [patch['x-kubernetes-action'], patch['x-kubernetes-group-version-kind'], patch.operationId],
    ['patch', { group: 'autoscaling', version: 'v1', kind: 'Scale' }, 'patchAppsV1NamespacedDeploymentScale'],
    'patch of scale',
  );
  same(
    (patch.parameters as Json[]).map(({ name }) => name as string),
    ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
    'parameters',
  );
});

spec(6, 'OpenAPI v2 is one document, in JSON and in protobuf', async (t) => {
  const { swagger, definitions, paths } = ok(await t.get('/openapi/v2')) as Json;
  same(swagger, '2.0', 'swagger');
  same(
    bare(definitions['io.k8s.api.core.v1.PodSpec'].properties.containers),
    {
      type: 'array',
      items: { $ref: '#/definitions/io.k8s.api.core.v1.Container' },
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    },
    'containers',
  );
  same(paths['/api/v1/namespaces/{namespace}/pods'].get['x-kubernetes-action'], 'list', 'action');
  for (const accept of [PROTOBUF, PROTOBUF.replace('@', '.')]) {
    const answer = await t.get('/openapi/v2', { accept });
    same(answer.status, 200, 'status');
    same(header(answer.headers['content-type']), PROTOBUF.replace('@', '.'), 'content type');
    check(answer.text.startsWith('\n\x032.0'), 'does not start with the field swagger');
  }
});

const rule = {
  rule: 'self.size >= 0 && has(self.port)',
  message: 'bad',
  fieldPath: '.size',
  reason: 'FieldValueInvalid',
};
const string = { type: 'string' };
const integerOrString = [{ type: 'integer' }, { type: 'string' }];
const specSchema = {
  type: 'object',
  description: 'What is wanted.',
  required: ['size', 'null'],
  properties: {
    size: { type: 'integer', format: 'int32', minimum: 0, maximum: 9, exclusiveMaximum: true, default: 3 },
    port: { 'x-kubernetes-int-or-string': true },
    pattern: { 'x-kubernetes-int-or-string': true, anyOf: integerOrString, pattern: '^a' },
    both: { 'x-kubernetes-int-or-string': true, anyOf: [{ minimum: 3 }, { pattern: '^b' }] },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: string } },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    list: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    open: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    inner: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
    map: { type: 'object', additionalProperties: { ...string, nullable: true }, minProperties: 0 },
    null: { ...string, nullable: true },
    nulls: { type: 'array', nullable: true, items: string },
    one: {
      type: 'object',
      properties: { a: string, b: string },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      not: { required: ['c'] },
    },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...string, enum: ['a', 'b'] } },
  },
  'x-kubernetes-validations': [rule],
};

interface Published {
  readonly v3: Json;
  readonly v2: Json;
  readonly paths: Json;
  readonly model: string;
  readonly group: string;
}

/** A custom resource with every kind of field, as both documents show it. */
async function published(t: Context): Promise<Published> {
  const group = `${t.unique('g')}.kctl.test`;
  const model = `test.kctl.${group.split('.')[0] ?? ''}.v1.Full`;
  await t.crd({
    metadata: { name: `fulls.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'fulls', singular: 'full', kind: 'Full', listKind: 'FullList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', description: 'A full one.', properties: { spec: specSchema } } },
          subresources: { status: {} },
          selectableFields: [{ jsonPath: '.spec.size' }],
        },
      ],
    },
  });
  const path = `/openapi/v3/apis/${group}/v1`;
  const answer = await t.eventually(
    () => t.get(path),
    ({ status: code }) => code === 200,
  );
  const v2 = await t.eventually(
    async () => (ok(await t.get('/openapi/v2')) as Json).definitions[model],
    (definition) => definition !== undefined,
  );
  const { components, paths } = ok(answer) as Json;
  return { v3: components.schemas[model], v2, paths, model, group };
}

const metadataV3 = { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] };
const metadataV2 = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

spec(5, 'OpenAPI v3 publishes the schema of a custom resource', async (t) => {
  const { v3, paths, group } = await published(t);
  same(v3.description, 'A full one.', 'description');
  same(v3.properties.spec.description, 'What is wanted.', 'description of the spec');
  const { port, both, open, inner } = specSchema.properties;
  const embedded = { apiVersion: string, kind: string, metadata: metadataV3 };
  same(
    bare(v3),
    {
      type: 'object',
      properties: {
        apiVersion: string,
        kind: string,
        metadata: metadataV3,
        spec: {
          ...(bare(specSchema as Json) as object),
          properties: {
            ...specSchema.properties,
            port: { ...port, anyOf: integerOrString },
            both: { ...both, allOf: [{ anyOf: integerOrString }] },
            open: { ...open, properties: embedded, required: ['kind', 'apiVersion'] },
            inner: { ...inner, properties: { ...inner.properties, ...embedded }, required: ['kind', 'apiVersion'] },
          },
        },
      },
      'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'Full' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.size' }],
    },
    'schema',
  );
  same(
    Object.keys(paths).sort(),
    [
      `/apis/${group}/v1/fulls`,
      `/apis/${group}/v1/namespaces/{namespace}/fulls`,
      `/apis/${group}/v1/namespaces/{namespace}/fulls/{name}`,
      `/apis/${group}/v1/namespaces/{namespace}/fulls/{name}/status`,
    ],
    'paths',
  );
  const { patch, ...others } = paths[`/apis/${group}/v1/namespaces/{namespace}/fulls/{name}`];
  same(Object.keys(others).sort(), ['delete', 'get', 'parameters', 'put'], 'operations');
  same(
    Object.keys(patch.requestBody.content).sort(),
    ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'],
    'patches',
  );
  same(
    (patch.parameters as Json[]).map(({ name }) => name as string),
    ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
    'parameters',
  );
});

spec(6, 'OpenAPI v2 publishes what it can say of a custom resource', async (t) => {
  const { v2, group } = await published(t);
  const { size, inner, ...properties } = specSchema.properties;
  const { default: _default, ...withoutDefault } = size;
  const unknown = { 'x-kubernetes-preserve-unknown-fields': true };
  same(
    bare(v2),
    {
      type: 'object',
      properties: {
        apiVersion: string,
        kind: string,
        metadata: metadataV2,
        spec: {
          ...(bare(specSchema as Json) as object),
          required: ['size'],
          properties: {
            ...properties,
            size: withoutDefault,
            pattern: { 'x-kubernetes-int-or-string': true, pattern: '^a' },
            both: { 'x-kubernetes-int-or-string': true },
            free: unknown,
            list: { type: 'array', items: unknown },
            open: { 'x-kubernetes-embedded-resource': true, ...unknown },
            inner: {
              ...inner,
              properties: { ...inner.properties, apiVersion: string, kind: string, metadata: metadataV2 },
              required: ['kind', 'apiVersion'],
            },
            map: { type: 'object', additionalProperties: {}, minProperties: 0 },
            null: {},
            nulls: {},
            one: { type: 'object', properties: { a: string, b: string } },
          },
        },
      },
      'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'Full' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.size' }],
    },
    'definition',
  );
});

spec(5, 'the OpenAPI document of a custom resource goes with its definition', async (t) => {
  const { group } = await published(t);
  status(await t.send('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/fulls.${group}`), 200);
  await t.eventually(
    () => t.get(`/openapi/v3/apis/${group}/v1`),
    ({ status: code }) => code === 404,
  );
});
