import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { withConversion } from '@kctl/webhook';
import { boundedName } from './names.js';

/** The Service of the webhooks; also names their certificate. */
export function webhookServiceOf({ name, namespace }: Pick<OperatorGraph, 'name' | 'namespace'>): {
  readonly name: string;
  readonly namespace: string;
} {
  return { name: boundedName(name, '-webhook'), namespace };
}

/**
 * The CustomResourceDefinitions of an operator. If it serves conversions, the API server calls it for a definition with
 * several versions, unless the definition sets its conversion.
 */
export function definitionsOf(graph: OperatorGraph): readonly DeepReadonly<KubeObject>[] {
  const path = [...graph.webhooks].find(([, { type }]) => type === 'conversion')?.[0];
  const service = webhookServiceOf(graph);
  return graph.resources.map(({ manifest }) => {
    if (path === undefined || !isDefinition(manifest)) return manifest;
    if (!needsConversion(manifest)) return manifest;
    return withConversion(manifest, {
      address: { service },
      path,
      injectCaFrom: `${service.namespace}/${service.name}`,
    });
  });
}

/**
 * Whether objects of a kind are converted by the operator, because it has several versions and does not set its
 * conversion.
 */
export function needsConversion({ spec }: DeepReadonly<CustomResourceDefinition>): boolean {
  return spec.versions.length >= 2 && spec.conversion === undefined;
}

/** Whether a manifest is a CustomResourceDefinition. */
export function isDefinition(manifest: DeepReadonly<KubeObject>): manifest is DeepReadonly<CustomResourceDefinition> {
  return manifest.kind === 'CustomResourceDefinition' && 'spec' in manifest;
}
