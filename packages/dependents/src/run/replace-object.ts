import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import { compare } from './compare.js';
import { targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { create } from './create-object.js';
import type { Outcome, Surroundings } from './outcome.js';
import { withManagedFields } from './owned.js';

/** Deletes an object whose immutable fields are to change, and creates the other one once it is gone. */
export async function replace(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  { present, error, around }: { readonly present: AnyObject; readonly error: unknown; readonly around: Surroundings },
): Promise<Outcome> {
  const { definition, node, key } = member;
  const target = targetOf(node.kind, key);
  if (node.onImmutable === 'fail') {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NodeFailure('Immutable', `${target} cannot change: ${reason}`, { cause: error });
  }
  const { calls, dryRun } = around.applying;
  const found = await withManagedFields(member, present, around);
  const { differences } = await compare(node.kind, configuration, found, definition.fieldOwner);
  if (dryRun) return { object: present, action: 'recreated', differences };
  const policies = { background: 'Background', foreground: 'Foreground', orphanPods: 'Orphan' } as const;
  const { uid } = present.metadata;
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
