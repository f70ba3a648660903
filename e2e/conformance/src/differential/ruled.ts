/** A custom resource whose objects have rules in CEL. */
import type { Context } from '../harness/context.js';
import type { RandomKind } from './kinds.js';
import type { Random } from './random.js';

const GROUP = 'ruled.kctl.test';
const integer = { type: 'integer' };
const string = { type: 'string', maxLength: 20 };

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        min: integer,
        max: { ...integer, 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'max may only grow' }] },
        mode: { ...string, enum: ['open', 'closed'] },
        text: {
          ...string,
          'x-kubernetes-validations': [
            { rule: "self.matches('^[a-z]*$')", messageExpression: "'not ' + self + ', only letters'" },
          ],
        },
        items: {
          type: 'array',
          maxItems: 5,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: string, value: { ...integer, default: 1 } },
            'x-kubernetes-validations': [
              { rule: 'self.value != 13', reason: 'FieldValueForbidden', fieldPath: '.value', message: 'unlucky' },
              { rule: 'self.value >= oldSelf.value || self.value == 0', message: 'values do not shrink' },
            ],
          },
        },
        labels: {
          type: 'object',
          maxProperties: 5,
          additionalProperties: string,
          'x-kubernetes-validations': [{ rule: "self.all(key, key.startsWith('a') || self[key].size() < 3)" }],
        },
      },
      'x-kubernetes-validations': [
        {
          rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
          message: 'min is over max',
          fieldPath: '.min',
        },
        {
          rule: '!oldSelf.hasValue() || oldSelf.value().?mode.orValue("") != "closed" || self.?mode.orValue("") == "closed"',
          optionalOldSelf: true,
          reason: 'FieldValueInvalid',
          message: 'closed for ever',
        },
        { rule: '!has(self.items) || self.items.map(item, item.value).sum() <= (has(self.max) ? self.max : 100)' },
      ],
    },
  },
};

function fields(random: Random): Record<string, unknown> {
  const maybe = (probability: number, value: () => Record<string, unknown>): Record<string, unknown> =>
    random.chance(probability) ? value() : {};
  return {
    ...maybe(0.5, () => ({ min: random.pick([0, 1, 5, 9, -3, 'x']) })),
    ...maybe(0.6, () => ({ max: random.pick([0, 1, 5, 9, 20, 1.5]) })),
    ...maybe(0.4, () => ({ mode: random.pick(['open', 'closed', 'ajar', null]) })),
    ...maybe(0.5, () => ({ text: random.pick(['abc', '', 'Abc', 'x y', 'far too long for this field']) })),
    ...maybe(0.5, () => ({
      items: Array.from({ length: random.below(3) }, () => ({
        name: random.pick(['x', 'y', 'z']),
        ...maybe(0.7, () => ({ value: random.pick([0, 1, 2, 7, 13]) })),
      })),
    })),
    ...maybe(0.4, () => ({ labels: { [random.pick(['a', 'ab', 'b', 'cd'])]: random.pick(['1', '123', '']) } })),
  };
}

/** Defines it, and says how its objects are drafted. */
export async function createRuled(context: Context): Promise<readonly [weight: number, kind: RandomKind]> {
  await context.crd({
    metadata: { name: `ruled.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'ruled', singular: 'rule', kind: 'Rule', listKind: 'RuleList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const kind: RandomKind = {
    kind: 'Rule',
    apiVersion: `${GROUP}/v1`,
    path: (namespace, name, subresource) =>
      [`/apis/${GROUP}/v1/namespaces/${namespace}/ruled`, name, subresource]
        .filter((part) => part !== undefined)
        .join('/'),
    hasStatus: false,
    hasScale: false,
    isCustom: true,
    fields: (random) => (random.chance(0.97) ? { spec: fields(random) } : {}),
    change: (random) => ({ spec: fields(random) }),
    status: () => ({}),
    operations: (random) => ({
      path: `/spec/${random.pick(['min', 'max', 'mode', 'text', 'items/0/value', 'labels/a'])}`,
      value: random.pick([0, 5, 13, 'open', 'abc', null]),
    }),
    fieldSelectors: ['spec.min=1'],
  };
  return [3, kind];
}
