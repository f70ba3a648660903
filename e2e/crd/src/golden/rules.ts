import { atLeastOneOf, atMostOneOf, cel, defineResource, exactlyOneOf, immutable, markers } from '@kctl/crd';
import { z } from 'zod';
import type { Golden } from './variant.js';

const text = (description: string): z.ZodOptional<z.ZodString> => z.string().describe(description).optional();

/** `golden/markers/v1` in TypeScript: what CEL can say. */
export const rules: Golden = (variant) =>
  defineResource({
    ...variant,
    group: 'markers.golden.kctl.dev',
    kind: 'Rules',
    plural: 'rules',
    versions: {
      v1: {
        description: 'Rules has what CEL can say.',
        spec: z
          .object({
            min: z.int32().describe('The smallest.'),
            max: z.int32().meta(cel('self >= oldSelf', 'only grows')).describe('The largest.'),
            name: z.string().max(20).meta(immutable()).describe('Set once.').optional(),
            phase: z
              .string()
              .meta(cel("oldSelf.hasValue() || self == 'new'", { message: 'starts as new', optionalOldSelf: true }))
              .describe('A rule that runs on create, too.')
              .optional(),
            namespace: text('A name that CEL has for itself.'),
            source: z
              .object({ git: text('A repository.'), 'oci-image': text('An image.') })
              .meta(exactlyOneOf('git', 'oci-image'))
              .describe('One of two.')
              .optional(),
            target: z
              .object({ file: text('A file.'), url: text('A link.') })
              .meta(atMostOneOf('file', 'url'))
              .describe('At most one of two.')
              .optional(),
            probe: z
              .object({ http: text('By HTTP.'), tcp: text('By TCP.') })
              .meta(atLeastOneOf('http', 'tcp'))
              .describe('At least one of two.')
              .optional(),
          })
          .meta(
            markers(
              cel('self.min <= self.max', {
                message: 'min is above max',
                reason: 'FieldValueForbidden',
                fieldPath: '.max',
              }),
              cel('!has(oldSelf.name) || has(self.name)', { messageExpression: "'keep ' + oldSelf.name" }),
            ),
          )
          .describe('The fields.'),
        rules: [cel('self.metadata.name.size() <= 30', 'the name is too long')],
      },
    },
  }).manifest;
