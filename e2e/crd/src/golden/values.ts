import { defineResource, externalDocs, format, listAtomic, listMap, listSet, mapAtomic, mapGranular } from '@kctl/crd';
import { z } from 'zod';
import type { Golden } from './variant.js';

const group = 'markers.golden.kctl.dev';

/** `golden/markers/v1` in TypeScript: strings. */
export const texts: Golden = (variant) =>
  defineResource({
    ...variant,
    group,
    kind: 'Texts',
    plural: 'texts',
    versions: {
      v1: {
        description: 'Texts has what can be said of strings.',
        spec: z
          .object({
            name: z
              .string()
              .min(2)
              .max(63)
              .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
              .describe('A text between bounds.'),
            mode: z.enum(['Slow', 'Fast', 'Very fast']).describe('One of three.').default('Fast'),
            level: z.enum(['High', 'Low']).describe('An enum by its constants.').optional(),
            label: z
              .string()
              .meta({ title: 'The label', examples: ['blue-1'] })
              .describe('A text with a title and an example.\nIt has two lines.\n\nAnd a second paragraph.')
              .optional(),
            note: z.string().nullable().describe('May be null.').optional(),
            bare: z.string().optional(),
            address: z.string().meta(format('ipv4')).describe('An address.').optional(),
            link: z
              .string()
              .meta({ ...format('uri'), ...externalDocs('https://example.com/links', 'About links') })
              .describe('A link.')
              .optional(),
            data: z.string().meta(format('byte')).describe('Raw bytes.').optional(),
            switch: z.string().describe('A default as Kubernetes writes it.').default('on'),
          })
          .describe('The fields.'),
      },
    },
  }).manifest;

/** Numbers. */
export const numbers: Golden = (variant) =>
  defineResource({
    ...variant,
    group,
    kind: 'Numbers',
    plural: 'numbers',
    singular: 'number',
    versions: {
      v1: {
        description: 'Numbers has what can be said of numbers.',
        schema: z.object({
          spec: z
            .object({
              small: z.int32().min(1).max(10).describe('Between bounds.').default(3),
              open: z.int().gt(0).lt(100).meta(format('int64')).describe('Beyond its bounds.').optional(),
              steps: z.int().multipleOf(5).meta(format('int64')).describe('In steps.').optional(),
              plain: z.int().describe('Without a size.').optional(),
              power: z
                .union([z.literal(1), z.literal(2), z.literal(4)])
                .meta(format('int32'))
                .describe('One of some numbers.')
                .optional(),
              ratio: z.number().min(0).max(1).describe('A fraction.').optional(),
              declared: z.int32().min(2).max(8).describe('By its markers of declarative validation.').optional(),
              flag: z.boolean().describe('Yes or no.').default(true),
            })
            .describe('The fields.')
            .optional(),
        }),
      },
    },
  }).manifest;

const Port = z
  .object({
    name: z.string().max(15).describe('The name of the port.'),
    protocol: z.string().describe('How it is reached.').default('TCP'),
    number: z.int32().describe('Its number.').optional(),
  })
  .describe('Port is a part of a list.');
const Point = z.object({ x: z.int32().describe('Across.'), y: z.int32().describe('Up.') });

/** Lists, maps and objects, and who owns them. */
export const lists: Golden = (variant) =>
  defineResource({
    ...variant,
    group,
    kind: 'Lists',
    plural: 'lists',
    versions: {
      v1: {
        description: 'Lists has what can be said of lists and maps.',
        spec: z
          .object({
            tags: z.array(z.string().min(1).max(10)).min(1).max(5).meta(listSet()).describe('A set of texts.'),
            ports: z.array(Port).meta(listMap('name', 'protocol')).describe('A list by two keys.').optional(),
            order: z.array(z.string()).meta(listAtomic()).describe('A list with one owner.').default(['a', 'b']),
            rows: z.array(z.array(z.int32())).describe('A list of lists.').optional(),
            labels: z
              .record(z.string(), z.string())
              .meta({ minProperties: 1, maxProperties: 4 })
              .describe('A map of texts.')
              .optional(),
            limits: z
              .record(z.string(), z.int().meta(format('int64')))
              .meta(mapAtomic())
              .describe('A map with one owner.')
              .optional(),
            places: z.record(z.string(), Port).meta(mapGranular()).describe('A map of objects.').optional(),
            point: Point.meta(mapAtomic()).describe('An object with one owner.').optional(),
            start: Point.meta(mapGranular()).describe('An object with a default.').default({ x: 1, y: 2 }),
          })
          .describe('The fields.'),
      },
    },
  }).manifest;
