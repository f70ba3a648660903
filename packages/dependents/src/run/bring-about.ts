import { isAlreadyExists, isConflict, isDeleting, isNotFound } from '@kctl/apimachinery';
import type { AnyObject } from '../definition/node.js';
import { completeConfiguration } from './configuration.js';
import type { Member } from './configuration.js';
import { create } from './create-object.js';
import { isImmutableRefusal, isOtherObject } from './immutable.js';
import { unchanged } from './outcome.js';
import type { Outcome, Surroundings } from './outcome.js';
import { requireOurs } from './owned.js';
import { replace } from './replace-object.js';
import { update } from './update-object.js';

/** The present object of a member; a cache that does not have it is not believed. */
export async function findPresent({ node, key }: Member, { applying }: Surroundings): Promise<AnyObject | undefined> {
  const cached = await applying.calls.find(node.kind, key);
  return cached ?? (await applying.calls.find(node.kind, key, { live: true }));
}

/** Brings an object to its desired fields. Races with others are repeated once. */
export async function bringAbout(
  member: Member,
  desired: unknown,
  given: { readonly present: AnyObject | undefined; readonly around: Surroundings },
): Promise<Outcome> {
  const { around } = given;
  try {
    return await attempt(member, desired, given.present, around);
  } catch (error) {
    if (!isRace(error)) throw error;
    const present = await around.applying.calls.find(member.node.kind, member.key, { live: true });
    return await attempt(member, desired, present, around);
  }
}

/** Whether the object is not what it was thought to be. */
function isRace(error: unknown): boolean {
  return isConflict(error) || isNotFound(error) || isAlreadyExists(error) || isOtherObject(error);
}

async function attempt(
  member: Member,
  desired: unknown,
  present: AnyObject | undefined,
  around: Surroundings,
): Promise<Outcome> {
  const configuration = completeConfiguration(member, desired);
  if (present === undefined) return await create(member, configuration, around);
  const owned = await requireOurs(member, present, around);
  if (isDeleting(owned.object)) return { ...unchanged(owned.object), terminating: true };
  try {
    return await update(member, configuration, owned, around);
  } catch (error) {
    if (isOtherObject(error) || !isImmutableRefusal(error)) throw error;
    return await replace(member, configuration, { owned, error, around });
  }
}
