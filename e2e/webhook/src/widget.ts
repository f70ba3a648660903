import { defineKind, type KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { hubSpokeConverter, spoke, type KindConverter } from '@kctl/webhook';

export interface WidgetV1 extends KubeObject {
  spec: { size: number; color?: string };
}

export interface WidgetV2 extends KubeObject {
  spec: { width: number; color?: string };
}

export const group = 'webhook.kctl.test';
export const WidgetV1 = defineKind<WidgetV1>()({ group, version: 'v1', kind: 'Widget', scope: 'Namespaced' });
export const WidgetV2 = defineKind<WidgetV2>()({ group, version: 'v2', kind: 'Widget', scope: 'Namespaced' });

/** v1 is stored: reading or writing v2 takes the converter. */
export const converter: KindConverter = hubSpokeConverter(
  WidgetV1,
  spoke(WidgetV1, WidgetV2, {
    toHub: ({ spec: { width, ...rest } = {} }) => ({ spec: { size: width, ...rest } }),
    fromHub: ({ spec: { size, ...rest } = {} }) => ({ spec: { width: size, ...rest } }),
  }),
);

const version = (name: string, field: string, storage: boolean) => ({
  name,
  storage,
  served: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { [field]: { type: 'integer' }, color: { type: 'string' } } },
      },
    },
  },
});

export const crd: CustomResourceDefinition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [version('v1', 'size', true), version('v2', 'width', false)],
  },
};
