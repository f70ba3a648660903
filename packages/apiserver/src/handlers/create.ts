import type { UntypedObject } from '@kctl/apimachinery';
import { badRequest, alreadyExists, forbiddenObject, invalid, notFound, unclassified } from '../protocol/status.js';
import { isLostRaceError } from '../storage/errors.js';
import type { Rendering } from '../storage/version.js';
import { beginAdmission, keepOwners, requireAdmitted, type Admission } from './admission.js';
import { isLongBody } from '../codecs/long-body.js';
import { readWriteBody } from './body.js';
import { requireCreateRight } from './create-right.js';
import { checkGrant } from './grants.js';
import { nextTurn } from '@kctl/wait/internal';
import type { ResourceDefinition, WriteContext } from '../resource/resource.js';
import { crdTable, writeContext, type WriteBackend, type ResourceCall } from './call.js';
import { nameSuffix } from '../registry/name-suffix.js';
import { commitObject, placeOf } from './commit.js';
import { shownIn, showStored, storedForm } from './conversions.js';
import { trackCreate } from './managed-fields.js';
import { admissionOptions, parseWriteOptions, reportProblems, type WriteOptions } from './write-options.js';
import type { Written } from './written.js';

const nameAttempts = 8;
/** Room for the suffix in a name of 63. */
const maxGeneratedBase = 58;

function generateName(base: string, random: () => number): string {
  return `${base.slice(0, maxGeneratedBase)}${nameSuffix(random)}`;
}

/** POST. */
export async function create(backend: WriteBackend, call: ResourceCall): Promise<Written> {
  const options = parseWriteOptions(call, 'CreateOptions');
  const body = await readWriteBody(call);
  const isLong = isLongBody(body.text);
  if (isLong) await nextTurn();
  const { object, problems } = call.definition.decode({ value: body.value, text: body.text, literals: body.literals });
  reportProblems(call, [...body.duplicates, ...problems], options.fieldValidation, object);
  if (isLong) await nextTurn();
  return createObject(backend, call, { object, options, isLong });
}

/** An object on its way into the store for the first time. */
export interface PendingCreate {
  readonly object: UntypedObject;
  readonly options: WriteOptions;
  /** Whether its managedFields are final because an apply has made them. @default false */
  readonly isTracked?: boolean;
  /** Whether an owner among these has the time of this write. @default false */
  readonly isStamped?: boolean;
  /** The subresource that a PUT creates through. @default '' */
  readonly subresource?: string;
  /** Whether it takes long enough for others to get their turn in between. @default false */
  readonly isLong?: boolean;
  /** Whether a lost race is the caller's, who then updates what has come instead. @default false */
  readonly isUpsert?: boolean;
}

/** Creates an object that has been decoded. */
export async function createObject(
  backend: WriteBackend,
  call: ResourceCall,
  pending: PendingCreate,
): Promise<Written> {
  const rendering = await createStored(backend, call, pending);
  return { status: 201, rendering };
}

/**
 * Admits, prepares, validates and commits. If no admission plugin concerns the object, and no conversion webhook has to
 * be called, this is one synchronous step.
 *
 * @throws StatusError; LostRaceError if the caller wants it
 */
export async function createStored(
  backend: WriteBackend,
  call: ResourceCall,
  {
    object: given,
    options,
    isTracked = false,
    isStamped: wasStamped = false,
    isUpsert = false,
    isLong = false,
    subresource = '',
  }: PendingCreate,
): Promise<Rendering> {
  const { definition, path } = call;
  requirePlace(backend, call, given);
  using admission = beginAdmission(backend, call, {
    operation: 'CREATE',
    subresource,
    dryRun: options.dryRun,
    options: () => admissionOptions(call, 'CreateOptions'),
  });
  let isStamped = wasStamped;
  if (!isTracked) {
    const isReviewed = admission !== undefined;
    const onStamp = (): void => void (isStamped = true);
    const write = { definition, manager: options.fieldManager, subresource, isReviewed, onStamp };
    const tracked = trackCreate(backend, write, given);
    if (tracked !== undefined) await tracked;
    if (isLong) {
      await nextTurn();
      requirePlace(backend, call, given);
    }
  }
  dropSystemFields(given);
  // Under this name all plugins review it, even if one of them gives it another.
  const name = path.name || (given.metadata.name ?? '');
  definition.admit?.(given, undefined, writeContext(backend, call, options.dryRun));
  const object = admission === undefined ? given : await admitCreate(call, admission, { object: given, isStamped });
  checkGrant(backend, call, object, undefined);
  const { metadata } = object;
  const { resourceVersion = '' } = metadata;
  const isVersioned = resourceVersion !== '';
  delete metadata.resourceVersion;
  const base = metadata.name === undefined || metadata.name === '' ? metadata.generateName : undefined;
  let context = writeContext(backend, call, options.dryRun);
  metadata.uid = backend.newUid();
  metadata.creationTimestamp = context.now;
  for (let attempt = 1; ; attempt++) {
    if (base !== undefined && base !== '') metadata.name = generateName(base, backend.random);
    if (attempt === 1) definition.prepareForCreate(object, context);
    definition.canonicalize?.(object);
    const check = (): void => requireValid(definition, object, context);
    const settling = context.rules?.settle(check, call.request.signal);
    if (settling !== undefined) {
      await settling;
      requirePlace(backend, call, object);
      check();
    }
    requireNameOfUrl(call, metadata.name);
    if (isUpsert) requireCreateRight(backend, call);
    if (admission !== undefined) {
      // Upstream it is the storage that looks at a version of the client, after all reviews.
      const reviewed = isVersioned ? { ...object, metadata: { ...metadata, resourceVersion } } : object;
      await admission.validate({ name: name || (metadata.name ?? ''), object: reviewed });
      // Others may have written meanwhile, so the same checks are repeated in one step with the commit.
      requirePlace(backend, call, object);
      context = { ...context, warn: () => undefined };
      check();
    }
    if (admission !== undefined || isTracked) definition.noteAdmitted(object);
    // Upstream it is the storage that refuses this, after validation; a dry run never gets there.
    if (isVersioned && !options.dryRun)
      throw unclassified('resourceVersion should not be set on objects to be created');
    // A dry run shows what it was given.
    if (isVersioned) metadata.resourceVersion = resourceVersion;
    try {
      return await insert(backend, call, { object, options, mayDropOwners: !isTracked });
    } catch (error) {
      if (!isLostRaceError(error) || isUpsert) throw error;
      if (base === undefined || attempt === nameAttempts) throw taken(backend, call, object);
    }
  }
}

/** @throws StatusError 422 with all problems of the object */
function requireValid(definition: ResourceDefinition, object: UntypedObject, context: WriteContext): void {
  const errors = definition.validateCreate(object, context);
  if (errors.length > 0)
    throw invalid(
      { group: definition.group, kind: object.kind ?? definition.kind },
      object.metadata.name ?? '',
      errors,
    );
}

/** @throws StatusError 400 if the object of a built-in kind has another name than the URL */
function requireNameOfUrl({ definition, path }: ResourceCall, name: string | undefined): void {
  if (path.name !== '' && name !== path.name && !definition.isCustom)
    throw badRequest(`the name of the object (${name ?? ''}) does not match the name on the URL (${path.name})`);
}

/** The mutating pass over an object that is to be created. It may be given a name, but no other namespace. */
async function admitCreate(
  call: ResourceCall,
  admission: Admission,
  { object, isStamped }: { readonly object: UntypedObject; readonly isStamped: boolean },
): Promise<UntypedObject> {
  const { managedFields } = object.metadata;
  const name = call.path.name || (object.metadata.name ?? '');
  const admitted = await admission.admit({ name, object, isStamped });
  keepOwners(call, admitted, managedFields);
  requireAdmitted(call, admitted);
  placeInNamespace(call, admitted);
  return admitted;
}

/** The namespace and the kind must be there, and not on their way out. @throws StatusError 400, 403, 404 */
function requirePlace(backend: WriteBackend, call: ResourceCall, object: UntypedObject): void {
  const name = object.metadata.name ?? object.metadata.generateName ?? '';
  placeInNamespace(call, object);
  requireServing(backend, call, name);
  if (call.definition.namespaced) requireNamespace(backend, call, name);
}

async function insert(
  backend: WriteBackend,
  call: ResourceCall,
  {
    object,
    options,
    mayDropOwners,
  }: { readonly object: UntypedObject; readonly options: WriteOptions; readonly mayDropOwners: boolean },
): Promise<Rendering> {
  const { definition } = call;
  const { store } = backend;
  const place = placeOf(definition, object);
  const form = storedForm(definition, object);
  const stored = form instanceof Promise ? await form : form;
  // Objects that existed before a webhook was called may have gone meanwhile.
  if (form instanceof Promise) requirePlace(backend, call, object);
  if (!options.dryRun) {
    const current = commitObject(backend, definition, { ...place, expected: 0, object: stored, mayDropOwners });
    return shownIn(definition, current);
  }
  if (store.table(place.table).get(place.key) !== undefined) throw taken(backend, call, object);
  return showStored(definition, stored);
}

function taken(backend: WriteBackend, { definition }: ResourceCall, object: UntypedObject): Error {
  const { table, key } = placeOf(definition, object);
  const holder = backend.store.table(table).get(key);
  const isTerminating = holder?.object.metadata.deletionTimestamp !== undefined;
  return alreadyExists(definition, object.metadata.name ?? '', isTerminating);
}

/** The namespace of the URL is the namespace of the object. @throws StatusError 400 */
export function placeInNamespace({ definition, path }: ResourceCall, object: UntypedObject): void {
  const { metadata } = object;
  const { namespace = '' } = metadata;
  if (definition.namespaced && namespace !== '' && namespace !== path.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (definition.namespaced) metadata.namespace = path.namespace;
  else delete metadata.namespace;
}

/** A custom resource whose definition is being deleted takes nothing new. @throws StatusError 403, 404 */
function requireServing(backend: WriteBackend, { definition }: ResourceCall, name: string): void {
  if (!definition.isCustom) return;
  const crd = backend.store.table(crdTable).get(`${definition.plural}.${definition.group}`);
  if (crd === undefined) throw notFound(definition, name);
  if (crd.object.metadata.deletionTimestamp !== undefined)
    throw forbiddenObject(definition, name, 'create not allowed while custom resource definition is terminating');
}

/** Drops the fields that the server alone sets on a new object, whatever the client sent. */
export function dropSystemFields({ metadata }: UntypedObject): void {
  for (const field of [
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'selfLink',
    'uid',
  ] as const)
    delete metadata[field];
}

/** The namespace must be there and not on its way out. @throws StatusError 404, 403 */
export function requireNamespace(backend: WriteBackend, { definition, path }: ResourceCall, name: string): void {
  const namespace = backend.store.table('/namespaces').get(path.namespace);
  if (namespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, path.namespace);
  if (namespace.object.metadata.deletionTimestamp === undefined) return;
  const error = forbiddenObject(
    definition,
    name,
    `unable to create new content in namespace ${path.namespace} because it is being terminated`,
  );
  error.status.details = {
    ...error.status.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${path.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  };
  throw error;
}
