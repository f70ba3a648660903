/** Steps of a path that has only names, as `specReplicasPath` must be: `.spec.replicas` → `['spec', 'replicas']`. */
export function simplePath(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}
