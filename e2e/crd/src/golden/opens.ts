import { defineResource, embeddedResource } from '@kctl/crd';
import { duration, embed, embeddedMetadata, intOrString, quantity, timestamp } from '@kctl/crd/zod';
import { LabelSelector } from '@kctl/apimachinery/schemas/meta/v1';
import { z } from 'zod';
import type { Golden } from './variant.js';

/** `golden/markers/v1` in TypeScript: what a structural schema leaves open, and the types of Kubernetes. */
export const opens: Golden = (variant) =>
  defineResource({
    ...variant,
    group: 'markers.golden.kctl.dev',
    kind: 'Opens',
    plural: 'opens',
    versions: {
      v1: {
        description: 'Opens has what a structural schema leaves open, and the types of Kubernetes.',
        schema: z.object({
          spec: z
            .object({
              values: z.looseObject({}).describe('Any object.').optional(),
              loose: z
                .looseObject({ name: z.string().describe('A name.').optional() })
                .describe('An object that keeps more than its fields.')
                .optional(),
              object: z.looseObject({}).meta(embeddedResource()).describe('A Kubernetes object.').optional(),
              json: z.unknown().describe('Any JSON.').optional(),
              anything: z.any().describe('No schema at all.').optional(),
              port: intOrString().describe('A port by number or name.').optional(),
              size: quantity().describe('How much.').optional(),
              limits: z.record(z.string(), quantity()).describe('How much of each.').optional(),
              at: timestamp().describe('When.').optional(),
              exactly: timestamp().describe('When exactly.').optional(),
              wait: z.string().describe('How long.').optional(),
              checked: duration().describe('How long, checked.').optional(),
              written: z.string().describe('A type that is written as another.').optional(),
              share: intOrString()
                .meta({ pattern: '^[0-9]+%?$', maxLength: 8 })
                .describe('An int or a string by its marker.')
                .optional(),
              selector: embed(LabelSelector).describe('What it applies to.').optional(),
              template: z
                .object({
                  metadata: embeddedMetadata().describe('Labels and annotations of what is made.').optional(),
                  color: z.string().describe('A color.').optional(),
                })
                .describe('What is made.')
                .optional(),
            })
            .describe('The fields.')
            .optional(),
        }),
      },
    },
  }).manifest;
