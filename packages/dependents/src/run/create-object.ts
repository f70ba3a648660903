import { isNotFound } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import { withoutUndefined } from '@kctl/options';
import type { AnyObject } from '../definition/node.js';
import { applyFields } from './apply-fields.js';
import { mergeFields, requireFields, targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { countUnsettled } from './convergence.js';
import { applyInitial } from './initial-fields.js';
import { addedFields } from './added-fields.js';
import { note } from './outcome.js';
import type { Outcome, Surroundings } from './outcome.js';

/**
 * A version that no object has: the first write to a new etcd gets revision 2. An apply with it creates an object, and is a
 * conflict for an object that exists, which may belong to others.
 */
const neverStored = '1';

/** Creates an object, with its initial fields. @throws StatusError 409 if one of the name appeared meanwhile */
export async function create(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  around: Surroundings,
): Promise<Outcome> {
  const { node } = member;
  const initial = initialOf(member);
  const first = (
    initial === undefined ? configuration : mergeFields(configuration, initial)
  ) as ApplyConfiguration<Kind>;
  let object: AnyObject;
  try {
    ({ object } = await applyFields(around.applying, withMetadata(first, { resourceVersion: neverStored })));
  } catch (error) {
    if (!isPlannedNamespace(member, error, around)) throw error;
    return created(member, first, first);
  }
  if (initial !== undefined && !around.applying.dryRun) {
    // Held by both for a moment, so that no field falls back to its default.
    const { uid } = object.metadata;
    await applyInitial(around.applying, withMetadata(identified(member, initial), { uid }));
    ({ object } = await applyFields(around.applying, withMetadata(configuration, { uid })));
  }
  note(around, object, { configuration, kind: node.kind });
  await countUnsettled(member, configuration, { applied: { object }, around });
  around.onEvent('normal', 'Created', `created ${targetOf(node.kind, member.key)}`);
  return created(member, first, object);
}

function created({ node }: Member, configuration: object, object: AnyObject): Outcome {
  return { object, action: 'created', differences: [], fields: addedFields(node.kind, configuration) };
}

/** A configuration for one version of an object, or for one uid, alone. */
function withMetadata<C extends Configuration>(configuration: C, added: Configuration['metadata']): C {
  return { ...configuration, metadata: { ...configuration.metadata, ...withoutUndefined(added) } };
}

interface Configuration {
  readonly metadata: { readonly name?: string; readonly uid?: string | undefined; readonly resourceVersion?: string };
}

/** The initial fields of a member; undefined if its node has none. */
export function initialOf(member: Member): object | undefined {
  const initial = member.node.initial?.(member.primary, member.item);
  return initial === undefined ? undefined : requireFields(member, initial, 'initial');
}

function identified(
  { key, node }: Member,
  fields: { readonly metadata?: object },
): Configuration & Pick<Kind, 'apiVersion' | 'kind'> {
  const { apiVersion, kind } = node.kind;
  return { apiVersion, kind, ...fields, metadata: { ...fields.metadata, ...key } };
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
