import { cel, defineResource, embeddedResource, format, listMap } from '@kctl/crd';
import { intOrString } from '@kctl/crd/zod';
import { z } from 'zod';
import type { Golden } from './variant.js';

const anyObject = (): z.ZodType => z.looseObject({}).meta(embeddedResource());
const part = z
  .object({ name: z.string().min(1).describe('A name.'), size: z.int32().describe('A size.').optional() })
  .describe('Part is a part of a list.');
const rule = cel("self != 'bad'", { message: 'bad is not good', reason: 'FieldValueForbidden' });

/** `golden/markers/v1` in TypeScript: the markers of items, and the second spelling of those that have two. */
export const spellings: Golden = (variant) =>
  defineResource({
    ...variant,
    group: 'markers.golden.kctl.dev',
    kind: 'Spellings',
    plural: 'spellings',
    versions: {
      v1: {
        description: 'Spellings has the markers of items, and the second spelling of those that have two.',
        spec: z
          .object({
            bounded: z
              .array(z.int().gt(1).lt(9).multipleOf(2).meta(format('int64')))
              .describe('Bounds of each number.')
              .optional(),
            chosen: z
              .array(z.enum(['a', 'b']))
              .describe('One of two each.')
              .optional(),
            formed: z
              .array(
                z
                  .string()
                  .min(2)
                  .max(8)
                  .regex(/^[a-z]+$/),
              )
              .describe('Texts of a form.')
              .optional(),
            addresses: z
              .array(z.string().meta(format('ipv6')))
              .describe('Addresses.')
              .optional(),
            sized: z.array(z.array(z.string()).min(1).max(3)).describe('Lists of a size.').optional(),
            named: z
              .array(z.record(z.string(), z.string()).meta({ minProperties: 1, maxProperties: 3 }))
              .describe('Maps of a size.')
              .optional(),
            ports: z.array(intOrString()).describe('Ints or strings.').optional(),
            objects: z.array(anyObject()).describe('Kubernetes objects.').optional(),
            object: anyObject().describe('A Kubernetes object.').optional(),
            written: z
              .array(z.string().describe('Written is a text, whatever it is in Go.'))
              .describe('A type of the items.')
              .optional(),
            ruled: z.array(z.string().max(10).meta(rule)).max(5).describe('A rule for each.').optional(),
            parts: z
              .array(part)
              .max(4)
              .meta(listMap('name'))
              .describe('A list by a key, in the spelling of declarative validation.')
              .optional(),
            least: z.int32().min(1).describe('The smallest.').optional(),
          })
          .describe('The fields.'),
        printColumns: [
          {
            name: 'Least',
            path: '.spec.least',
            type: 'integer',
            format: 'int32',
            description: 'The smallest',
            priority: 1,
          },
        ],
      },
    },
  }).manifest;
