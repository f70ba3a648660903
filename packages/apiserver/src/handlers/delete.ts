import type { UntypedObject } from '@kctl/apimachinery';
import { formatTime, parseBoolParameter, parseIntParameter } from '../codecs/go-text.js';
import { parseBody } from '../codecs/body.js';
import { JsonSyntaxError } from '../codecs/strict-json.js';
import { invalidValue, notSupported, type FieldError } from '../registry/field-error.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { badRequest, conflict, forbiddenObject, invalidOptions, methodNotAllowed } from '../registry/status.js';
import type { Reply } from '../server/api-request.js';
import { jsonText } from '../storage/json-text.js';
import { renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';
import { crdTable, type Backend, type ResourceCall } from './call.js';
import { placeOf, retryOnLostRace } from './commit.js';
import { beginDeletion, deletionFinalizers, hasSpecFinalizers, isReadyToGo, type DeletionWish } from './lifecycle.js';
import { listText } from '../codecs/shapes.js';
import { objectReply, shapeOf, textReply } from './reply.js';
import { selectionOf } from './selection.js';
import { requirePresent } from './update.js';
import { checkDryRun } from './write-options.js';

/** Parameters of a DELETE. */
export interface DeleteOptions extends DeletionWish {
  readonly dryRun: boolean;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

function member(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;

function isPolicy(value: unknown): value is (typeof policies)[number] {
  return policies.some((policy) => policy === value);
}

/** Options from the body, or from the query where there is no body. @throws StatusError 400, 415, 422 */
export async function readDeleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const { request, query } = call;
  const bytes = await request.readBody();
  const body = bytes.length === 0 ? undefined : await parseOptions(bytes, request.header('content-type'));
  const kind = member(body, 'kind');
  if (kind !== undefined && kind !== 'DeleteOptions')
    throw badRequest('decoded object cannot be converted to DeleteOptions');
  const given = body ?? {
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    gracePeriodSeconds: parseIntParameter(query, 'gracePeriodSeconds'),
    orphanDependents: query.has('orphanDependents') ? parseBoolParameter(query, 'orphanDependents') : undefined,
    ...(query.has('dryRun') && { dryRun: query.getAll('dryRun') }),
  };
  return checkOptions(given);
}

async function parseOptions(bytes: Uint8Array, contentType: string | undefined): Promise<unknown> {
  try {
    return (await parseBody(bytes, contentType)).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
}

function checkOptions(given: unknown): DeleteOptions {
  const policy = member(given, 'propagationPolicy') ?? undefined;
  const orphan = member(given, 'orphanDependents') ?? undefined;
  const dryRun = member(given, 'dryRun') ?? [];
  const grace = member(given, 'gracePeriodSeconds') ?? undefined;
  const preconditions = member(given, 'preconditions');
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined)
    errors.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (policy !== undefined && !isPolicy(policy))
    errors.push(notSupported('propagationPolicy', policy, [...policies, 'nil']));
  const dryRunValues = Array.isArray(dryRun) ? dryRun.map(String) : [];
  errors.push(...checkDryRun(dryRunValues));
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    policy: isPolicy(policy) ? policy : undefined,
    orphanDependents: typeof orphan === 'boolean' ? orphan : undefined,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    dryRun: dryRunValues.includes('All'),
    uid: text(member(preconditions, 'uid')),
    resourceVersion: text(member(preconditions, 'resourceVersion')),
  };
}

/** DELETE of one object. */
export async function remove(backend: Backend, call: ResourceCall): Promise<Reply> {
  if (call.path.name === '') throw methodNotAllowed();
  const options = await readDeleteOptions(call);
  const result = await retryOnLostRace(
    () => deleteStored(backend, call.definition, { present: requirePresent(backend, call), options }),
    () => conflict(call.definition, call.path.name),
  );
  if (result.shown !== undefined) return objectReply(backend, call, { status: 200, rendering: result.shown });
  return textReply(200, successText(call.definition, result.last), call.negotiated);
}

function successText({ group, plural }: ResourceDefinition, object: UntypedObject): string {
  const { name, uid } = object.metadata;
  const details = { name, ...(group !== '' && { group }), kind: plural, uid };
  return jsonText({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

/** What a deletion did. */
export interface DeletionResult {
  /** The last state that is known. */
  readonly last: UntypedObject;
  /** The object, where it is what the answer shows: it stays for a while, or it is a Pod. */
  readonly shown: Rendering | undefined;
}

const namespaces = '/namespaces';
const pods = '/pods';
/** Kinds whose deletion answers the object and not a Status. */
const deletedObjectsShown: ReadonlySet<string> = new Set([
  pods,
  '/services',
  '/serviceaccounts',
  '/podtemplates',
  '/persistentvolumes',
  '/persistentvolumeclaims',
  '/resourcequotas',
]);

/**
 * Deletes one object or begins its deletion, in one synchronous step. Mirrors `Store.Delete` of the generic registry.
 *
 * @throws StatusError 403, 409; LostRaceError
 */
export function deleteStored(
  backend: Backend,
  definition: ResourceDefinition,
  { present, options }: { readonly present: ObjectVersion; readonly options: DeleteOptions },
): DeletionResult {
  const { store, clock } = backend;
  const { object } = present;
  checkPreconditions(definition, present, options);
  const isNamespace = definition.storageKey === namespaces;
  const why = definition.deletionForbidden(object);
  if (why !== undefined) throw forbiddenObject(definition, object.metadata.name ?? '', why);
  const isPending =
    definition.storageKey === pods &&
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.deletionGracePeriodSeconds ?? 0) > 0 &&
    (options.gracePeriodSeconds ?? Infinity) >= (object.metadata.deletionGracePeriodSeconds ?? 0);
  // The deletion of a pod that is under way is not changed but by a shorter grace.
  if (isPending) return { last: object, shown: present.in(definition) };
  const finalizers = deletionFinalizers(object.metadata.finalizers ?? [], options);
  const graceSeconds = graceOf(definition, object, options);
  const begun = beginDeletion(object, { finalizers, graceSeconds, now: clock.now() });
  const next = isNamespace ? withPhase(begun, 'Terminating') : asMarked(definition, begun, clock.now());
  const place = placeOf(definition, object);
  const stays = isNamespace ? hasSpecFinalizers(next) || finalizers.length > 0 : !isReadyToGo(next, false);
  if (stays) {
    if (isNamespace && object.metadata.deletionTimestamp !== undefined && hasSpecFinalizers(object))
      throw namespaceIsGoing(definition, object);
    if (next === object) return { last: object, shown: present.in(definition) };
    const shown = options.dryRun
      ? renderObject(definition.fromStorage(next))
      : store.commit({ ...place, expected: present.revision, object: next }).current.in(definition);
    return { last: shown.object, shown };
  }
  const showsDeleted = deletedObjectsShown.has(definition.storageKey);
  const isPod = definition.storageKey === pods;
  const isGraceful =
    object.metadata.deletionTimestamp === undefined || object.metadata.deletionGracePeriodSeconds !== 0;
  if (options.dryRun)
    return {
      last: object,
      shown: showsDeleted ? renderObject(definition.fromStorage(isPod ? next : object)) : undefined,
    };
  // Upstream marks what has a grace before it deletes it: watchers of pods see MODIFIED, then DELETED.
  const expected =
    isPod && isGraceful
      ? store.commit({ ...place, expected: present.revision, object: next }).revision
      : present.revision;
  const { current } = store.commit({ ...place, expected });
  return { last: object, shown: showsDeleted ? current.in(definition) : undefined };
}

function namespaceIsGoing(definition: ResourceDefinition, object: UntypedObject): Error {
  return conflict(
    definition,
    object.metadata.name ?? '',
    'The system is ensuring all content is removed from this namespace.  Upon completion, this namespace will automatically be purged by the system.',
  );
}

/** A CustomResourceDefinition says from the first moment that it is going. */
function asMarked(definition: ResourceDefinition, object: UntypedObject, now: number): UntypedObject {
  if (definition.storageKey !== crdTable) return object;
  const { status } = object;
  const known = member(status, 'conditions');
  const conditions: unknown[] = Array.isArray(known) ? known : [];
  if (conditions.some((condition) => member(condition, 'type') === 'Terminating')) return object;
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: formatTime(now),
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...object,
    status: { ...(typeof status === 'object' ? status : {}), conditions: [...conditions, terminating] },
  };
}

function withPhase(object: UntypedObject, phase: string): UntypedObject {
  const { status } = object;
  return { ...object, status: { ...(typeof status === 'object' ? status : {}), phase } };
}

/** A pod that runs nowhere, or has ended, goes at once. */
function hasGrace({ storageKey }: ResourceDefinition, object: UntypedObject): boolean {
  const phase = member(object['status'], 'phase');
  return (
    storageKey === pods && Boolean(member(object['spec'], 'nodeName')) && phase !== 'Failed' && phase !== 'Succeeded'
  );
}

/** Grace applies to kinds that have it at all; a client may shorten or lengthen it. */
function graceOf(definition: ResourceDefinition, object: UntypedObject, options: DeleteOptions): number {
  const asked = options.gracePeriodSeconds;
  const pending = object.metadata.deletionGracePeriodSeconds;
  // Once a deletion has begun only its grace counts, which a client may shorten.
  if (object.metadata.deletionTimestamp !== undefined && pending !== undefined) return asked ?? pending;
  if (!hasGrace(definition, object)) return 0;
  if (asked === undefined) return definition.gracePeriodSeconds(object);
  return asked < 0 ? 1 : asked;
}

function checkPreconditions(definition: ResourceDefinition, present: ObjectVersion, options: DeleteOptions): void {
  const { metadata } = present.object;
  const { group, kind } = definition;
  const refuse = (why: string): Error => conflict({ group, plural: kind }, metadata.name ?? '', why);
  if (options.uid !== undefined && options.uid !== metadata.uid)
    throw refuse(
      `the UID in the precondition (${options.uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  if (options.resourceVersion !== undefined && options.resourceVersion !== String(present.revision))
    throw refuse(
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${present.revision}). The object might have been modified`,
    );
}

/** DELETE of a collection: all that the selectors match; answers the list as it was before. */
export async function removeCollection(backend: Backend, call: ResourceCall): Promise<Reply> {
  const options = await readDeleteOptions(call);
  const scope = selectionOf(call);
  const { definition } = call;
  const table = backend.store.table(definition.storageKey);
  const matched = [...table.scan({ prefix: scope.prefix })].filter(
    ([key, version]) =>
      (scope.key === undefined || scope.key === key) && (scope.matches?.(version.in(definition).object) ?? true),
  );
  const deleted: Rendering[] = [];
  for (const [key, version] of matched) {
    deleted.push(version.in(definition));
    await retryOnLostRace(
      () => {
        const present = table.get(key);
        return present === undefined ? undefined : deleteStored(backend, definition, { present, options });
      },
      () => conflict(definition, key),
    );
  }
  const shape = shapeOf(backend, call);
  const items = deleted.map((rendering) => shape.item(rendering)).join(',');
  const metadata = { resourceVersion: String(backend.store.revision) };
  return textReply(200, listText(shape, metadata, items), call.negotiated);
}

/** What the server itself deletes with: no wishes, no conditions. */
export const plainDeletion: DeleteOptions = {
  policy: undefined,
  orphanDependents: undefined,
  gracePeriodSeconds: undefined,
  dryRun: false,
  uid: undefined,
  resourceVersion: undefined,
};
