import { defineKind, type Condition, type KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';

/** What a user asks for: a container image, how many of it, and on which port it answers. */
export interface ApplicationSpec {
  image: string;
  /** @default 1, by the CRD's schema */
  replicas?: number;
  /** @default 8080, by the CRD's schema */
  port?: number;
}

/** What the operator reports. */
export interface ApplicationStatus {
  /** The generation that this status speaks of. */
  observedGeneration?: number;
  /** How many replicas the Deployment has ready. */
  readyReplicas?: number;
  /** Where the application answers inside of the cluster. */
  address?: string;
  conditions?: Condition[];
}

export interface Application extends KubeObject {
  spec: ApplicationSpec;
  status?: ApplicationStatus;
}

/** The kind as a value: what the client, the cache and the builder take. */
export const Application = defineKind<Application>()({
  group: 'demo.kctl.dev',
  version: 'v1',
  kind: 'Application',
  scope: 'Namespaced',
});

/** The definition of the kind for the API server. */
export const applicationCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${Application.plural}.${Application.group}` },
  spec: {
    group: Application.group,
    scope: Application.scope,
    names: {
      kind: Application.kind,
      listKind: `${Application.kind}List`,
      plural: Application.plural,
      singular: 'application',
      shortNames: ['app'],
    },
    versions: [
      {
        name: Application.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Image', type: 'string', jsonPath: '.spec.image' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Available', type: 'string', jsonPath: '.status.conditions[?(@.type=="Available")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
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
                  replicas: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
                  port: { type: 'integer', minimum: 1, maximum: 65_535, default: 8080 },
                },
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: { type: 'integer' },
                  readyReplicas: { type: 'integer' },
                  address: { type: 'string' },
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['type', 'status'],
                      properties: {
                        type: { type: 'string' },
                        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
                        reason: { type: 'string' },
                        message: { type: 'string' },
                        lastTransitionTime: { type: 'string', format: 'date-time' },
                        observedGeneration: { type: 'integer' },
                      },
                    },
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
