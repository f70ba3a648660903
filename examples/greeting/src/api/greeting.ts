import { defineResource } from '@kctl/crd';
import { z } from 'zod';

/** The custom resource: its type, its kind and its CustomResourceDefinition follow from these schemas. */
export const Greeting = defineResource({
  group: 'example.com',
  kind: 'Greeting',
  versions: {
    v1: {
      spec: z.object({
        message: z.string().min(1).max(1000).describe('The text to publish.'),
      }),
      status: z.object({
        published: z.string().optional().describe('The text that is published.'),
      }),
      printColumns: [{ name: 'Message', path: '.spec.message' }],
    },
  },
});
