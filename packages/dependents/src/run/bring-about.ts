import type { Kind } from '@kctl/apimachinery';
import type { JsonValue } from '@kctl/apimachinery';
import { isAlreadyExists, isConflict, isDeleting, isNotFound, isSameJson } from '@kctl/apimachinery';
import { createApplyMemo, jsonPatch } from '@kctl/client';
import type { ApplyConfiguration, ApplyMemo } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import { otherManagers, withoutFormerOwners } from '../ownership/field-owners.js';
import { isPaused, isProven } from '../ownership/labels.js';
import { controllerOf } from '@kctl/apimachinery';
import type { NodeAction } from '../results.js';
import { applyFields } from './apply-fields.js';
import type { Applied, Applying } from './apply-fields.js';
import { compare } from './compare.js';
import type { Comparison } from './compare.js';
import { completeConfiguration, mergeFields, requireFields, targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { isImmutableRefusal } from './immutable.js';
import { applyInitial, keepInitialFields } from './initial-fields.js';
import { isEmpty, valueAt } from './value-at.js';
import type { Remembered } from './memory.js';

/** Applies in a row that may leave a difference. */
const maxUnsettled = 3;
/** How long an object that does not converge is left alone, in ms. */
const unsettledRestMs = 10 * 60_000;
/** Takeovers of one field within {@link fightMs} that count as a fight. */
const maxTakeovers = 5;
const fightMs = 10 * 60_000;

/** Outcome of one object. */
export interface Outcome {
  readonly object?: AnyObject;
  readonly action: NodeAction;
  readonly differences: readonly string[];
  readonly failure?: NodeFailure;
  /** It is on its way out, and will be created again. */
  readonly terminating?: boolean;
}

/** State of the cluster, beside the member. */
export interface Surroundings {
  readonly applying: Applying;
  readonly remembered: Remembered;
  readonly memo: ApplyMemo;
  readonly now: number;
  onEvent(type: 'normal' | 'warning', reason: string, note: string): void;
}

/** Remembers no-op applies of caches that strip managedFields. */
export function createMemo(): ApplyMemo {
  return createApplyMemo();
}

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
    if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error;
    const present = await around.applying.calls.find(member.node.kind, member.key, { live: true });
    return await attempt(member, desired, present, around);
  }
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
    if (!isImmutableRefusal(error)) throw error;
    return await replace(member, configuration, { present: owned.object, error, around });
  }
}

interface Owned {
  readonly object: AnyObject;
  readonly isAdopted: boolean;
}

/** @throws NodeFailure when the object is somebody else's */
async function requireOurs(member: Member, found: AnyObject, around: Surroundings): Promise<Owned> {
  const { definition, primary, node, key } = member;
  if (isProven(definition, primary, found)) return { object: found, isAdopted: false };
  let object = found;
  if (found.metadata.managedFields === undefined && controllerOf(found) === undefined) {
    // A cache may strip what proves it.
    object = (await around.applying.calls.find(node.kind, key, { live: true })) ?? found;
    if (isProven(definition, primary, object)) return { object, isAdopted: false };
  }
  const target = targetOf(node.kind, key);
  const controller = controllerOf(object);
  if (controller !== undefined)
    throw new NodeFailure(
      'NameTaken',
      `${target} exists and is controlled by ${controller.kind} ${controller.name}: choose another name`,
    );
  const { adopt } = node;
  const isWelcome = adopt === 'unowned' || (typeof adopt === 'function' && adopt(object));
  if (!isWelcome)
    throw new NodeFailure('NameTaken', `${target} exists and has no controller: adopt it, or choose another name`);
  return { object, isAdopted: true };
}

async function create(member: Member, configuration: ApplyConfiguration<Kind>, around: Surroundings): Promise<Outcome> {
  const { node } = member;
  const initial = initialOf(member);
  const first = initial === undefined ? configuration : mergeFields(configuration, initial);
  let { object } = await applyFields(around.applying, first as ApplyConfiguration<Kind>);
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

function initialOf(member: Member): object | undefined {
  const initial = member.node.initial?.(member.primary, member.item);
  return initial === undefined ? undefined : requireFields(member, initial, 'initial');
}

function identified({ key, node }: Member, fields: object): object {
  return { apiVersion: node.kind.apiVersion, kind: node.kind.kind, ...fields, metadata: { ...key } };
}

async function update(
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
  const present = await moveOwnership(member, await withManagedFields(member, found, around), around);
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
  const differences = before.differences.map(({ path }) => path);
  if (remembered.unsettled >= maxUnsettled && now - remembered.lastApplyAt < unsettledRestMs)
    return { ...unchanged(present), differences, failure: notConverging(differences) };
  const { conflict } = remembered;
  if (conflict !== undefined && conflict.version === present.metadata.resourceVersion)
    return { ...unchanged(present), differences, failure: conflict.failure };
  const initial = initialOf(member);
  if (initial !== undefined) await keepInitialFields(applying, present, { initial, released: before.differences });
  countTakeovers(member, { present, before, around });
  const applied = await applyFields(applying, configuration);
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

/** Whether all differences are empty values, such as `env: []`, which built-in kinds do not store. */
function isSettled({ differences }: Comparison, { dropped }: Remembered): boolean {
  return differences.length > 0 && differences.every(({ path }) => dropped.has(path));
}

/** The object with its managed fields, which a cache may strip: they say what is ours, and what is no longer wanted. */
async function withManagedFields(
  { node, key }: Member,
  found: AnyObject,
  { applying }: Surroundings,
): Promise<AnyObject> {
  if (found.metadata.managedFields !== undefined) return found;
  return (await applying.calls.find(node.kind, key, { live: true })) ?? found;
}

function unchanged(object: AnyObject): Outcome {
  return { object, action: 'none', differences: [] };
}

function note(
  { applying, memo }: Surroundings,
  object: AnyObject,
  { kind, configuration }: { readonly kind: Kind; readonly configuration: object },
): void {
  if (!applying.dryRun) memo.noteNoop(kind, object, configuration);
}

/** Moves fields of former owners to the present one. In a plan only the answer has them moved. */
async function moveOwnership(member: Member, found: AnyObject, { applying }: Surroundings): Promise<AnyObject> {
  const { definition, node, key } = member;
  if (definition.formerFieldOwners.length === 0) return found;
  const owners = { owner: definition.fieldOwner, former: definition.formerFieldOwners };
  const managedFields = withoutFormerOwners(found, node.kind, owners);
  if (managedFields === undefined) return found;
  if (applying.dryRun) return { ...found, metadata: { ...found.metadata, managedFields } };
  applying.calls.beforeWrite();
  const patch = jsonPatch(
    { op: 'replace', path: '/metadata/managedFields', value: managedFields as JsonValue },
    { op: 'replace', path: '/metadata/resourceVersion', value: found.metadata.resourceVersion ?? '' },
  );
  return await applying.calls.client.patch(node.kind, key, patch, {
    ...applying.calls.abort,
    fieldOwner: definition.fieldOwner,
  });
}

/** Counts fields that another manager has changed again and again, and reports a fight. */
function countTakeovers(
  member: Member,
  {
    present,
    before,
    around,
  }: { readonly present: AnyObject; readonly before: Comparison; readonly around: Surroundings },
): void {
  const { node, definition } = member;
  if (node.conflicts !== 'force' || around.applying.dryRun) return;
  for (const { path } of before.differences) {
    const others = otherManagers(present, definition.fieldOwner, path);
    if (others.length === 0) continue;
    const times = (around.remembered.takeovers.get(path) ?? []).filter((time) => around.now - time < fightMs);
    times.push(around.now);
    around.remembered.takeovers.set(path, times);
    if (times.length === maxTakeovers + 1)
      around.onEvent(
        'warning',
        'FieldFight',
        `${path} of ${targetOf(node.kind, member.key)} was taken from ${others.join(', ')} ${times.length} times in 10 minutes: declare it in initial, or leave it out`,
      );
  }
}

async function countUnsettled(
  { node, definition }: Member,
  configuration: ApplyConfiguration<Kind>,
  { applied, around }: { readonly applied: Applied; readonly around: Surroundings },
): Promise<void> {
  const { remembered, now } = around;
  if (around.applying.dryRun) return;
  remembered.lastApplyAt = now;
  remembered.configuration = configuration;
  delete remembered.conflict;
  if (applied.conflict !== undefined)
    remembered.conflict = { failure: applied.conflict, version: applied.object.metadata.resourceVersion };
  if (applied.conflict !== undefined || applied.object.metadata.managedFields === undefined) return;
  const after = await compare(node.kind, configuration, applied.object, definition.fieldOwner);
  const dropped = after.differences.filter(
    (each) => each.reason === 'missing' && isEmpty(valueAt(configuration, each.path)),
  );
  remembered.dropped = new Set(dropped.map(({ path }) => path));
  remembered.unsettled = after.matches || isSettled(after, remembered) ? 0 : remembered.unsettled + 1;
}

function notConverging(paths: readonly string[]): NodeFailure {
  return new NodeFailure(
    'NotConverging',
    `${maxUnsettled} applies left a difference in ${paths.join(', ')}: the server or a webhook rewrites it`,
    { paths },
  );
}

/** Deletes an object whose immutable fields are to change, and creates the other one once it is gone. */
async function replace(
  member: Member,
  configuration: ApplyConfiguration<Kind>,
  { present, error, around }: { readonly present: AnyObject; readonly error: unknown; readonly around: Surroundings },
): Promise<Outcome> {
  const { node, key } = member;
  const target = targetOf(node.kind, key);
  if (node.onImmutable === 'fail') {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NodeFailure('Immutable', `${target} cannot change: ${reason}`, { cause: error });
  }
  const { calls, dryRun } = around.applying;
  if (dryRun) return { object: present, action: 'recreated', differences: [] };
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
  if (left !== undefined) return { object: left, action: 'deleted', differences: [], terminating: true };
  return { ...(await create(member, configuration, around)), action: 'recreated' };
}
