import type { UntypedObject } from '@kctl/apimachinery';
import { ApplyConflictError } from '../managed-fields/conflicts.js';
import { updateOwners, type AppliedOwners } from '../managed-fields/updater.js';
import { unclassified } from '../protocol/status.js';
import { conflictStatus, describeType, readConfig, requireType, tryApply, type Application } from './apply.js';
import type { WriteBackend } from './call.js';
import { scaleChange, type ScaleOwners, type ScaleWrite } from './scale-owners.js';

/** A view that an apply has changed, and its owners. */
export interface AppliedView {
  readonly object: UntypedObject;
  readonly owners: ScaleOwners;
}

/** Applies a configuration to the Scale of an object. @throws StatusError 400, 409, 500 */
export function applyView(backend: WriteBackend, write: ScaleWrite, { config, isForced }: Application): AppliedView {
  const { kind } = write.view;
  const change = scaleChange(backend, write, 'Apply');
  const { writer, live } = change;
  const type = change.versions.find(writer.apiVersion);
  if (type === undefined) throw new RangeError(`${writer.apiVersion} is not known`);
  requireType(kind, config);
  let { managers } = change;
  if (managers.size === 0) {
    const { isCustom } = write.definition;
    if (isCustom)
      throw unconvertible(
        'failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale)',
      );
    const first = { ...writer, manager: 'before-first-apply', operation: 'Update' } as const;
    const empty = { kind: kind.kind, apiVersion: writer.apiVersion, metadata: {}, spec: {}, status: { replicas: 0 } };
    managers = updateOwners({ ...change, writer: first, live: empty }, live);
  }
  const wanted = readConfig({ ...kind, atom: type.atom }, config);
  let applied: AppliedOwners;
  try {
    applied = tryApply({ ...change, managers }, wanted, isForced);
  } catch (error) {
    throw error instanceof ApplyConflictError ? conflictStatus(error) : error;
  }
  if (applied.object !== undefined && write.definition.isCustom) {
    const { namespace = '', name = '' } = wanted.metadata;
    throw unconvertible(`failed to convert new object (${namespace}/${name}; ${describeType(wanted)})`);
  }
  return { object: applied.object ?? live, owners: { before: change.managers, after: applied.managers } };
}

/** Upstream's converter of custom resources does not know Scale, so an apply that would change one fails. */
function unconvertible(what: string): Error {
  return unclassified(`${what} to proper version: request to convert CR to an invalid group/version: autoscaling/v1`);
}
