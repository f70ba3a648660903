import { defineKind, type Kind, type KubeObject } from '@kctl/apimachinery';

export interface Widget extends KubeObject {
  spec: { size?: number; color?: string; parts?: string[] };
}
export const Widget: Kind<Widget, 'Namespaced'> = defineKind<Widget>()({
  group: 'ex.io',
  version: 'v1',
  kind: 'Widget',
  scope: 'Namespaced',
});

export const widget = (size = 1): Widget => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'a', uid: 'x-1' },
  spec: { size },
});

/** An AdmissionReview; `request` replaces members, undefined removes them. */
export function review(
  operation: string,
  request: Record<string, unknown> = {},
  apiVersion = 'admission.k8s.io/v1',
): object {
  const isThere = (name: string): boolean => (name === 'object' ? operation !== 'DELETE' : operation !== 'CREATE');
  return {
    apiVersion,
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: 'ex.io', version: 'v1', kind: 'Widget' },
      resource: { group: 'ex.io', version: 'v1', resource: 'widgets' },
      name: 'w',
      namespace: 'a',
      operation,
      userInfo: { username: 'jane' },
      object: isThere('object') ? widget() : null,
      oldObject: isThere('oldObject') ? widget() : null,
      ...request,
    },
  };
}

export function conversionReview(objects: unknown, desiredAPIVersion: unknown = 'ex.io/v2'): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'c1', desiredAPIVersion, objects },
  };
}

/** An object nested `depth` deep, as JSON text. */
export function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}
