import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { definitionsOfOpenApi, generateKinds } from '../index.js';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
/** How API servers write a field of another type: with the zero value of the Go struct. */
const field = (name: string, more: object = {}): object => ({ allOf: [ref(name)], default: {}, ...more });

interface Operations {
  readonly path: string;
  readonly gvk: object;
  /** Actions by method. */
  readonly actions: Readonly<Record<string, string>>;
  readonly description?: string;
}

function pathItem({ path, gvk, actions, description }: Operations): [string, object] {
  const operations = Object.entries(actions).map(([method, action]) => [
    method,
    {
      description: description ?? `${action} objects`,
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': gvk,
    },
  ]);
  return [path, { ...Object.fromEntries(operations), parameters: [{ name: 'pretty', in: 'query' }] }];
}

const metricsModels = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';
const metricsGvk = (kind: string): object => ({ group: 'metrics.k8s.io', version: 'v1beta1', kind });

function metricsKind(kind: string, description: string, more: object): object {
  return {
    description,
    type: 'object',
    required: ['timestamp', 'window', ...Object.keys(more)],
    properties: {
      apiVersion: { description: 'The version.', type: 'string' },
      kind: { description: 'The kind.', type: 'string' },
      metadata: field(`${meta}.ObjectMeta`, { description: 'Standard metadata.' }),
      timestamp: field(`${meta}.Time`, { description: 'End of the interval.' }),
      window: field(`${meta}.Duration`),
      ...more,
    },
    'x-kubernetes-group-version-kind': [metricsGvk(kind)],
  };
}

const usage = {
  description: 'Memory and CPU that were used.',
  type: 'object',
  additionalProperties: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
};

/** The document of `/openapi/v3/apis/metrics.k8s.io/v1beta1` in its shape: an APIService without definitions. */
const metrics = {
  openapi: '3.0.0',
  info: { title: 'Kubernetes metrics-server', version: 'v0.8.0' },
  paths: Object.fromEntries([
    ['/apis/metrics.k8s.io/v1beta1/', { get: { description: 'get available resources' } }],
    pathItem({ path: '/apis/metrics.k8s.io/v1beta1/nodes', gvk: metricsGvk('NodeMetrics'), actions: { get: 'list' } }),
    pathItem({
      path: '/apis/metrics.k8s.io/v1beta1/nodes/{name}',
      gvk: metricsGvk('NodeMetrics'),
      actions: { get: 'get' },
    }),
    pathItem({
      path: '/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods',
      gvk: metricsGvk('PodMetrics'),
      actions: { get: 'list' },
    }),
    pathItem({
      path: '/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods/{name}',
      gvk: metricsGvk('PodMetrics'),
      actions: { get: 'get' },
    }),
    pathItem({ path: '/apis/metrics.k8s.io/v1beta1/pods', gvk: metricsGvk('PodMetrics'), actions: { get: 'list' } }),
  ]),
  components: {
    schemas: {
      [`${metricsModels}.NodeMetrics`]: metricsKind('NodeMetrics', 'NodeMetrics sets usage of a node.', { usage }),
      [`${metricsModels}.PodMetrics`]: metricsKind('PodMetrics', 'PodMetrics sets usage of a pod.', {
        containers: {
          description: 'One for each container.',
          type: 'array',
          items: field(`${metricsModels}.ContainerMetrics`),
          'x-kubernetes-list-type': 'atomic',
        },
      }),
      [`${metricsModels}.ContainerMetrics`]: {
        description: 'ContainerMetrics sets usage of a container.',
        type: 'object',
        required: ['name', 'usage'],
        properties: { name: { description: 'Of the container.', type: 'string', default: '' }, usage },
      },
      [`${metricsModels}.PodMetricsList`]: {
        type: 'object',
        required: ['items'],
        properties: { items: { type: 'array', items: field(`${metricsModels}.PodMetrics`) } },
        'x-kubernetes-group-version-kind': [metricsGvk('PodMetricsList')],
      },
      [`${meta}.Duration`]: { type: 'string' },
      [`${meta}.Time`]: { type: 'string', format: 'date-time' },
      [`${meta}.ObjectMeta`]: { type: 'object', properties: { name: { type: 'string' } } },
      'io.k8s.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
    },
  },
};

const plantGvk = (kind: string): object => ({ group: 'garden.example.com', version: 'v1', kind });
const everything = { get: 'get', put: 'put', patch: 'patch', delete: 'delete' };
const collection = { get: 'list', post: 'post', delete: 'deletecollection' };

/** What other aggregated APIs have: types within themselves, reviews that are only created, awkward names. */
const garden = {
  openapi: '3.0.0',
  paths: Object.fromEntries([
    pathItem({
      path: '/apis/garden.example.com/v1/records',
      gvk: plantGvk('Record'),
      actions: collection,
      description: 'list or watch objects of kind Record',
    }),
    pathItem({ path: '/apis/garden.example.com/v1/records/{name}', gvk: plantGvk('Record'), actions: everything }),
    pathItem({
      path: '/apis/garden.example.com/v1/records/{name}/status',
      gvk: plantGvk('RecordStatus'),
      actions: everything,
    }),
    pathItem({ path: '/apis/garden.example.com/v1/reviews', gvk: plantGvk('Review'), actions: { post: 'post' } }),
  ]),
  components: {
    schemas: {
      'com.example.v1.Record': {
        type: 'object',
        required: ['root'],
        properties: {
          metadata: field(`${meta}.ObjectMeta`),
          root: field('com.example.v1.Branch'),
          conditions: { type: 'array', items: field(`${meta}.Condition`) },
          port: ref('io.k8s.apimachinery.pkg.util.intstr.IntOrString'),
          selector: ref(`${meta}.LabelSelector`),
          raw: ref('io.k8s.apimachinery.pkg.runtime.RawExtension'),
          template: { type: 'object', properties: { metadata: field(`${meta}.ObjectMeta`) } },
          lost: ref('com.example.v1.Nowhere'),
          mode: { allOf: [ref('com.example.v1.Mode')], default: 'slow' },
          previous: ref('com.example.v1.Record'),
          other: ref('org.example.v1.Branch'),
          labels: { type: 'object', additionalProperties: { type: 'string', default: '' } },
        },
        'x-kubernetes-group-version-kind': [plantGvk('Record')],
      },
      'com.example.v1.Branch': {
        description: 'Branch holds */ branches.',
        type: 'object',
        required: ['length'],
        properties: {
          length: { type: 'integer', default: 0 },
          branches: { type: 'array', items: field('com.example.v1.Branch') },
          byName: { type: 'object', additionalProperties: ref('com.example.v1.Branch') },
        },
      },
      'org.example.v1.Branch': { type: 'object', properties: { tone: { type: 'string' } } },
      'com.example.v1.Mode': { type: 'string', enum: ['fast', "it's slow"] },
      'com.example.v1.Review': {
        type: 'object',
        properties: { status: { type: 'object', properties: { allowed: { type: 'boolean' } } } },
        'x-kubernetes-group-version-kind': [plantGvk('Review'), { group: '', version: 'v1', kind: 'Review' }],
      },
    },
  },
};

const strict: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  isolatedDeclarations: true,
  declaration: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  customConditions: ['@kctl/source'],
  types: [],
};

/** What the compiler says of modules beside this package, under the strictest settings. */
function diagnostics(files: Readonly<Record<string, string>>): string[] {
  const folder = import.meta.dirname;
  const texts = new Map(Object.entries(files).map(([name, text]) => [join(folder, name), text]));
  const host = ts.createCompilerHost(strict);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, options) => {
    const text = texts.get(name);
    return text === undefined ? getSourceFile(name, options) : ts.createSourceFile(name, text, options);
  };
  const program = ts.createProgram([...texts.keys()], strict, host);
  return [...texts.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText }) => `${basename(name)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  });
}

/** The same value with the properties of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, entry]) => [key, reversed(entry)]),
  );
}

function definitionOf(kind: string): object {
  const spec = { type: 'object', additionalProperties: { type: 'string' } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.com',
      names: { kind, plural: 'things' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

describe('kinds of an aggregated API', () => {
  it('writes types, lists and tokens of metrics.k8s.io, which has no definitions', () => {
    const [module, ...others] = generateKinds([metrics]);
    expect(others).toEqual([]);
    expect(module?.path).toBe('metrics.k8s.io/v1beta1.ts');
    expect(module?.text).toMatchSnapshot();
  });

  it('writes types that contain themselves, kinds that are only created, and names that are taken', () => {
    const [module] = generateKinds([garden]);
    expect(module?.text).toMatchSnapshot();
  });

  it('compiles under the strictest settings', () => {
    const files = Object.fromEntries(
      generateKinds([metrics, garden]).map(({ path, text }) => [path.replace('/', '-'), text]),
    );
    const user = [
      "import { PodMetrics, type PodMetricsList } from './metrics.k8s.io-v1beta1.js';",
      "import { RecordResource, type RecordList } from './garden.example.com-v1.js';",
      "const scope: 'Namespaced' = PodMetrics.scope;",
      'export const list = (given: PodMetricsList): string[] => given.items.flatMap(({ containers }) => containers.map(({ name }) => name));',
      'export const deep = (given: RecordList): number | undefined => given.items[0]?.root.branches?.[0]?.branches?.[0]?.length;',
      'export const names: string[] = [scope, RecordResource.kind];',
    ].join('\n');
    const wrong = user.replace("scope: 'Namespaced'", "scope: 'Cluster'");
    for (const kind of ['class', 'my-kind', 'Kind', 'KubeObject', 'string', 'Record']) {
      const [module] = generateKinds([definitionOf(kind)]);
      expect(module?.text).toContain(`kind: '${kind}'`);
      files[`${kind}.ts`] = module?.text ?? '';
    }
    expect(diagnostics({ ...files, 'user.ts': user, 'wrong.ts': wrong })).toEqual([
      'wrong.ts: Type \'"Namespaced"\' is not assignable to type \'"Cluster"\'.',
    ]);
  });

  it('gives the same text in any order of paths, schemas and documents', () => {
    const kindsOnly = (document: typeof metrics | typeof garden): object => ({
      ...document,
      paths: reversed(document.paths),
      components: { schemas: Object.fromEntries(Object.entries(document.components.schemas).reverse()) },
    });
    expect(generateKinds([kindsOnly(garden), kindsOnly(metrics)])).toEqual(generateKinds([metrics, garden]));
  });

  it('takes plural, scope and verbs from discovery where it has them', () => {
    const served = { group: 'garden.example.com', version: 'v1', scope: 'Namespaced' } as const;
    const resources = [
      { ...served, kind: 'Review', plural: 'reviews', verbs: ['create'] },
      { ...served, kind: 'Untyped', plural: 'untypeds', verbs: ['watch', 'get', 'list'] },
      { ...served, kind: 'Scale', plural: 'records/scale', verbs: ['get'] },
      { ...served, group: 'other.example.com', kind: 'Far', plural: 'fars', verbs: ['get'] },
    ];
    const [module, ...others] = generateKinds([garden], { resources });
    expect(others).toEqual([]);
    expect(module?.text).not.toContain("kind: 'Record'");
    expect(module?.text).not.toContain('Scale');
    expect(module?.text).toContain("plural: 'reviews',\n  scope: 'Namespaced'");
    expect(module?.text).toContain('The server takes get, list, watch.');
    expect(module?.text).toContain("kind?: 'Untyped';\n  [field: string]: unknown;");
  });

  it('prefers the definition of a kind that comes from both', () => {
    const openAPIV3Schema = { type: 'object', properties: { own: { type: 'string' } } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: {
        group: 'garden.example.com',
        scope: 'Cluster',
        names: { kind: 'Review', plural: 'reviews', listKind: 'ReviewCollection' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    };
    const [module] = generateKinds([garden, definition]);
    expect(generateKinds([definition, garden])).toEqual([module]);
    expect(module?.text).toContain('from the CustomResourceDefinitions and the OpenAPI document of');
    expect(module?.text).toContain('own?: string;');
    expect(module?.text).toContain('export interface ReviewCollection extends KubeList<Review>');
  });

  it('refuses names that would become code or leave the folder, and documents of another kind', () => {
    const kindOf = (names: object, group = 'example.com', name = 'v1'): object => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: { group, names: { kind: 'A', plural: 'as', ...names }, versions: [{ name, served: true }] },
    });
    expect(() => generateKinds([kindOf({ kind: "A'; alert(1); '" })])).toThrow('kind "A\'; alert(1); \'" is not valid');
    expect(() => generateKinds([kindOf({ plural: 'a*/s' })])).toThrow('plural "a*/s" is not valid');
    expect(() => generateKinds([kindOf({ listKind: 'A List' })])).toThrow('kind "A List" is not valid');
    expect(() => generateKinds([kindOf({}, '../../etc')])).toThrow('group "../../etc" is not valid');
    expect(() => generateKinds([kindOf({}, 'example.com', '../v1')])).toThrow('version "../v1" is not valid');
    expect(() => generateKinds([{ swagger: '2.0' }])).toThrow('found an OpenAPI v2 document');
    expect(() => generateKinds([[]])).toThrow('found a list');
  });
});

describe('definitionsOfOpenApi', () => {
  it('says nothing of the zero values of Go', () => {
    const [module] = generateKinds(definitionsOfOpenApi(metrics));
    expect(module?.text).not.toContain('@default {}');
    expect(module?.text).toContain('export interface PodMetrics extends');
  });
});

describe('references that double with each level', () => {
  const chain = (levels: number, level: (next: object) => object): object => ({
    openapi: '3.0.0',
    paths: Object.fromEntries([
      pathItem({ path: '/apis/garden.example.com/v1/plants', gvk: plantGvk('Plant'), actions: collection }),
      pathItem({ path: '/apis/garden.example.com/v1/plants/{name}', gvk: plantGvk('Plant'), actions: everything }),
    ]),
    components: {
      schemas: Object.fromEntries([
        [
          'Plant',
          {
            type: 'object',
            properties: { spec: ref('L0') },
            'x-kubernetes-group-version-kind': [plantGvk('Plant')],
          },
        ],
        ...Array.from({ length: levels }, (_, index) => [`L${index}`, level(ref(`L${index + 1}`))]),
        [`L${levels}`, { type: 'string' }],
      ]),
    },
  });
  const list = (items: object): object => ({ type: 'array', items });

  it.each(['oneOf', 'anyOf'])('are types with names in %s', (junctor) => {
    const text = (levels: number): string =>
      generateKinds([chain(levels, (next) => ({ [junctor]: [next, list(next)] }))])[0]?.text ?? '';
    expect(text(2)).toContain('  spec?: L0;');
    expect(text(2)).toContain('export type L0 = L1 | L1[];');
    expect(text(2)).toContain('export type L1 = string | string[];');
    expect(text(60).length).toBeLessThan(text(20).length * 4);
  });

  it('make no definition that is written out without an end', () => {
    const both = (next: object): object => ({ type: 'object', properties: { a: next, b: next } });
    const specs = (levels: number): unknown => definitionsOfOpenApi(chain(levels, both));
    expect(JSON.stringify(specs(4))).toContain('"type":"string"');
    expect(JSON.stringify(specs(60))).toContain(
      '"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}',
    );
  });
});
