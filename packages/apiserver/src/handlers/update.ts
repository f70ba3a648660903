import { mutableCopy, type UntypedObject } from '@kctl/apimachinery';
import { invalidValue } from '@kctl/crd/internal/engine';
import type { ResourceDefinition, UpdateStrategy } from '../resource/resource.js';
import { badRequest, conflict, invalid, methodNotAllowed, notFound } from '../protocol/status.js';
import { convertVersions } from '../storage/convert-versions.js';
import type { ObjectVersion, Rendering } from '../storage/version.js';
import { beginAdmission, keepOwners, requireAdmitted, type Admission } from './admission.js';
import { isLongBody } from '../codecs/long-body.js';
import { readWriteBody } from './body.js';
import { storageKeyOf, writeContext, type WriteBackend, type ResourceCall } from './call.js';
import { commitUpdate, retryOnLostRace } from './commit.js';
import { createObject, placeInNamespace } from './create.js';
import { checkGrant } from './grants.js';
import { nextTurn } from '@kctl/wait/internal';
import { trackUpdate } from './managed-fields.js';
import { admissionOptions, parseWriteOptions, reportProblems, type WriteOptions } from './write-options.js';
import type { Written } from './written.js';

/** The endpoint of a write, either the object itself or one of its subresources. */
export interface WriteTarget {
  readonly strategy: UpdateStrategy;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** The object that a path names. @throws StatusError 404 */
export function requirePresent(backend: WriteBackend, { definition, path }: ResourceCall): ObjectVersion {
  const present = backend.store.table(definition.storageKey).get(storageKeyOf(path.namespace, path.name));
  if (present === undefined) throw notFound(definition, path.name);
  return present;
}

/** PUT of an object, or of a subresource that shows it whole. */
export async function update(backend: WriteBackend, call: ResourceCall, target: WriteTarget): Promise<Written> {
  const { definition, path } = call;
  const options = parseWriteOptions(call, 'UpdateOptions');
  if (path.name === '') throw definition.isCustom ? badRequest('name must be provided') : methodNotAllowed();
  const body = await readWriteBody(call);
  if (isLongBody(body.text)) await nextTurn();
  const { object, problems } = definition.decode({
    value: body.value,
    text: body.text,
    literals: body.literals,
    ...(target.subresource !== '' && { subresource: target.subresource }),
  });
  reportProblems(call, [...body.duplicates, ...problems], options.fieldValidation, object);
  checkIdentity(call, object);
  if (isLongBody(body.text)) await nextTurn();
  const table = backend.store.table(definition.storageKey);
  using admission = beginUpdateAdmission(backend, call, { target, options });
  // For kinds without rules, a write that no plugin reviews does not wait before its commit, so it loses no race and
  // has one attempt.
  const hasRules = definition.isCustom || definition.group === 'apiextensions.k8s.io';
  const hasOneAttempt = !hasRules && admission === undefined;
  return await retryOnLostRace<Written>(async () => {
    const own = hasOneAttempt ? object : mutableCopy(object);
    if (definition.allowCreateOnUpdate && table.get(storageKeyOf(path.namespace, path.name)) === undefined) {
      refuseUid(call, own, '');
      delete own.metadata.resourceVersion;
      const { subresource } = target;
      return createObject(backend, call, { object: own, options, isUpsert: true, subresource });
    }
    const present = requirePresent(backend, call);
    const converted = convertVersions(definition, [present]);
    if (converted !== undefined) await converted;
    checkUid(call, own, present);
    const rendering = await writeUpdate(backend, call, { object: own, present, target, options, admission });
    return { status: 200, rendering };
  }, admission?.signal);
}

/** Name and namespace of the body are those of the URL. @throws StatusError 400 */
export function checkIdentity(call: ResourceCall, object: UntypedObject): void {
  const { path } = call;
  const { name = '' } = object.metadata;
  if (name === '')
    throw badRequest(`the name of the object (${path.name} based on URL) was undeterminable: name must be provided`);
  if (name !== path.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  placeInNamespace(call, object);
}

/** A uid in a PUT is a precondition. @throws StatusError 409 */
export function checkUid(call: ResourceCall, object: UntypedObject, present: ObjectVersion): void {
  refuseUid(call, object, present.object.metadata.uid ?? '');
}

function refuseUid(call: ResourceCall, object: UntypedObject, actual: string): void {
  const { definition, path } = call;
  const { uid } = object.metadata;
  if (uid === undefined || uid === '' || uid === actual) return;
  throw conflict(
    definition,
    path.name,
    `StorageError: invalid object, Code: 4, Key: ${registryKey(definition, path)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`,
  );
}

function registryKey(definition: ResourceDefinition, path: ResourceCall['path']): string {
  const root = definition.isCustom ? `/registry/${definition.group}` : '/registry';
  return `${root}/${definition.plural}/${storageKeyOf(path.namespace, path.name)}`;
}

/** An update on its way into the store. */
export interface PendingUpdate {
  /** The wanted state, owned by this write. */
  readonly object: UntypedObject;
  readonly present: ObjectVersion;
  readonly target: WriteTarget;
  readonly options: WriteOptions;
  /** Whether its managedFields are final because an apply has made them. @default false */
  readonly isTracked?: boolean;
  /** Whether an owner among these has the time of this write. @default false */
  readonly isStamped?: boolean;
  readonly admission: UpdateAdmission | undefined;
}

/** Admission steps that an update needs. */
export type UpdateAdmission = Pick<Admission, 'admit' | 'validate'>;

/** Admission of an update, a patch or an apply of something present; undefined if no plugin concerns it. */
export function beginUpdateAdmission(
  backend: WriteBackend,
  call: ResourceCall,
  { target, options }: { readonly target: Pick<WriteTarget, 'subresource'>; readonly options: WriteOptions },
): Admission | undefined {
  return beginAdmission(backend, call, {
    operation: 'UPDATE',
    subresource: target.subresource,
    dryRun: options.dryRun,
    options: () => admissionOptions(call, 'UpdateOptions'),
  });
}

/**
 * Admits, checks the version, prepares, validates and commits. If no admission plugin concerns the object, and no
 * conversion webhook has to be called, this is one synchronous step. {@link PendingUpdate.present} has been converted.
 *
 * @throws StatusError 409, 422; LostRaceError if an unconditional write may try again
 */
export async function writeUpdate(
  backend: WriteBackend,
  call: ResourceCall,
  pending: PendingUpdate,
): Promise<Rendering> {
  const { definition, path } = call;
  const { object: given, present, target, options, isTracked = false, admission } = pending;
  const { object: old } = present.in(definition);
  let { isStamped = false } = pending;
  if (!isTracked) {
    const isReviewed = admission !== undefined;
    const onStamp = (): void => void (isStamped = true);
    const write = { definition, manager: options.fieldManager, subresource: target.subresource, isReviewed, onStamp };
    const tracked = trackUpdate(backend, write, { object: given, old });
    if (tracked !== undefined) await tracked;
  }
  target.strategy.admit?.(given, old, writeContext(backend, call, options.dryRun));
  let object = given;
  if (admission !== undefined) {
    const { managedFields } = given.metadata;
    object = await admission.admit({ name: path.name, object: given, oldObject: old, isStamped });
    keepOwners(call, object, managedFields);
    requireAdmitted(call, object);
    placeInNamespace(call, object);
  }
  checkGrant(backend, call, object, old);
  checkVersion(call, object, present);
  const context = writeContext(backend, call, options.dryRun);
  const { metadata } = object;
  metadata.resourceVersion = String(present.revision);
  target.strategy.prepareForUpdate(object, old, context);
  const check = (): void => {
    const errors = target.strategy.validateUpdate(object, old, context);
    if (errors.length > 0)
      // Preparing may have put the metadata back as it was.
      throw invalid(
        { group: definition.group, kind: object.kind ?? definition.kind },
        object.metadata.name ?? '',
        errors,
      );
  };
  const settling = context.rules?.settle(check, call.request.signal);
  if (settling !== undefined) {
    await settling;
    check();
  }
  if (admission !== undefined) {
    await admission.validate({ name: path.name, object, oldObject: old });
  }
  if (admission !== undefined || isTracked) definition.noteAdmitted(object);
  return commitUpdate(backend, { definition, object, present, dryRun: options.dryRun, mayDropOwners: !isTracked });
}

/** The resourceVersion of a body is a precondition. @throws StatusError 409 if it is stale, 422 if it is required */
function checkVersion({ definition, path }: ResourceCall, object: UntypedObject, present: ObjectVersion): void {
  const { resourceVersion = '' } = object.metadata;
  // A webhook may have renamed the object.
  const { name } = path;
  if (resourceVersion === '' || resourceVersion === '0') {
    if (definition.allowUnconditionalUpdate) return;
    const error = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: definition.group, kind: definition.plural }, name, [error]);
  }
  if (resourceVersion !== String(present.revision)) throw conflict(definition, name);
}
