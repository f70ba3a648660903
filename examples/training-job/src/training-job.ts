import { defineKind, type Condition, type KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';

/** A job whose workers must run together, as distributed training needs it. */
export interface TrainingJob extends KubeObject {
  spec: {
    image: string;
    command?: string[];
    /** How many workers. @default 1, by the CRD's schema */
    workers?: number;
    /** How many failed workers are replaced before the job fails. @default 3, by the CRD's schema */
    backoffLimit?: number;
  };
  status?: TrainingJobStatus;
}

/** The state of the workers. */
export interface TrainingJobStatus {
  observedGeneration?: number;
  active?: number;
  ready?: number;
  succeeded?: number;
  failed?: number;
  conditions?: Condition[];
}

export const TrainingJob = defineKind<TrainingJob>()({
  group: 'training.demo.kctl.dev',
  version: 'v1',
  kind: 'TrainingJob',
  scope: 'Namespaced',
});

const integer = { type: 'integer', minimum: 0 };

export const trainingJobCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${TrainingJob.plural}.${TrainingJob.group}` },
  spec: {
    group: TrainingJob.group,
    scope: 'Namespaced',
    names: {
      kind: TrainingJob.kind,
      listKind: 'TrainingJobList',
      plural: TrainingJob.plural,
      singular: 'trainingjob',
      shortNames: ['tj'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.workers', statusReplicasPath: '.status.active' },
        },
        additionalPrinterColumns: [
          { name: 'Workers', type: 'integer', jsonPath: '.spec.workers' },
          { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
          { name: 'Succeeded', type: 'integer', jsonPath: '.status.succeeded' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['image'],
                properties: {
                  image: { type: 'string', minLength: 1 },
                  command: { type: 'array', items: { type: 'string' } },
                  workers: { type: 'integer', minimum: 1, maximum: 1000, default: 1 },
                  backoffLimit: { type: 'integer', minimum: 0, default: 3 },
                },
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: integer,
                  active: integer,
                  ready: integer,
                  succeeded: integer,
                  failed: integer,
                  conditions: {
                    type: 'array',
                    items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
