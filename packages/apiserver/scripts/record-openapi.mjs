/**
 * Records what a real kube-apiserver says in its OpenAPI documents of the built-in kinds: fields, types, formats,
 * defaults, list types, operations. Its descriptions stay there. Those of types and fields are the first sentences that
 * tooling/kube-facts has and that the TypeScript types of @kctl/apimachinery show too; parameters and operations have
 * the project's own.
 *
 *   pnpm apiserver:real                                       prints the path of a kubeconfig
 *   cd packages/apiserver
 *   KUBECONFIG=<path> node --import ../../scripts/typescript.mjs --conditions=@kctl/source scripts/record-openapi.mjs
 *
 * Writes src/discovery/openapi/generated/documents.ts; ../src/discovery/openapi/builtin-documents.ts reads it.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { brotliCompressSync, constants } from 'node:zlib';
import { parse } from 'yaml';
import { operationDescription, parameterOf } from '../src/discovery/openapi/parameters.ts';
import { encodeOpenApiV2 } from '../src/discovery/openapi/protobuf-v2.ts';

const outputFile = new URL('../src/discovery/openapi/generated/documents.ts', import.meta.url);
const facts = JSON.parse(
  readFileSync(new URL('../../../tooling/kube-facts/facts.json', import.meta.url), 'utf8'),
).types;

/** `k8s.io/api/apps/v1.Deployment` as OpenAPI names it: `io.k8s.api.apps.v1.Deployment`. */
function modelName(name) {
  const dot = name.lastIndexOf('.');
  const [host, ...path] = name.slice(0, dot).split('/');
  return [...host.split('.').reverse(), ...path, name.slice(dot + 1)].join('.');
}
const typesByModel = new Map(Object.entries(facts).map(([name, type]) => [modelName(name), type]));
const metaTypes = 'k8s.io/apimachinery/pkg/apis/meta/v1.';

function fieldDocs(type) {
  const docs = {};
  for (const field of type.fields ?? []) {
    const inner = field.inline === true && field.type.ref !== undefined ? facts[field.type.ref] : undefined;
    if (inner !== undefined) Object.assign(docs, fieldDocs(inner));
    else if (field.json !== undefined) docs[field.json] = field.doc;
  }
  return docs;
}

/** Without any description. A property may be called so: only texts are. */
function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => name !== 'description' || typeof member !== 'string')
      .map(([name, member]) => [name, bare(member)]),
  );
}

function describedSchema(name, recorded) {
  const schema = bare(recorded);
  const type = typesByModel.get(name) ?? (name.endsWith('List') ? facts[`${metaTypes}List`] : undefined);
  const docs = { ...fieldDocs(facts[`${metaTypes}TypeMeta`]), ...(type && fieldDocs(type)) };
  const properties = Object.entries(schema.properties ?? {}).map(([field, property]) => [
    field,
    docs[field] ? { description: docs[field], ...property } : property,
  ]);
  const doc =
    typesByModel.get(name)?.doc ??
    (name.endsWith('List') ? `A list of ${name.slice(name.lastIndexOf('.') + 1, -4)} objects.` : '');
  return {
    ...(doc && { description: doc }),
    ...schema,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  };
}

function describedParameter(recorded) {
  const parameter = bare(recorded);
  if (parameter.$ref !== undefined || parameter.in === 'body') return parameter;
  return { description: parameterOf(parameter.name).description, ...parameter };
}

const reasons = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

function describedOperation(recorded, path) {
  const operation = bare(recorded);
  const action = operation['x-kubernetes-action'];
  const kind = operation['x-kubernetes-group-version-kind']?.kind;
  const [, , subresource = ''] = /\{name\}(\/([a-z]+))?/.exec(path) ?? [];
  const described = kind === undefined ? 'Describes the API' : operationDescription(action, kind, subresource);
  for (const [code, response] of Object.entries(operation.responses)) {
    const reason = reasons[code];
    if (reason === undefined) throw new Error(`no words for a response ${code}`);
    operation.responses[code] = { description: reason, ...response };
  }
  return {
    description: described,
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(describedParameter) }),
  };
}

function describedPaths(paths) {
  const item = (path, recorded) =>
    Object.fromEntries(
      Object.entries(recorded).map(([name, value]) => [
        name,
        name === 'parameters' ? value.map(describedParameter) : describedOperation(value, path),
      ]),
    );
  return Object.fromEntries(Object.entries(paths).map(([path, recorded]) => [path, item(path, recorded)]));
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));

const { clusters, users } = parse(readFileSync(process.env.KUBECONFIG ?? '', 'utf8'));
const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
const { token } = users.map(({ user }) => user).find((user) => user.token !== undefined);
function ask(path, { accept = 'application/json', method = 'GET', body } = {}) {
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { ca: Buffer.from(ca, 'base64'), headers, method }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        if (response.statusCode < 300) resolve(bytes);
        else reject(new Error(`${path}: ${response.statusCode} ${bytes}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
const askJson = async (path, options) => JSON.parse((await ask(path, options)).toString());

const sections = [];
const add = (name, content) => {
  const bytes = Buffer.from(content);
  sections.push({ name, bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() });
};

const { paths } = await askJson('/openapi/v3');
for (const path of Object.keys(paths)) {
  const document = await askJson(`/openapi/v3/${path}`);
  const { schemas, ...components } = document.components ?? {};
  add(
    path,
    JSON.stringify({
      ...document,
      paths: describedPaths(document.paths),
      ...(document.components && {
        components: { ...(schemas && { schemas: mapValues(schemas, describedSchema) }), ...bare(components) },
      }),
    }),
  );
}
const recorded = await askJson('/openapi/v2');
const type = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
if (!(await ask('/openapi/v2', { accept: type })).equals(encodeOpenApiV2(recorded)))
  throw new Error('encodeOpenApiV2 writes other bytes than the real server');
const v2 = {
  ...bare(recorded),
  paths: describedPaths(recorded.paths),
  definitions: mapValues(recorded.definitions, describedSchema),
  parameters: mapValues(recorded.parameters, (_, parameter) => describedParameter(parameter)),
};
// What custom resources add goes into the middle.
const { paths: v2Paths, definitions, ...others } = v2;
const inner = (value) => JSON.stringify(value).slice(1, -1);
add('v2 start', `{${inner(others)},"paths":{${inner(v2Paths)}`);
add('v2 end', `},"definitions":{${inner(definitions)}`);

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const openAPIV3Schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
};
const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
await ask(crds, {
  method: 'POST',
  body: JSON.stringify({
    metadata: { name: 'samples.record.kctl.test' },
    spec: {
      group: 'record.kctl.test',
      scope: 'Cluster',
      names: { plural: 'samples', kind: 'Sample' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { scale } }],
    },
  }),
});
for (let left = 60; ; left--) {
  if ((await askJson('/openapi/v3')).paths['apis/record.kctl.test/v1'] !== undefined) break;
  if (left === 0) throw new Error('no document of a custom resource after a minute');
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
const { schemas } = (await askJson('/openapi/v3/apis/record.kctl.test/v1')).components;
const shared = Object.entries(schemas).filter(([name]) => name.startsWith('io.k8s.'));
add('custom schemas', JSON.stringify(mapValues(Object.fromEntries(shared), describedSchema)));

const whole = Buffer.concat(sections.map(({ bytes }) => bytes));
const compressed = brotliCompressSync(whole, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
  },
});
const lines = sections.map(({ name, bytes, hash }) => `${name},${bytes.length},${hash}`).join('\n');
writeFileSync(
  outputFile,
  `// Written by scripts/record-openapi.mjs from the answers of a real kube-apiserver. Do not edit.
// Structure and first sentences of descriptions are those of Kubernetes, Copyright The Kubernetes Authors, Apache-2.0.

/** One document to a line, in the order of the data: name, length in bytes, SHA-512. */
export const sections: string = \`${lines}\`;

/** All documents one after the other, compressed with brotli, in base64. */
export const data: string =
  '${compressed.toString('base64')}';
`,
);
console.log(`${sections.length} documents, ${whole.length} bytes, ${compressed.length} compressed`);
