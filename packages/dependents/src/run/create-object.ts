import { isNotFound } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { applyFields } from './apply-fields.js';
import { mergeFields, requireFields, targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { countUnsettled } from './convergence.js';
import { applyInitial } from './initial-fields.js';
import { note } from './outcome.js';
import type { Outcome, Surroundings } from './outcome.js';

/** Creates an object, with its initial fields. */
export async function create(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  around: Surroundings,
): Promise<Outcome> {
  const { node } = member;
  const initial = initialOf(member);
  const first = initial === undefined ? configuration : mergeFields(configuration, initial);
  let object: AnyObject;
  try {
    ({ object } = await applyFields(around.applying, first as ApplyConfiguration<Kind>));
  } catch (error) {
    if (!isPlannedNamespace(member, error, around)) throw error;
    return { object: first as AnyObject, action: 'created', differences: [] };
  }
  if (initial !== undefined && !around.applying.dryRun) {
    // Held by both for a moment, so that no field falls back to its default.
    await applyInitial(around.applying, identified(member, initial));
    ({ object } = await applyFields(around.applying, configuration));
  }
  note(around, object, { configuration, kind: node.kind });
  await countUnsettled(member, configuration, { applied: { object }, around });
  around.onEvent('normal', 'Created', `created ${targetOf(node.kind, member.key)}`);
  return { object, action: 'created', differences: [] };
}

/** The initial fields of a member; undefined if its node has none. */
export function initialOf(member: Member): object | undefined {
  const initial = member.node.initial?.(member.primary, member.item);
  return initial === undefined ? undefined : requireFields(member, initial, 'initial');
}

function identified({ key, node }: Member, fields: object): object {
  return { apiVersion: node.kind.apiVersion, kind: node.kind.kind, ...fields, metadata: { ...key } };
}

/** Whether a dry run failed because the namespace would only be created by this run. */
function isPlannedNamespace({ key }: Member, error: unknown, around: Surroundings): boolean {
  return (
    around.applying.dryRun &&
    isNotFound(error) &&
    error.status.details?.kind === 'namespaces' &&
    around.makesNamespace(key.namespace)
  );
}
