import { defineResource } from '@kctl/crd';
import { z } from 'zod';
import type { Golden } from './variant.js';

const early = z.object({ count: z.int32().describe('How many.').optional() }).describe('What is wanted.');

/** `golden/markers/v1…` in TypeScript: versions, columns, subresources, names. */
export const fleet: Golden = (variant) =>
  defineResource({
    ...variant,
    group: 'markers.golden.kctl.dev',
    kind: 'Fleet',
    plural: 'fleets',
    singular: 'fleet',
    shortNames: ['fl', 'fls'],
    categories: ['all', 'ships'],
    scope: 'Cluster',
    labels: { app: 'fleet' },
    annotations: { 'example.com/owner': 'ships' },
    versions: {
      v1: {
        storage: true,
        description: 'Fleet has what can be said of a resource besides its schema.',
        spec: z
          .object({
            replicas: z.int32().describe('How many.').default(1),
            color: z.string().describe('Which color.'),
          })
          .describe('What is wanted.'),
        status: z
          .object({
            replicas: z.int32().describe('How many there are.').optional(),
            selector: z.string().describe('Which they are.').optional(),
          })
          .describe('What is there.'),
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
        printColumns: [
          { name: 'Wanted', path: '.spec.replicas', description: 'How many are wanted', format: 'int32' },
          { name: 'Color', path: '.spec.color', priority: 1 },
          { name: 'Age', path: '.metadata.creationTimestamp' },
        ],
        selectableFields: ['.spec.color', '.spec.replicas'],
      },
      v1beta1: {
        description: 'Fleet as it was in v1beta1.',
        deprecated: 'use v1',
        statusSubresource: true,
        spec: early,
      },
      v1alpha2: { description: 'Fleet as it was in v1alpha2.', skip: true, spec: early },
      v1alpha1: { description: 'Fleet as it was in v1alpha1.', served: false, spec: early },
    },
  }).manifest;
