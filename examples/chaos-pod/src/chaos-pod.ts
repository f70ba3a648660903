import { defineKind, type KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { PodTemplateSpec } from '@kctl/apimachinery/kinds/core/v1';

/** A pod that is stopped and brought back again and again. */
export interface ChaosPod extends KubeObject {
  spec: {
    /** What the pod is made from. */
    template: PodTemplateSpec;
    /** When the pod is stopped next: RFC 3339. Set by the controller. */
    nextStop?: string;
  };
  status?: {
    /** When the pod was last brought back: RFC 3339. */
    lastRun?: string;
    /** How often it was brought back. */
    runs?: number;
  };
}

export const ChaosPod = defineKind<ChaosPod>()({
  group: 'chaosapps.demo.kctl.dev',
  version: 'v1',
  kind: 'ChaosPod',
  scope: 'Namespaced',
});

export const chaosPodCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${ChaosPod.plural}.${ChaosPod.group}` },
  spec: {
    group: ChaosPod.group,
    scope: 'Namespaced',
    names: { kind: ChaosPod.kind, listKind: 'ChaosPodList', plural: ChaosPod.plural, singular: 'chaospod' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Next Stop', type: 'string', format: 'date', jsonPath: '.spec.nextStop' },
          { name: 'Runs', type: 'integer', jsonPath: '.status.runs' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['template'],
                properties: {
                  template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  nextStop: { type: 'string', format: 'date-time' },
                },
              },
              status: {
                type: 'object',
                properties: { lastRun: { type: 'string', format: 'date-time' }, runs: { type: 'integer' } },
              },
            },
          },
        },
      },
    ],
  },
};
