import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { PodTemplateSpec } from '@kctl/apimachinery/schemas/core/v1';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  cel,
  defineResource,
  exactlyOneOf,
  fromJsonSchema,
  immutable,
  isResourceDefinitionError,
  listMap,
  listSet,
} from '../index.js';
import { conditions, duration, embed, intOrString, quantity, timestamp } from '../zod/index.js';

const CronJob = defineResource({
  group: 'batch.tutorial.kctl.dev',
  kind: 'CronJob',
  scope: 'Namespaced',
  shortNames: ['cj'],
  categories: ['all'],
  versions: {
    v1: {
      storage: true,
      spec: z.object({
        schedule: z.string().min(1).describe('The schedule in Cron format.'),
        suspend: z.boolean().default(false),
        concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace']).default('Allow'),
        limit: z.int32().min(0).nullable().optional(),
        size: quantity().optional(),
        port: intOrString().optional(),
        grace: duration().optional(),
        at: timestamp().optional(),
        tags: z.array(z.string().max(20)).max(10).meta(listSet()).optional(),
        parts: z
          .array(z.object({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }))
          .meta(listMap('name'))
          .optional(),
      }),
      status: z.object({ active: z.array(z.string()).optional(), replicas: z.int32().optional() }),
      rules: [cel('self.spec.schedule != "never"', 'never is not a schedule')],
      fields: { 'spec.schedule': immutable() },
      printColumns: [
        { name: 'Suspended', path: '.spec.suspend' },
        { name: 'Age', path: '.metadata.creationTimestamp' },
      ],
      selectableFields: ['.spec.schedule'],
    },
    v1beta1: { served: false, deprecated: 'use v1', spec: z.object({ cron: z.string() }) },
  },
});

describe('defineResource', () => {
  it('is a kind token of the storage version, with the types of the schema', () => {
    expect(CronJob).toMatchObject({ apiVersion: 'batch.tutorial.kctl.dev/v1', plural: 'cronjobs', shape: 'full' });
    expect(CronJob.versions.v1beta1).toMatchObject({ version: 'v1beta1', kind: 'CronJob' });
    const kind: Kind<KubeObject & { spec: { schedule: string; suspend: boolean } }, 'Namespaced'> = CronJob;
    expect(kind.scope).toBe('Namespaced');
    const { object } = CronJob.validate({ metadata: { name: 'a' }, spec: { schedule: '* * * * *' } });
    expectTypeOf(CronJob.manifest).toEqualTypeOf<CustomResourceDefinition>();
    expectTypeOf(object.spec.concurrencyPolicy).toEqualTypeOf<'Allow' | 'Forbid' | 'Replace'>();
    expectTypeOf(object.status).toEqualTypeOf<
      { active?: string[] | undefined; replicas?: number | undefined } | undefined
    >();
    // @ts-expect-error: the schema has no such field
    expect(object.spec.bogus).toBeUndefined();
  });

  it('writes the CustomResourceDefinition', () => {
    expect(CronJob.toYaml()).toMatchSnapshot();
    expect(CronJob.toYaml()).toBe(CronJob.toYaml());
    expect(CronJob.warnings).toEqual([]);
  });

  it('writes texts that kubectl would read as something else in quotes', () => {
    const values = ['on', 'Off', 'y', '1_000', '0b1', '12:30', 'plain'];
    const spec = fromJsonSchema({ type: 'object', properties: { n: { type: 'string', enum: values } } });
    const Switch = defineResource({ group: 'example.com', kind: 'Switch', versions: { v1: { spec } } });
    expect(parse(Switch.toYaml(), { version: '1.1' })).toEqual(Switch.manifest);
    expect(Switch.toYaml()).toContain('- plain\n');
  });

  it('validates integers that no double holds', () => {
    const spec = fromJsonSchema<{ n: bigint }>({
      type: 'object',
      properties: { n: { type: 'integer', format: 'int64', minimum: 1 } },
    });
    const Big = defineResource({ group: 'example.com', kind: 'Big', versions: { v1: { spec } } });
    const n = 9_007_199_254_740_993n;
    expect(Big.validate({ metadata: { name: 'a' }, spec: { n } })).toMatchObject({
      message: '',
      object: { spec: { n } },
    });
    expect(Big.validate({ metadata: { name: 'a' }, spec: { n: -n } }).isValid).toBe(false);
  });

  it('leaves a large integer that is a number one', () => {
    const spec = fromJsonSchema<{ n: number; all: { n: number }[] }>({
      type: 'object',
      properties: {
        n: { type: 'number' },
        all: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
    });
    const Large = defineResource({ group: 'kctl.dev', kind: 'Large', versions: { v1: { spec } } });
    const given = { n: 1e20, all: [{ n: 2 ** 60 }] };
    const { object } = Large.validate({ metadata: { name: 'a' }, spec: given });
    expect(object.spec).toEqual(given);
  });

  it('validates as the API server does: defaults, pruning, schema, rules', () => {
    const old = { metadata: { name: 'a', namespace: 'b', resourceVersion: '1' }, spec: { schedule: '* * * * *' } };
    const good = CronJob.validate({ ...old, spec: { ...old.spec, bogus: 1 } as never });
    expect(good).toMatchObject({ isValid: true, pruned: ['spec.bogus'], errors: [] });
    expect(good.object).toEqual({
      apiVersion: 'batch.tutorial.kctl.dev/v1',
      kind: 'CronJob',
      metadata: { ...old.metadata },
      spec: { schedule: '* * * * *', suspend: false, concurrencyPolicy: 'Allow' },
    });
    expect(CronJob.validate({ ...old, spec: { schedule: 'never' } }).message).toBe(
      '<nil>: Invalid value: never is not a schedule',
    );
    expect(CronJob.validate({ ...old, spec: { schedule: 'x' } }, { old }).message).toBe(
      'spec.schedule: Invalid value: "x": field is immutable',
    );
    expect(CronJob.validate({ ...old, spec: { schedule: '', tags: ['a', 'a'] } }).errors).toMatchObject([
      { field: 'spec.schedule', reason: 'FieldValueInvalid' },
      { field: 'spec.tags[1]', reason: 'FieldValueDuplicate' },
    ]);
    expect(CronJob.validate({ metadata: { name: 'A_' }, spec: { schedule: 'x' } }).errors).toMatchObject([
      { field: 'metadata.name' },
    ]);
  });

  it('makes objects with defaults, and refuses those that are not valid', () => {
    const made = CronJob.create({ metadata: { name: 'a' }, spec: { schedule: '1' } });
    expect(made).toMatchObject({ kind: 'CronJob', metadata: { name: 'a' }, spec: { suspend: false } });
    expect(made.metadata.namespace).toBeUndefined();
    expect(() => CronJob.create({ metadata: { name: 'a' }, spec: { schedule: 'never' } })).toThrow(
      'CronJob is not valid: <nil>: Invalid value: never is not a schedule',
    );
  });

  it('validates a write of the status alone', () => {
    const old = { metadata: { name: 'a', namespace: 'b' }, spec: { schedule: 'x' } };
    const next = { ...old, spec: { schedule: 'ignored' }, status: { active: ['x'] } };
    const { object, isValid } = CronJob.validate(next, { old, subresource: 'status' });
    expect(isValid).toBe(true);
    expect(object).toMatchObject({ spec: { schedule: 'x' }, status: { active: ['x'] } });
    expect(() => CronJob.validate(next, { subresource: 'status' })).toThrow('needs old');
  });

  it('takes an object schema, for fields beside spec', () => {
    const Flat = defineResource({
      group: 'example.com',
      kind: 'Flat',
      scope: 'Cluster',
      versions: { v1: { schema: z.object({ data: z.record(z.string(), z.string()).optional() }) } },
    });
    expect(Flat.validate({ metadata: { name: 'a' }, data: { a: 'b' } })).toMatchObject({ isValid: true });
    expectTypeOf(Flat.validate({ metadata: { name: 'a' } }).object.data).toEqualTypeOf<
      Record<string, string> | undefined
    >();
  });

  it('keeps an optional immutable field from being removed', () => {
    const Disk = defineResource({
      group: 'example.com',
      kind: 'Disk',
      versions: {
        v1: {
          spec: z.object({ size: z.int().meta(immutable()).optional(), name: z.string().meta(immutable()) }),
          fields: { 'spec.size': cel('self > 0', 'a disk has a size') },
        },
      },
    });
    const object = (spec: object): never => ({ metadata: { name: 'a' }, spec: { name: 'x', ...spec } }) as never;
    expect(Disk.validate(object({}), { old: object({ size: 1 }) }).message).toBe(
      'spec: Invalid value: field size is immutable once set',
    );
    expect(Disk.validate(object({ size: 1 }), { old: object({}) }).isValid).toBe(true);
    expect(Disk.toYaml()).not.toContain('field name is immutable once set');
  });

  it('leaves a skipped version out of the definition', () => {
    const Hub = defineResource({
      group: 'example.com',
      kind: 'Hub',
      versions: {
        v1: { spec: z.object({ a: z.string() }) },
        v1alpha1: { skip: true, spec: z.object({ b: z.string() }) },
      },
    });
    expect(Hub.toYaml()).not.toContain('v1alpha1');
    expect(Hub.apiVersion).toBe('example.com/v1');
    const { v1alpha1 } = Hub.versions;
    expect(v1alpha1.validate({ metadata: { name: 'a' }, spec: { b: 'x' } }).isValid).toBe(true);
    expectTypeOf(Hub.create({ metadata: { name: 'a' }, spec: { a: 'x' } }).spec).toEqualTypeOf<{ a: string }>();
  });

  it('has conditions, and templates with or without their metadata', () => {
    const define = (embeddedMetadata: 'kept' | 'pruned') =>
      defineResource({
        group: 'example.com',
        kind: 'Made',
        embeddedMetadata,
        versions: {
          v1: {
            spec: z.object({ template: embed(PodTemplateSpec) }),
            status: z.object({ conditions: conditions() }),
          },
        },
      });
    const labels = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } };
    const input = { metadata: { name: 'a' }, spec: { template: labels } } as const;
    expect(define('kept').validate(input).pruned).toEqual([]);
    expect(define('pruned').validate(input).pruned).toEqual(['spec.template.metadata.labels']);
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Made',
      message: '',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    const status = { conditions: [ready, ready] } as never;
    const old = define('kept').create(input);
    expect(define('kept').validate({ ...input, status }, { old, subresource: 'status' }).errors).toMatchObject([
      { field: 'status.conditions[1]', reason: 'FieldValueDuplicate' },
    ]);
  });

  it('embeds any schema value', () => {
    const Part = fromJsonSchema<{ a: number }>({
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
    });
    const Holder = defineResource({
      group: 'example.com',
      kind: 'Holder',
      versions: { v1: { spec: z.object({ part: embed(Part).optional(), more: z.array(embed(Part)).optional() }) } },
    });
    expect(Holder.validate({ metadata: { name: 'a' }, spec: { part: { a: 1 } } }).isValid).toBe(true);
    expect(Holder.validate({ metadata: { name: 'a' }, spec: { more: [{ a: 'x' as never }] } }).errors).toMatchObject([
      { field: 'spec.more[0].a', reason: 'FieldValueTypeInvalid' },
    ]);
  });
});

function problemsOf(define: () => unknown): string[] {
  try {
    define();
  } catch (error) {
    if (!isResourceDefinitionError(error)) throw error;
    return error.problems.map(({ field, problem }) => `${field}: ${problem}`);
  }
  return [];
}

function withSpec(spec: Parameters<typeof z.object>[0], more: object = {}): () => unknown {
  return () =>
    defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec: z.object(spec), ...more } } });
}

describe('what a structural schema cannot say', () => {
  interface Tree {
    readonly next?: Tree | undefined;
  }
  let calls = 0;
  const counter = (): number => calls++;
  const tree: z.ZodType<Tree> = z.object({
    get next() {
      return tree.optional();
    },
  });
  it.each([
    ['Date', { a: z.date() }, 'v1 spec.a: date cannot be said in a structural schema'],
    [
      'a transform',
      { a: z.array(z.string().transform(Number)) },
      'v1 spec.a[]: transform cannot be said in a structural schema',
    ],
    ['a refinement', { a: z.string().refine(Boolean) }, 'v1 spec.a: refine cannot be said in a structural schema'],
    ['trimming', { a: z.string().trim() }, 'v1 spec.a: overwrite cannot be said in a structural schema'],
    [
      'flags',
      { a: z.string().regex(/a/i) },
      'v1 spec.a: regular expression flags "i" cannot be said in a structural schema',
    ],
    [
      'a union of objects',
      { a: z.union([z.object({}), z.object({ b: z.string() })]) },
      'v1 spec.a: a union of types cannot be a structural schema',
    ],
    ['recursion', { a: tree }, 'v1 spec.a.next: a recursive type cannot be a structural schema'],
    ['a tuple', { a: z.tuple([z.string()]) }, 'v1 spec.a: a tuple cannot be a structural schema'],
    [
      'names of a map',
      { a: z.record(z.string().regex(/^a/), z.string()) },
      'v1 spec.a: the names of a map cannot be limited by a structural schema',
    ],
    [
      'a protocol',
      { a: z.httpUrl() },
      'v1 spec.a: the host name or protocol of a URL cannot be said in a structural schema',
    ],
    [
      'a host name',
      { a: z.url({ hostname: /^a/ }) },
      'v1 spec.a: the host name or protocol of a URL cannot be said in a structural schema',
    ],
    [
      'a default of chance',
      { a: z.number().default(counter) },
      'v1 spec.a: a default that differs with each call cannot be said in a structural schema',
    ],
    ['bigint', { a: z.bigint() }, 'v1 spec.a: bigint cannot be said in a structural schema'],
  ])('refuses %s', (_name, spec, problem) => {
    expect(problemsOf(withSpec(spec))).toEqual([problem]);
  });

  it('refuses a pattern that is not RE2', () => {
    const [problem] = problemsOf(withSpec({ a: z.string().regex(/(?=a)b/) }));
    expect(problem).toMatch(/^v1 spec\.a: the pattern is not RE2: /);
  });

  it('takes flags that stand in the pattern', () => {
    expect(withSpec({ a: z.string().regex(/a/i) })).toThrow('write i, m and s into the pattern, as in (?i:abc)');
    const Thing = defineResource({
      group: 'example.com',
      kind: 'Thing',
      versions: { v1: { spec: z.object({ a: z.string().regex(/^(?i:abc)$/) }) } },
    });
    const isValid = (a: string): boolean => Thing.validate({ metadata: { name: 'a' }, spec: { a } }).isValid;
    expect([isValid('aBC'), isValid('abd')]).toEqual([true, false]);
  });

  it('reports every problem at once, each with its remedy', () => {
    expect(withSpec({ a: z.date(), b: z.string().refine(Boolean) })).toThrow(
      /defineResource Thing\.example\.com: \n {2}v1 spec\.a: date .*timestamp\(\)\n {2}v1 spec\.b: refine .*cel\(\) rule/,
    );
  });
});

describe('paths, rules and columns', () => {
  const spec = { a: z.string().optional(), list: z.array(z.string()).optional() };
  it.each([
    [
      'a rule',
      { rules: [cel('self.spec.bogus == 1')] },
      /^v1 x-kubernetes-validations\[0\]\.rule: .*undefined field 'bogus'/s,
    ],
    [
      'a column',
      { printColumns: [{ name: 'A', path: '.spec.bogus' }] },
      /^v1 printColumns\[0\]\.path: the schema has no field "bogus"/,
    ],
    [
      'a selectable field',
      { selectableFields: ['.spec.bogus'] },
      /selectableFields\[0\]\.jsonPath: .*does not refer to a valid field/,
    ],
    [
      'a scale path',
      { scale: { specReplicasPath: '.spec.bogus', statusReplicasPath: '.status.x' } },
      /^v1 scale\.specReplicasPath: the schema has no such field/,
    ],
    [
      'a scale path through a list',
      { scale: { specReplicasPath: '.spec.list[0]', statusReplicasPath: '.status.x' } },
      /^v1 scale\.specReplicasPath: the scale subresource finds nothing in a list or by a quoted name/,
    ],
    [
      'a column with a path that cannot be read',
      { printColumns: [{ name: 'A', path: '.spec.a[' }] },
      /^v1 printColumns\[0\]\.path: the schema has no field/,
    ],
    ['a path of fields', { fields: { 'spec.bogus': immutable() } }, /^v1 fields: the path leads to no field/],
    ['a costly rule', { rules: [cel('self.spec.list.all(x, self.spec.list.all(y, x == y))')] }, /cost/],
    [
      'a oneOf of a field that is not there',
      { fields: { spec: exactlyOneOf('a', 'bogus') } },
      /undefined field 'bogus'/,
    ],
  ])('refuses %s', (_name, more, problem) => {
    const [first] = problemsOf(withSpec(spec, more));
    expect(first).toMatch(problem);
  });

  it('refuses selectable fields that the API server would look for in the wrong place', () => {
    const twoVersions = (own: z.ZodType, selectable?: readonly string[]) => () =>
      defineResource({
        group: 'example.com',
        kind: 'Thing',
        versions: {
          v1: { spec: z.object(spec), storage: true, selectableFields: ['.spec.a'] },
          v2: { spec: own, ...(selectable !== undefined && { selectableFields: selectable }) },
        },
      });
    const other = z.object({ ...spec, b: z.string() });
    expect(twoVersions(z.object(spec))).toThrow('let their schemas differ, by a description at least');
    expect(twoVersions(other, ['.spec.a'])).toThrow('let the selectable fields of the versions differ');
    for (const fine of [twoVersions(other), twoVersions(other, ['.spec.b']), twoVersions(z.object(spec), ['.spec.a'])])
      expect(fine).not.toThrow();
  });

  it('refuses a scale path whose field has another type, and warns of a column that stays empty', () => {
    const replicas = z.object({ replicas: z.int32() });
    const paths = {
      specReplicasPath: '.spec.a',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.replicas',
    };
    expect(problemsOf(withSpec(spec, { status: replicas, scale: paths }))).toEqual([
      'v1 scale.specReplicasPath: the field is of type string, and the scale subresource reads type integer',
      'v1 scale.labelSelectorPath: the field is of type integer, and the scale subresource reads type string',
    ]);
    const columns = [
      { name: 'A', path: '.spec.a', type: 'integer' },
      { name: 'B', path: '.spec.b', type: 'number' },
      { name: 'C', path: '.spec.a', type: 'date' },
    ] as const;
    const Thing = defineResource({
      group: 'example.com',
      kind: 'Thing',
      versions: { v1: { spec: z.object({ a: z.string(), b: z.int32() }), printColumns: columns } },
    });
    expect(Thing.warnings).toEqual([
      'v1 printColumns[0].path: a column of type integer stays empty: .spec.a is of type string',
    ]);
  });

  it('writes -0 as JSON does, so that messages have the bound of the API server', () => {
    const Thing = defineResource({
      group: 'example.com',
      kind: 'Thing',
      versions: { v1: { spec: z.object({ a: z.number().min(-0) }) } },
    });
    const messageOf = (a: number): string => Thing.validate({ metadata: { name: 'a' }, spec: { a } }).message;
    expect([messageOf(-1), messageOf(-1.5)]).toEqual([
      'spec.a: Invalid value: -1: spec.a in body should be greater than or equal to 0',
      'spec.a: Invalid value: -1.5: spec.a in body should be greater than or equal to 0',
    ]);
  });

  it('names the field of a zod object that is not a zod schema', () => {
    const foreign: unknown = fromJsonSchema({ type: 'string' });
    const fields = { list: z.array(z.object({ a: foreign as z.ZodString })) };
    expect(problemsOf(withSpec(fields))).toEqual([
      'v1 spec: field .list[].a is not a zod schema: wrap it in embed() of @kctl/crd/zod',
    ]);
  });

  it('checks defaults, the rules of their fields included', () => {
    const tooLong = { a: z.string().max(2).default('abc') };
    expect(problemsOf(withSpec(tooLong))[0]).toMatch(/^v1 spec\.a\.default: Too long/);
    const unruly = { a: z.string().max(9).default('abc').meta(cel('self != "abc"', 'not abc')) };
    expect(problemsOf(withSpec(unruly))).toEqual(['v1 spec.a.default: Invalid value: "abc": not abc']);
    const starts = cel('oldSelf.hasValue() || self == "new"', { message: 'starts as new', optionalOldSelf: true });
    expect(problemsOf(withSpec({ a: z.string().max(9).default('old').meta(starts) }))).toEqual([
      'v1 spec.a.default: Invalid value: "old": starts as new',
    ]);
    expect(problemsOf(withSpec({ a: z.string().max(9).default('new').meta(starts) }))).toEqual([]);
  });

  it('wants exactly one storage version, and a group with a dot', () => {
    const twice = (): unknown =>
      defineResource({
        group: 'example.com',
        kind: 'A',
        versions: { v1: { spec: z.object({}) }, v2: { spec: z.object({}) } },
      });
    expect(problemsOf(twice)[0]).toContain('must have exactly one version marked as storage version');
    const core = (): unknown =>
      defineResource({ group: 'example', kind: 'A', versions: { v1: { spec: z.object({}) } } });
    expect(problemsOf(core)[0]).toContain('should be a domain with at least one dot');
  });
});
