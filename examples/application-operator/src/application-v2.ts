import { defineKind, type KubeObject } from '@kctl/apimachinery';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Application, applicationCrd, type ApplicationStatus } from './application.js';

/** The second version: the image in two parts, and a stage. */
export interface ApplicationV2 extends KubeObject {
  spec: {
    image: {
      /** Registry and name, without a tag or with a digest in it. */
      repository: string;
      tag?: string;
    };
    /** @default 1, by the CRD's schema */
    replicas?: number;
    /** @default 8080, by the CRD's schema */
    port?: number;
    /** Where it runs; v1 keeps it in an annotation. */
    stage?: 'staging' | 'production';
  };
  status?: ApplicationStatus;
}

export const ApplicationV2 = defineKind<ApplicationV2>()({
  group: Application.group,
  version: 'v2',
  kind: Application.kind,
  scope: 'Namespaced',
});

/** The definition with both versions. Objects are stored as v1; `withConversion` says which webhook converts them. */
export function bothVersions(crd: CustomResourceDefinition = applicationCrd): CustomResourceDefinition {
  return {
    ...crd,
    spec: { ...crd.spec, versions: crd.spec.versions.flatMap((version) => [version, second(version)]) },
  };
}

function second(first: CustomResourceDefinitionVersion): CustomResourceDefinitionVersion {
  const schema = first.schema?.openAPIV3Schema;
  const { image: _, ...common } = schema?.properties?.['spec']?.properties ?? {};
  return {
    ...first,
    name: ApplicationV2.version,
    storage: false,
    additionalPrinterColumns: [
      { name: 'Repository', type: 'string', jsonPath: '.spec.image.repository' },
      { name: 'Tag', type: 'string', jsonPath: '.spec.image.tag' },
      { name: 'Stage', type: 'string', jsonPath: '.spec.stage' },
      ...(first.additionalPrinterColumns ?? []).filter(({ name }) => name !== 'Image'),
    ],
    schema: {
      openAPIV3Schema: {
        ...schema,
        properties: {
          ...schema?.properties,
          spec: {
            type: 'object',
            required: ['image'],
            properties: {
              ...common,
              image: {
                type: 'object',
                required: ['repository'],
                properties: {
                  // No tag after the last slash: it has a field of its own.
                  repository: { type: 'string', minLength: 1, pattern: '^(.*/)?[^/:]+(@sha256:[0-9a-f]+)?$' },
                  tag: { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$' },
                },
              },
              stage: { type: 'string', enum: ['staging', 'production'] },
            },
          },
        },
      },
    },
  };
}
