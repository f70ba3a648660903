import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineResource, definitionsOfOpenApi, generateKinds, listMap } from '../index.js';
import { intOrString } from '../zod/index.js';

const Thing = defineResource({
  group: 'example.com',
  kind: 'Thing',
  versions: {
    v1: {
      description: 'A thing.\nWith */ in its text.',
      storage: true,
      spec: z.object({
        mode: z.enum(["it's", 'b']).default('b').describe('How it works.'),
        'odd-name': z.string().nullable().optional(),
        parts: z.array(z.object({ name: z.string(), port: intOrString().optional() })).meta(listMap('name')),
        classes: z.record(z.string(), z.object({ level: z.int() })).optional(),
        anything: z.any().optional(),
        open: z.looseObject({ a: z.string() }).optional(),
        choices: z.array(z.enum(['x', 'y'])).optional(),
      }),
      status: z.object({ ready: z.boolean().optional() }),
    },
    v1beta1: { spec: z.object({}), served: false },
  },
});
const Other = defineResource({
  group: 'example.com',
  kind: 'Other',
  scope: 'Cluster',
  versions: { v1: { spec: z.object({ thing: z.object({ a: z.string() }) }) } },
});

function diagnostics(text: string): string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.ESNext, true);
  const program = ts.createProgram(
    ['a.ts'],
    { noLib: true },
    {
      ...ts.createCompilerHost({}),
      getSourceFile: (name) => (name === 'a.ts' ? source : undefined),
    },
  );
  return program
    .getSyntacticDiagnostics(source)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('generateKinds', () => {
  it('writes documented types and tokens, the same in any order', () => {
    const modules = generateKinds([Thing.manifest, Other.manifest]);
    expect(modules.map(({ path }) => path)).toEqual(['example.com/v1.ts']);
    expect(modules[0]?.text).toMatchSnapshot();
    expect(generateKinds([Other.manifest, Thing.manifest])).toEqual(modules);
    expect(diagnostics(modules[0]?.text ?? '')).toEqual([]);
  });

  it('takes versions that are not served when it is asked to, and refuses what is not a definition', () => {
    const paths = generateKinds([Thing.manifest], { onlyServed: false }).map(({ path }) => path);
    expect(paths).toEqual(['example.com/v1.ts', 'example.com/v1beta1.ts']);
    expect(() => generateKinds([{ kind: 'Pod', apiVersion: 'v1' }])).toThrow('found v1 Pod');
  });
});

describe('definitionsOfOpenApi', () => {
  it("reads a cluster's document: references, scopes, plurals", () => {
    const meta = { 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': { type: 'object' } };
    const gvk = { group: 'example.com', version: 'v1', kind: 'Gear' };
    const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
    const document = {
      paths: {
        '/apis/example.com/v1/namespaces/{namespace}/gears/{name}': { get: { 'x-kubernetes-group-version-kind': gvk } },
      },
      components: {
        schemas: {
          ...meta,
          'com.example.v1.Gear': {
            type: 'object',
            'x-kubernetes-group-version-kind': [gvk],
            properties: {
              metadata: { allOf: [ref('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')], default: {} },
              spec: { allOf: [ref('com.example.v1.GearSpec')], default: {}, description: 'What it is.' },
            },
          },
          'com.example.v1.GearSpec': {
            type: 'object',
            required: ['size'],
            properties: { size: { type: 'integer' }, next: ref('com.example.v1.GearSpec') },
          },
        },
      },
    };
    const [module] = generateKinds(definitionsOfOpenApi(document));
    expect(module?.path).toBe('example.com/v1.ts');
    expect(module?.text).toContain("plural: 'gears',\n  scope: 'Namespaced'");
    expect(module?.text).toContain(
      'export interface GearSpec {\n  size: number;\n  next?: Record<string, unknown>;\n}',
    );
  });
});
