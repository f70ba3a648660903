import type { Kind } from '@kctl/apimachinery';
import type { FieldDifference } from '@kctl/client';
import type { Plan, PlannedChange, PlannedField, PlannedObstacle } from '@kctl/controller';
import { isSecret } from './definition/node.js';
import type { NodeResult } from './results.js';
import type { NamedResults } from './status/conditions.js';

/** States in which a node does not run. */
const held = new Set<NodeResult['state']>(['waiting', 'blocked', 'failed', 'skipped', 'paused']);

/** Fields by the target of their object. */
export type PlannedFields = ReadonlyMap<string, readonly PlannedField[]>;

/** The fields of a difference. Values of Secrets are left out. */
export function plannedFields(kind: Kind, differences: readonly FieldDifference[]): PlannedField[] {
  const isHidden = isSecret(kind);
  return differences.map(({ path, actual, desired, reason }) => ({
    path,
    ...(isHidden || actual === undefined ? {} : { before: actual }),
    ...(isHidden || desired === undefined || reason === 'noLongerDesired' ? {} : { after: desired }),
  }));
}

/** The plan of a run of dry runs. */
export function planOf(nodes: NamedResults, pruned: readonly NodeResult[], fields: PlannedFields): Plan {
  const changes: PlannedChange[] = [];
  const obstacles: PlannedObstacle[] = [];
  for (const [node, { action, state, message, target = '', differences = [] }] of nodes) {
    if (action !== 'none') changes.push({ node, target, action, differences, fields: fields.get(target) ?? [] });
    if (held.has(state)) obstacles.push({ node, state, message });
  }
  for (const { action, state, message, target = '' } of pruned)
    if (action !== 'none') changes.push({ node: undefined, target, action, differences: [], fields: [] });
    else if (held.has(state)) obstacles.push({ node: target, state, message });
  return { changes, obstacles };
}
