import { compareText, goQuoted } from '@kctl/crd/internal/engine';
import { managerId, type Manager } from './managers.js';
import { printPath, type PathElement } from './path-element.js';

/** A field that an applier wants otherwise than its owner. */
export interface Conflict {
  readonly manager: Manager;
  readonly path: readonly PathElement[];
}

/** A configuration that is at odds with other managers. */
export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(describeConflicts(conflicts));
    this.conflicts = conflicts;
  }
}

/** A manager as messages print it: `"kubectl" with subresource "status" using v1`. */
export function printManager({ manager, subresource, operation, apiVersion }: Manager): string {
  const within = subresource === '' ? '' : ` with subresource ${goQuoted(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${goQuoted(manager)}${within}${using}`;
}

function describeConflicts(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printManager(first.manager)}: ${printPath(first.path)}`;
  }
  const groups = new Map<string, Conflict[]>();
  for (const conflict of conflicts) {
    const id = managerId(conflict.manager);
    groups.set(id, [...(groups.get(id) ?? []), conflict]);
  }
  const lines = [...groups]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([, group]) => [
      ...group.slice(0, 1).map(({ manager }) => `conflicts with ${printManager(manager)}:`),
      ...group.map(({ path }) => `- ${printPath(path)}`),
    ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
