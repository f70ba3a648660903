import { isObject } from '@kctl/crd/internal/engine';
import type { Atom } from '../../managed-fields/atom.js';

/**
 * The paths at which a configuration would replace a list, map or struct that is owned as a whole, losing all that it
 * does not name there.
 */
export function atomicPaths(value: unknown, atom: Atom, path = ''): string[] {
  const paths: string[] = [];
  if (isObject(value) && atom.map !== undefined) {
    if (atom.map.isAtomic) paths.push(path);
    for (const [name, item] of Object.entries(value)) {
      const field = atom.map.field(name);
      if (field !== undefined) paths.push(...atomicPaths(item, field.type, `${path}.${name}`));
    }
  } else if (Array.isArray(value) && atom.list !== undefined) {
    if (atom.list.isAtomic) paths.push(path);
    for (const [index, item] of value.entries()) paths.push(...atomicPaths(item, atom.list.items, `${path}[${index}]`));
  }
  return paths;
}
