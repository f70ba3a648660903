import { defineKind, type Kind } from '@kctl/apimachinery';

/** The storage version of a CustomResourceDefinition as a kind. */
export function kindOfDefinition(manifest: unknown): Kind {
  const { spec } = manifest as {
    readonly spec: {
      readonly group: string;
      readonly scope: string;
      readonly names: { readonly kind: string; readonly plural: string };
      readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
    };
  };
  const version = spec.versions.find(({ storage }) => storage)?.name ?? '';
  const scope = spec.scope === 'Cluster' ? 'Cluster' : 'Namespaced';
  return defineKind()({ group: spec.group, version, kind: spec.names.kind, plural: spec.names.plural, scope });
}
