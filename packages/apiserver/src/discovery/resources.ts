import type { Registry } from '../registry/registry.js';
import type { KindRef, ResourceDefinition, Subresource } from '../resource/resource.js';

/** The resources of a group version, by name. */
export function definitionsOf(registry: Registry, group: string, version: string): ResourceDefinition[] {
  return registry
    .list()
    .filter((definition) => definition.group === group && definition.version === version)
    .sort((a, b) => (a.plural < b.plural ? -1 : 1));
}

/** The kind that a subresource takes and answers. */
export function kindOf(definition: ResourceDefinition, subresource: Subresource): KindRef {
  switch (subresource.type) {
    case 'self':
      return definition;
    case 'view':
      return subresource.view.kind;
    case 'action':
      return subresource.accepts;
    case 'connect':
      return subresource.kind;
  }
}
