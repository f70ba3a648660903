import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText, objectOf, type JsonObject } from '@kctl/crd/internal/engine';
import type { ResourceDefinition } from '../resource/resource.js';
import { methodNotAllowed } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import { longBodyOf } from '../storage/long-object.js';
import { convertAnew } from '../storage/convert-versions.js';
import type { ObjectVersion } from '../storage/version.js';
import { beginAdmission, type Admission } from './admission.js';
import type { Backend, ResourceCall } from './call.js';
import { isNoop, placeOf, retryOnLostRace } from './commit.js';
import { shownIn } from './conversions.js';
import { readDeleteOptions, type DeleteOptions } from './delete-options.js';
import {
  commitDeletion,
  graceGiven,
  markDeletion,
  planDeletion,
  removeMarked,
  type DeletionPlan,
  type DeletionResult,
  type PendingDeletion,
} from './deletion.js';
import { nextTurn } from '@kctl/wait/internal';
import { checkListOptions } from './read-options.js';
import { readList } from './read.js';
import { objectReply, textReply } from './reply.js';
import { selectionOf } from './selection.js';
import { requirePresent } from './update.js';

/** DELETE of one object. */
export async function remove(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { definition, path } = call;
  if (path.name === '') throw methodNotAllowed();
  const options = await readDeleteOptions(call);
  using admission = beginDeleteAdmission(backend, call, options);
  const result = await retryOnLostRace(
    () =>
      deleteReviewed(backend, definition, {
        present: requirePresent(backend, call),
        options,
        admission,
        name: path.name,
      }),
    admission?.signal,
  );
  // As upstream, this old option states that the client supports deletions that take time.
  const status = !result.isGone && options.orphanDependents === false ? 202 : 200;
  if (result.shown === undefined) return await textReply(status, successText(definition, result.last), call.negotiated);
  return await objectReply(backend, call, { status, rendering: await shownIn(definition, result.shown) });
}

function successText({ group, plural }: ResourceDefinition, object: UntypedObject): string {
  const { name, uid } = object.metadata;
  const details = { name, ...(group !== '' && { group }), kind: plural, uid };
  return jsonText({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

/** Admission of the deletions of a request; undefined if no plugin concerns them. */
function beginDeleteAdmission(backend: Backend, call: ResourceCall, options: DeleteOptions): Admission | undefined {
  return beginAdmission(backend, call, { operation: 'DELETE', dryRun: options.dryRun, options: () => options.given });
}

/** A deletion that is to be reviewed. */
interface ReviewedDeletion extends PendingDeletion {
  readonly admission: Admission | undefined;
  /** The name as admission sees it: '' in a deletecollection. */
  readonly name: string;
}

/** The options of a deletion as admission sees them, with the values that the server has filled in. */
function optionsShown(definition: ResourceDefinition, { object }: ObjectVersion, options: DeleteOptions): JsonObject {
  const grace = graceGiven(definition, object, options);
  const isNamespace = definition.storageKey === '/namespaces';
  const { preconditions } = options.given;
  return {
    ...options.given,
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
    ...(isNamespace && { preconditions: { uid: object.metadata.uid, ...objectOf(preconditions) } }),
  };
}

/**
 * Deletes one object or begins its deletion, as admission allows. If upstream takes two steps, admission reviews before
 * each. If no plugin concerns it, and no conversion webhook has to be called, this is one synchronous step.
 *
 * @throws StatusError; LostRaceError
 */
async function deleteReviewed(
  backend: Backend,
  definition: ResourceDefinition,
  { present, options, admission, name }: ReviewedDeletion,
): Promise<DeletionResult> {
  // Upstream reads the object in the version of the URL first, so it cannot delete an object that it cannot convert.
  definition.requireKnownVersion?.(present.object);
  const converted = convertAnew(definition, present);
  if (converted !== undefined) await converted;
  const plan = planDeletion(backend, definition, { present, options });
  const commit = async (): Promise<DeletionResult> => {
    const settled = plan.type === 'stays' ? throughVersion(definition, present, plan) : plan;
    return commitDeletion(backend, definition, {
      present,
      options,
      plan: settled instanceof Promise ? await settled : settled,
    });
  };
  if (admission === undefined || plan.type === 'pending') return commit();
  const review = async (version: ObjectVersion): Promise<void> => {
    // Reviews look into it, so other requests have their turn after it has been read.
    const long = longBodyOf(version.in(definition).object);
    if (long?.isRead === false) {
      long.read();
      await nextTurn();
    }
    await admission.reviewDeletion({
      name,
      oldObject: version.in(definition).object,
      // Upstream fills in a copy of the options if it deletes several objects.
      options: name === '' ? options.given : optionsShown(definition, present, options),
    });
  };
  await review(present);
  if (options.dryRun || plan.type === 'stays' || plan.steps === 1) return commit();
  const marked = plan.isMarked ? markDeletion(backend, definition, { present, next: plan.next }) : present;
  await review(marked);
  return removeMarked(backend, definition, { present, expected: marked.revision });
}

/**
 * As upstream, an object that stays is written as in the version of the URL, without the parts that a conversion
 * webhook loses on the way there and back. A promise if the webhook is called for it.
 */
function throughVersion(
  definition: ResourceDefinition,
  present: ObjectVersion,
  plan: Extract<DeletionPlan, { readonly type: 'stays' }>,
): DeletionPlan | Promise<DeletionPlan> {
  const { conversion, apiVersion, storageApiVersion } = definition;
  if (conversion === undefined || apiVersion === storageApiVersion) return plan;
  const { object } = present.in(definition);
  const { finalizers: _, ...metadata } = object.metadata;
  const marked = plan.next.metadata;
  for (const field of ['generation', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'] as const)
    if (marked[field] !== undefined) Object.assign(metadata, { [field]: marked[field] });
  return conversion
    .toStorage({ ...object, metadata })
    .then((stored) => ({ type: 'stays', next: isNoop(stored, present.object) ? present.object : stored }));
}

/** Deletes a collection, or the requested page of the objects that the selectors match; answers it as it was before. */
export async function removeCollection(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { definition } = call;
  // As upstream, the selection is checked before the options.
  const scope = selectionOf(call, checkListOptions);
  const options = await readDeleteOptions(call);
  const table = backend.store.table(definition.storageKey);
  using page = await readList(backend, call, scope);
  for (const { object } of page.found) definition.requireKnownVersion?.(object);
  using admission = beginDeleteAdmission(backend, call, options);
  for (const { object } of page.found) {
    const { key } = placeOf(definition, object);
    await retryOnLostRace(() => {
      const present = table.get(key);
      return present && deleteReviewed(backend, definition, { present, options, admission, name: '' });
    }, admission?.signal);
  }
  return await page.reply();
}
