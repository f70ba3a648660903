import { isSameJson } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { isPaused } from '../ownership/labels.js';
import { applyFields } from './apply-fields.js';
import { compare } from './compare.js';
import { targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { countUnsettled, isResting, isSettled, notConverging } from './convergence.js';
import { initialOf } from './create-object.js';
import { keepInitialFields } from './initial-fields.js';
import { note, unchanged } from './outcome.js';
import type { Outcome, Surroundings } from './outcome.js';
import { moveOwnership, withManagedFields } from './owned.js';
import type { Owned } from './owned.js';
import { countTakeovers } from './takeovers.js';

/** Applies a configuration to an object that differs from it. */
export async function update(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  { object: found, isAdopted }: Owned,
  around: Surroundings,
): Promise<Outcome> {
  const { node, definition } = member;
  const { applying, remembered, memo, now } = around;
  if (isPaused(found)) return unchanged(found);
  if (found.metadata.managedFields === undefined && memo.isNoop(node.kind, found, configuration))
    return unchanged(found);
  const whole = await withManagedFields(member, found, around);
  const present = await moveOwnership(member, whole, around);
  const before = await compare(node.kind, configuration, present, definition.fieldOwner);
  if (!isSameJson(remembered.configuration, configuration)) {
    remembered.unsettled = 0;
    remembered.dropped = new Set();
    delete remembered.conflict;
  }
  if (before.matches || isSettled(before, remembered)) {
    remembered.unsettled = 0;
    note(around, present, { configuration, kind: node.kind });
    return unchanged(present);
  }
  const { differences } = before;
  if (isResting(remembered, now))
    return { ...unchanged(present), differences, failure: notConverging(differences.map(({ path }) => path)) };
  const { conflict } = remembered;
  if (conflict !== undefined && conflict.version === present.metadata.resourceVersion)
    return { ...unchanged(present), differences, failure: conflict.failure };
  const initial = initialOf(member);
  if (initial !== undefined) await keepInitialFields(applying, present, { initial, released: before.differences });
  countTakeovers(member, { present, before, around });
  const applied = await applyFields(applying, withUid(configuration, present));
  if (applying.dryRun && applied.conflict === undefined && present === whole && isSameContent(present, applied.object))
    return unchanged(present);
  note(around, applied.object, { configuration, kind: node.kind });
  await countUnsettled(member, configuration, { applied, around });
  if (isAdopted) around.onEvent('normal', 'Adopted', `adopted ${targetOf(node.kind, member.key)}`);
  return {
    object: applied.object,
    action: isAdopted ? 'adopted' : 'applied',
    differences,
    ...(applied.conflict === undefined ? {} : { failure: applied.conflict }),
  };
}

/** The configuration of this object alone: applied to another one of its name, which may belong to others, it is a conflict. */
function withUid(configuration: ApplyConfiguration<Kind>, { metadata: { uid } }: AnyObject): ApplyConfiguration<Kind> {
  return uid === undefined ? configuration : { ...configuration, metadata: { ...configuration.metadata, uid } };
}

/** Whether an apply changes nothing: neither fields nor who holds them. */
function isSameContent(before: AnyObject, after: AnyObject): boolean {
  return isSameJson(contentOf(before), contentOf(after));
}

function contentOf({ metadata, ...content }: AnyObject): object {
  const { resourceVersion: _version, managedFields = [], ...rest } = metadata;
  const owners = managedFields.map(({ time: _time, ...entry }) => entry);
  return { ...content, metadata: { ...rest, owners } };
}
