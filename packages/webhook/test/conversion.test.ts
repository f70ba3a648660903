// Case by case after controller-runtime v0.25 pkg/webhook/conversion/conversion_test.go.
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  conversionWebhook,
  hubSpokeConverter,
  roundTripProblems,
  spoke,
  type Converter,
  type WebhookHandler,
} from '../src/index.js';
import { uncoveredVersions } from '../src/internal/index.js';
import { conversionReview, nested, widget } from './fixtures.js';
import { harness } from './in-process.js';

interface WidgetV2 extends KubeObject {
  spec: { dimensions: { size?: number }; color?: string };
}
interface WidgetV3 extends KubeObject {
  spec: { sizes: number[]; color?: string };
}
interface WidgetV1 extends KubeObject {
  spec: { size?: number; color?: string };
}
const of = <T extends KubeObject>(version: string, group = 'ex.io', kind = 'Widget') =>
  defineKind<T>()({ group, version, kind, scope: 'Namespaced' });
const [V1, V2, V3] = [of<WidgetV1>('v1'), of<WidgetV2>('v2'), of<WidgetV3>('v3')];

const v1 = spoke(V2, V1, {
  toHub: ({ spec: { size, ...rest } = {} }) => ({ spec: { ...rest, dimensions: size === undefined ? {} : { size } } }),
  fromHub: ({ spec: { dimensions, ...rest } = {} }) => ({ spec: { ...rest, ...dimensions } }),
});
const v3 = spoke(V2, V3, {
  toHub: ({ spec: { sizes, ...rest } = {} }) => ({
    spec: { ...rest, dimensions: sizes?.[0] === undefined ? {} : { size: sizes[0] } },
  }),
  fromHub: ({ spec: { dimensions, ...rest } = {} }) => ({
    spec: { ...rest, sizes: dimensions?.size === undefined ? [] : [dimensions.size] },
  }),
});
const converter = hubSpokeConverter(V2, v1, v3);
const hubbed = { ...widget(), apiVersion: 'ex.io/v2', spec: { dimensions: { size: 1 } } };

const send = async (convert: Converter, body: unknown) => {
  const hook = harness(conversionWebhook(convert));
  return { ...(await hook.send(body)), hook };
};

describe('conversionWebhook', () => {
  it.each([
    ['spoke to hub', widget(), 'ex.io/v2', { dimensions: { size: 1 } }],
    ['hub to spoke', hubbed, 'ex.io/v3', { sizes: [1] }],
    ['spoke to spoke', widget(), 'ex.io/v3', { sizes: [1] }],
  ])('converts %s', async (_way, object, desired, spec) => {
    const { body } = await send(converter, conversionReview([object], desired));
    expect(body).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: {
        uid: 'c1',
        result: { status: 'Success' },
        convertedObjects: [{ ...object, apiVersion: desired, spec }],
      },
    });
  });

  it.each([
    ['no metadata', { spec: { size: 1 } }, { metadata: {}, spec: { dimensions: { size: 1 } } }],
    ['nothing but its kind', {}, { metadata: {}, spec: { dimensions: {} } }],
    ['metadata alone', { metadata: { name: 'a' } }, { metadata: { name: 'a' }, spec: { dimensions: {} } }],
    ['a spec without its fields', { metadata: {}, spec: {} }, { metadata: {}, spec: { dimensions: {} } }],
  ])('converts an object with %s, as a server sends while it prunes', async (_what, part, expected) => {
    const object = { apiVersion: 'ex.io/v1', kind: 'Widget', ...part };
    const converted = { apiVersion: 'ex.io/v2', kind: 'Widget', ...expected };
    expect((await send(converter, conversionReview([object]))).body.response).toMatchObject({
      result: { status: 'Success' },
      convertedObjects: [converted],
    });
    // What is in the desired version already comes back, with the metadata that the server demands.
    const same = await send(converter, conversionReview([object], 'ex.io/v1'));
    expect(same.body.response.convertedObjects).toEqual([{ metadata: {}, ...object }]);
    const bare: Converter = ({ metadata: _, ...rest }) => ({ ...rest, apiVersion: 'ex.io/v2' }) as never;
    if (!('metadata' in part) || Object.keys(part.metadata).length === 0)
      expect((await send(bare, conversionReview([object]))).body.response.convertedObjects).toMatchObject([
        { metadata: {} },
      ]);
  });

  it('answers a review of v1beta1 in kind', async () => {
    const { body } = await send(converter, {
      ...conversionReview([widget()]),
      apiVersion: 'apiextensions.k8s.io/v1beta1',
    });
    expect(body).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      response: { result: { status: 'Success' } },
    });
  });

  it.each<[string, unknown, number]>([
    ['no JSON', '{', 400],
    ['no request', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }, 400],
    ['no review', { kind: 'Pod', request: {} }, 400],
    [
      'another version of reviews',
      { apiVersion: 'apiextensions.k8s.io/v2', kind: 'ConversionReview', request: {} },
      400,
    ],
    ['no objects', conversionReview(undefined), 400],
    ['no desired version', conversionReview([], ''), 400],
    [
      'an object nested 9,900 deep',
      `{"kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"ex.io/v2","objects":[${nested(9_900)}]}}`,
      400,
    ],
  ])('answers %s with HTTP %3$i', async (_what, body, code) => {
    const answer = await send(converter, body);
    expect(answer.code).toBe(code);
    expect(answer.body.response.result.status).toBe('Failure');
    expect(answer.hook.metrics.get('controller_runtime_conversion_webhook_panics_total')).toBe(0);
  });

  const returning = (change: (object: any) => unknown): Converter =>
    ((object: KubeObject) => change(object)) as Converter;
  const v2 = (object: object): object => ({ ...object, apiVersion: 'ex.io/v2' });
  const cycle = (object: object): object => {
    const spec: Record<string, unknown> = {};
    spec['self'] = spec;
    return { ...v2(object), spec };
  };
  let deep: unknown = 1;
  for (let depth = 0; depth < 50_000; depth++) deep = { deep };

  it.each<[string, Converter, unknown, RegExp]>([
    [
      'another group',
      converter,
      conversionReview([widget()], 'other.io/v2'),
      /^Widget a\/w: "ex.io\/v1" and "other.io\/v2" do not belong to the same API group$/,
    ],
    [
      'a version without converter',
      converter,
      conversionReview([widget()], 'ex.io/v9'),
      /^Widget a\/w: no conversion for version v9 of Widget.ex.io: there are v2, v1, v3$/,
    ],
    ['an object that is null', converter, conversionReview([null]), /not an object with metadata/],
    ['an object without a kind', converter, conversionReview([{ apiVersion: 'ex.io/v1' }]), /apiVersion and kind/],
    [
      'an object whose metadata is a list',
      converter,
      conversionReview([{ apiVersion: 'ex.io/v1', kind: 'Widget', metadata: [] }]),
      /metadata is not an object/,
    ],
    [
      'a converter that throws',
      () => {
        throw new Error('boom');
      },
      conversionReview([widget()]),
      /^Widget a\/w: boom$/,
    ],
    [
      'a converter with a mistake',
      () => {
        throw new TypeError('x of undefined');
      },
      conversionReview([widget()]),
      /^Widget a\/w: internal error occurred during conversion$/,
    ],
    [
      'a converter that returns nothing',
      returning(() => undefined),
      conversionReview([widget()]),
      /^Widget a\/w: the converter returned no object$/,
    ],
    ['a converter that returns a list', returning(() => []), conversionReview([widget()]), /returned no object/],
    [
      'a converter that keeps the version',
      returning((object) => object),
      conversionReview([widget()]),
      /returned apiVersion ex.io\/v1 instead of ex.io\/v2/,
    ],
    [
      'a converter that changes the kind',
      returning((object) => ({ ...v2(object), kind: 'Pod' })),
      conversionReview([widget()]),
      /returned kind Pod instead of Widget/,
    ],
    [
      'a converter that renames',
      returning((object) => ({ ...v2(object), metadata: { name: 'x' } })),
      conversionReview([widget()]),
      /changed metadata other than labels and annotations/,
    ],
    [
      'a converter that drops metadata',
      returning((object) => ({ ...v2(object), metadata: undefined })),
      conversionReview([widget()]),
      /returned no metadata/,
    ],
    [
      'a converter that returns a cycle',
      returning(cycle),
      conversionReview([widget()]),
      /^Widget a\/w: the converter returned what cannot be written as JSON: it has a cycle/,
    ],
    [
      'a converter that nests 50,000 deep',
      returning((object) => ({ ...v2(object), spec: deep })),
      conversionReview([widget()]),
      /deeper than 1000 levels/,
    ],
    [
      'a converter that returns NaN',
      returning((object) => ({ ...v2(object), spec: { size: Number.NaN } })),
      conversionReview([widget()]),
      /it holds NaN/,
    ],
    [
      'a converter that returns a function',
      returning((object) => ({ ...v2(object), spec: () => 1 })),
      conversionReview([widget()]),
      /it holds a function/,
    ],
  ])('fails the review for %s, naming the object', async (_what, convert, body, message) => {
    const answer = await send(convert, body);
    expect(answer.code).toBe(200);
    expect(answer.body.response).toMatchObject({ uid: 'c1', convertedObjects: [], result: { status: 'Failure' } });
    expect(answer.body.response.result.message).toMatch(message);
  });

  it('names the one object of many that fails', async () => {
    const objects = Array.from({ length: 200 }, (_, i) => ({ ...widget(), metadata: { name: `w-${i}` } }));
    const convert: Converter = (object) => {
      if (object.metadata.name === 'w-150') throw new Error('no');
      return { ...object, apiVersion: 'ex.io/v2' };
    };
    expect((await send(convert, conversionReview(objects))).body.response.result.message).toBe('Widget w-150: no');
  });

  it('counts a converter that throws as a panic of conversions', async () => {
    const { hook } = await send(
      () => {
        throw new Error('boom');
      },
      conversionReview([widget()]),
    );
    expect(hook.metrics.get('controller_runtime_conversion_webhook_panics_total')).toBe(1);
    expect(hook.metrics.get('controller_runtime_webhook_panics_total')).toBe(0);
  });

  it('keeps integers beyond 2^53', async () => {
    const text = JSON.stringify(conversionReview([{ ...widget(), spec: { n: '@' } }])).replace(
      '"@"',
      '9007199254740993',
    );
    const { text: answer } = await send((object, apiVersion) => ({ ...object, apiVersion }), text);
    expect(answer).toContain('9007199254740993');
  });
});

describe('hubSpokeConverter', () => {
  it.each<[string, () => WebhookHandler | Converter, string]>([
    [
      'a spoke of another kind',
      () => hubSpokeConverter(V2, spoke(V2, of('v1', 'ex.io', 'Gadget'), v1 as never)),
      'spoke converter GroupKind Gadget.ex.io does not match hub GroupKind Widget.ex.io',
    ],
    [
      'a spoke of another group',
      () => hubSpokeConverter(V2, spoke(V2, of('v1', 'x.io'), v1 as never)),
      'does not match hub GroupKind',
    ],
    [
      'the same spoke twice',
      () => hubSpokeConverter(V2, v1, v1),
      'failed to create hub spoke converter for Widget: duplicate spoke converter for version v1',
    ],
    ['the hub as spoke', () => hubSpokeConverter(V2, spoke(V2, V2, v1 as never)), 'version v2 is the hub'],
  ])('refuses %s', (_what, create, message) => {
    expect(create).toThrow(message);
  });

  it('keeps the metadata of a result that has none, also where it is undefined', async () => {
    const convert = hubSpokeConverter(
      V2,
      spoke(V2, V1, {
        toHub: () => ({ metadata: undefined, spec: { dimensions: {} } }) as never,
        fromHub: () => ({ spec: {} }),
      }),
    );
    const metadata = { name: 'a' };
    expect((await convert({ apiVersion: V1.apiVersion, kind: 'Widget', metadata }, V2.apiVersion)).metadata).toBe(
      metadata,
    );
  });

  it('says which versions of a CRD it leaves out', () => {
    expect(uncoveredVersions(converter, ['v1', 'v2', 'v3'])).toBeUndefined();
    expect(uncoveredVersions(hubSpokeConverter(V2, v1), ['v1', 'v2', 'v3', 'v4'])).toBe(
      'the converter of Widget in group "ex.io" does not convert version v3, v4: it has v1, v2',
    );
    expect(uncoveredVersions((object) => object, ['v1'])).toBeUndefined();
  });
});

describe('roundTripProblems', () => {
  const versions = ['ex.io/v1', 'ex.io/v2', 'ex.io/v3'];
  const widgets = fc.record({
    apiVersion: fc.constant('ex.io/v1'),
    kind: fc.constant('Widget'),
    metadata: fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) }),
    spec: fc.record({ size: fc.integer(), color: fc.string() }, { requiredKeys: [] }),
  });

  it('finds nothing with a converter that keeps everything', async () => {
    await fc.assert(
      fc.asyncProperty(widgets, async (object) => {
        expect(await roundTripProblems(converter, object, versions)).toEqual([]);
      }),
    );
  });

  it('takes parts of objects, also without metadata', async () => {
    const keeping = hubSpokeConverter(
      V2,
      spoke(V2, V1, {
        toHub: ({ spec, ...object }) => (spec === undefined ? object : { ...object, spec: { color: spec.color } }),
        fromHub: ({ spec, ...object }) => (spec === undefined ? object : { ...object, spec: { color: spec.color } }),
      }),
    );
    for (const part of [{}, { spec: {} }, { spec: { color: 'red' } }, { metadata: { name: 'a' } }]) {
      const object = { apiVersion: 'ex.io/v1', kind: 'Widget', ...part };
      expect(await roundTripProblems(keeping, object, ['ex.io/v1', 'ex.io/v2'])).toEqual([]);
    }
  });

  it('names the field that a converter loses, and the way', async () => {
    const lossy = hubSpokeConverter(
      V2,
      v1,
      spoke(V2, V3, { toHub: () => ({ spec: { dimensions: {} } }), fromHub: () => ({ spec: { sizes: [] } }) }),
    );
    expect(await roundTripProblems(lossy, widget(), versions)).toEqual([
      'ex.io/v1 → ex.io/v3 → ex.io/v1: loses /spec/size',
    ]);
  });
});
