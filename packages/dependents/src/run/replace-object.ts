import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import { isDeleting } from '@kctl/apimachinery';
import { NodeFailure } from '../errors.js';
import { isOwned, isPaused } from '../ownership/labels.js';
import { compare } from './compare.js';
import { targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { create } from './create-object.js';
import { unchanged } from './outcome.js';
import type { Outcome, Surroundings } from './outcome.js';
import { nameTaken } from './owned.js';
import type { Owned } from './owned.js';

/** Deletes an object whose immutable fields are to change, and creates the other one once it is gone. */
export async function replace(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  { owned, error, around }: { readonly owned: Owned; readonly error: unknown; readonly around: Surroundings },
): Promise<Outcome> {
  const { definition, node, key } = member;
  const target = targetOf(node.kind, key);
  // An object that it was to adopt still belongs to others.
  if (node.onImmutable === 'fail' || owned.isAdopted) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NodeFailure('Immutable', `${target} cannot change: ${reason}`, { cause: error });
  }
  const { calls, dryRun } = around.applying;
  const present = await calls.find(node.kind, key, { live: true });
  if (present === undefined) return await create(member, configuration, around);
  if (!isOwned(definition, member.primary, present)) throw nameTaken(member, present);
  if (isDeleting(present)) return { ...unchanged(present), terminating: true };
  if (isPaused(present)) return unchanged(present);
  const { differences } = await compare(node.kind, configuration, present, definition.fieldOwner);
  if (dryRun) return { object: present, action: 'recreated', differences };
  const policies = { background: 'Background', foreground: 'Foreground', orphanPods: 'Orphan' } as const;
  // Another object of the name is looked at again: the server answers with a conflict.
  const { uid } = owned.object.metadata;
  calls.beforeWrite();
  await calls.client.delete(node.kind, key, {
    ...calls.abort,
    propagationPolicy: policies[node.onImmutable.recreate],
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
  around.onEvent('normal', 'Recreating', `deleted ${target}, because immutable fields change`);
  const left = await calls.find(node.kind, key, { live: true });
  if (left !== undefined) return { object: left, action: 'deleted', differences, terminating: true };
  return { ...(await create(member, configuration, around)), action: 'recreated', differences };
}
