import { isStatusError, type UntypedObject } from '@kctl/apimachinery';
import { cloneJson, isObject, setOwn, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import {
  isUnreadable,
  mediaTypeOf,
  parseJsonBody,
  parseYamlBody,
  problemOfYaml,
  type OtherThread,
  type ParsedBody,
} from '../codecs/body.js';
import { goKindOf, parseBoolParameter } from '../protocol/go-text.js';
import { JsonSyntaxError, TooDeepError } from '../json/strict-json.js';
import type { Atom } from '../managed-fields/atom.js';
import { printErrors, typeErrors } from '../managed-fields/check.js';
import { ApplyConflictError, printManager } from '../managed-fields/conflicts.js';
import { allowedByLastApplied, refreshLastApplied } from '../managed-fields/last-applied.js';
import { ListItemError } from '../managed-fields/list-items.js';
import { decodeManagers, type Manager, type Managers } from '../managed-fields/managers.js';
import { printPath } from '../managed-fields/path-element.js';
import { applyOwners, updateOwners, type AppliedOwners, type OwnershipChange } from '../managed-fields/updater.js';
import type { KindRef, ResourceDefinition } from '../resource/resource.js';
import { applyConflict, badRequest, conflict, methodNotAllowed, notFound, unclassified } from '../protocol/status.js';
import { convertVersions } from '../storage/convert-versions.js';
import type { ObjectVersion } from '../storage/version.js';
import type { Admission } from './admission.js';
import { isLongBody } from '../codecs/long-body.js';
import { storageKeyOf, type WriteBackend, type ResourceCall } from './call.js';
import { retryOnLostRace } from './commit.js';
import { createStored } from './create.js';
import { isKnownNoop, noteOutcome, type NoopCandidate } from './known-noops.js';
import { nextTurn } from '@kctl/wait/internal';
import { computeOwners, ownershipChange, setOwners, stateErrors, type OwnedWrite } from './managed-fields.js';
import { beginUpdateAdmission, checkIdentity, requirePresent, writeUpdate, type WriteTarget } from './update.js';
import { parseWriteOptions, reportDuplicates, type WriteOptions } from './write-options.js';
import type { Written } from './written.js';

/** The media type of a configuration that is applied. */
export const applyPatch = 'application/apply-patch+yaml';

/** Whether a PATCH is an apply. */
export function isApply({ request }: Pick<ResourceCall, 'request'>): boolean {
  return mediaTypeOf(request.header('content-type')) === applyPatch;
}

/** A configuration and how it is to be applied. */
export interface Application {
  readonly config: JsonObject;
  readonly isForced: boolean;
  /** Length of its source. */
  readonly length: number;
  readonly options: WriteOptions;
}

/**
 * Reads an apply request. `requireTarget` refuses one whose object must exist, before its configuration is read.
 *
 * @throws StatusError 400, 404, 413, 422
 */
export async function readApplication(call: ResourceCall, requireTarget: () => void): Promise<Application> {
  return parseApplication(call, await readText(call, requireTarget));
}

/** An apply request whose configuration has not been parsed. */
interface ApplicationText {
  readonly text: string;
  /** In bytes. */
  readonly length: number;
  readonly options: WriteOptions;
}

const decoder = new TextDecoder();

async function readText(call: ResourceCall, requireTarget: () => void): Promise<ApplicationText> {
  const options = parseWriteOptions(call, 'PatchOptions');
  const bytes = await call.request.readBody();
  requireTarget();
  return { text: decoder.decode(bytes), length: bytes.length, options };
}

async function parseApplication(call: ResourceCall, { text, length, options }: ApplicationText): Promise<Application> {
  const { offload, request, query } = call;
  const { config, duplicates } = await parseConfig(text, { offload, signal: request.signal });
  reportDuplicates(call, duplicates, options.fieldValidation);
  if (isLongBody({ length })) await nextTurn();
  return { config, isForced: parseBoolParameter(query, 'force'), length, options };
}

/** A configuration in JSON; undefined for one in YAML's flow style, which begins alike. */
function jsonOf(text: string, depth: number): ParsedBody | undefined {
  try {
    return parseJsonBody(text, depth);
  } catch (error) {
    if (error instanceof JsonSyntaxError && !(error instanceof TooDeepError)) return undefined;
    throw error;
  }
}

/** A configuration, and the errors about its keys that are there more than once. */
interface ParsedConfig {
  readonly config: JsonObject;
  readonly duplicates: readonly string[];
}

async function parseConfig(text: string, elsewhere: OtherThread): Promise<ParsedConfig> {
  let value: unknown;
  let duplicates: readonly string[] = [];
  try {
    // Upstream reads it as YAML, which has no escapes of half characters.
    const isJson = text.trimStart().startsWith('{') && !/\\u[dD][89a-fA-F]/.test(text);
    const json = isJson ? jsonOf(text, elsewhere.offload.depth) : undefined;
    const isYaml = json === undefined || json.duplicates.length > 0;
    // Duplicates of JSON have the messages of YAML, which is how upstream reads both.
    const yaml = isYaml ? await parseYamlBody(text, elsewhere) : undefined;
    value = (json ?? yaml)?.value;
    duplicates = yaml?.duplicates ?? [];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    throw badRequest(`error decoding YAML: ${problemOfYaml(error)}`);
  }
  if (value === null || value === undefined) return { config: {}, duplicates };
  if (!isObject(value)) {
    const kind = goKindOf(value);
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return { config: value, duplicates };
}

/** PATCH of an object, or of a subresource that shows it whole, by server-side apply. */
export async function apply(backend: WriteBackend, call: ResourceCall, target: WriteTarget): Promise<Written> {
  const { path } = call;
  if (path.name === '') throw methodNotAllowed();
  // As upstream, through its status a kind is created that a PUT creates.
  const mayCreate = target.subresource === '' || call.definition.allowCreateOnUpdate;
  const given = await readText(call, () => {
    if (!mayCreate) requirePresent(backend, call);
  });
  const { options, text } = given;
  const candidate: NoopCandidate = { call, options, target, text };
  const before = presentOf(backend, call);
  if (before !== undefined && isKnownNoop(before, candidate)) {
    using admission = beginUpdateAdmission(backend, call, { target, options });
    if (admission === undefined) return { status: 200, rendering: before.in(call.definition) };
  }
  const silent = call.warnings.length;
  const application = await parseApplication(call, given);
  const warned = call.warnings.length;
  using admission = beginUpdateAdmission(backend, call, { target, options });
  return await retryOnLostRace(async () => {
    call.warnings.length = warned;
    const present = presentOf(backend, call);
    const written = await applyOnce(backend, call, { present, application, target, admission });
    const isSilent = admission === undefined && call.warnings.length === silent;
    if (present !== undefined && isSilent) noteOutcome(present, candidate, written.rendering);
    return written;
  }, admission?.signal);
}

function presentOf({ store }: WriteBackend, { definition, path }: ResourceCall): ObjectVersion | undefined {
  return store.table(definition.storageKey).get(storageKeyOf(path.namespace, path.name));
}

async function applyOnce(
  backend: WriteBackend,
  call: ResourceCall,
  {
    present,
    application,
    target,
    admission,
  }: {
    readonly present: ObjectVersion | undefined;
    readonly application: Application;
    readonly target: WriteTarget;
    readonly admission: Admission | undefined;
  },
): Promise<Written> {
  const { definition, path } = call;
  const { options } = application;
  const converted = present && convertVersions(definition, [present]);
  if (converted !== undefined) await converted;
  const live = present?.in(definition).object ?? definition.fieldTyping.empty();
  let isStamped = false;
  const onStamp = (): void => void (isStamped = true);
  const write = { definition, manager: options.fieldManager, subresource: target.subresource, onStamp };
  const merging = computeOwners(write, (converting) => applyConfig(backend, converting, { live, application }));
  const object = merging instanceof Promise ? await merging : merging;
  // A write that comes first makes this one begin again.
  if (isLongBody(application)) await nextTurn();
  if (present === undefined) {
    if (target.subresource !== '' && !definition.allowCreateOnUpdate) throw notFound(definition, path.name);
    const { uid = '' } = object.metadata;
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    if (uid !== '') throw conflict(definition, path.name, why);
    checkIdentity(call, object);
    delete object.metadata.resourceVersion;
    const { subresource } = target;
    const created = { object, options, isTracked: true, isStamped, isUpsert: true, subresource };
    return { status: 201, rendering: await createStored(backend, call, created) };
  }
  checkIdentity(call, object);
  if (admission === undefined) {
    const { resourceVersion = '' } = object.metadata;
    if (resourceVersion !== '' && resourceVersion !== String(present.revision)) throw conflict(definition, path.name);
  }
  const update = { object, present, target, options, isTracked: true, isStamped, admission };
  return { status: 200, rendering: await writeUpdate(backend, call, update) };
}

/** The live object with a configuration applied, owners included, decoded and defaulted. @throws StatusError 400, 409, 500 */
function applyConfig(
  backend: WriteBackend,
  write: OwnedWrite,
  { live, application }: { readonly live: UntypedObject; readonly application: Application },
): UntypedObject {
  const { definition } = write;
  const { group, version, kind, fieldTyping } = definition;
  const config = readConfig({ group, version, kind, atom: fieldTyping.atom }, application.config);
  const errors = stateErrors(definition, live);
  if (errors.length > 0) throw untyped(live, printErrors(errors));
  const change = applyChange(backend, write, live);
  const applied = attempt(change, { config, application, write });
  // As upstream, an object that the configuration leaves as it is gets no defaults.
  const object =
    applied.object === undefined ? cloneJson(change.live) : decodeApplied(definition, config, applied.object);
  if (definition.isCustom && applied.object !== undefined) {
    const { metadata, ...merged } = applied.object;
    restoreNulls(merged, object);
    restoreEmptied(metadata, object.metadata);
  }
  setOwners(object, applied.managers);
  return object;
}

/** As upstream, the owners of an object that does not match its type cannot be found. */
function untyped(live: UntypedObject, errors: string): Error {
  const name = nameOf(live);
  const hasOwners = (decodeManagers(live.metadata.managedFields)?.size ?? 0) > 0;
  return unclassified(
    hasOwners
      ? `failed to create typed live object (${name}): ${errors}`
      : `failed to create manager for existing fields: failed to convert new object (${name}) to smd typed: ${errors}`,
  );
}

/** Decodes the object that a configuration results in. @throws StatusError 500 */
function decodeApplied(definition: ResourceDefinition, config: UntypedObject, applied: UntypedObject): UntypedObject {
  try {
    return definition.decode({ value: cloneJson(applied) }).object;
  } catch (error) {
    if (definition.isCustom || !isStatusError(error) || error.status.code !== 400) throw error;
    const reason = error.message
      .replace(/^.* cannot be handled as a \S+: /, '')
      .replace(/^illegal base64/, 'error decoding from json: $&');
    throw unclassified(
      `failed to convert new object (${nameOf(config)}) to proper version: unable to convert unstructured object to ${describeType(config)}: ${reason}`,
    );
  }
}

/** Upstream's name of a configuration, with its location and kind. */
function nameOf(config: JsonObject): string {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  return `${stringOf(metadata['namespace'])}/${stringOf(metadata['name'])}; ${describeType(config)}`;
}

/**
 * Restores nulls that decoding drops. As upstream, a configuration that contains null, or that takes the last item of a
 * list which another manager owns, is for the validation to refuse.
 */
function restoreNulls(from: unknown, to: unknown): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (const [index, item] of from.entries()) restoreNulls(item, to[index]);
  }
  if (!isObject(from) || !isObject(to)) return;
  for (const [name, value] of Object.entries(from)) {
    if (value !== null) restoreNulls(value, to[name]);
    else if (!Object.hasOwn(to, name)) setOwn(to, name, null);
  }
}

/** Restores parts of the metadata that decoding drops if they are null or empty. As upstream, admission sees them. */
function restoreEmptied(from: UntypedObject['metadata'], to: UntypedObject['metadata']): void {
  for (const name of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    const given: unknown = from[name];
    if (given === null || (typeof given === 'object' && Object.keys(given).length === 0)) setOwn(to, name, given);
  }
}

/** State that an apply finds. Writes from before owners were tracked get a manager's name. */
function applyChange(backend: WriteBackend, write: OwnedWrite, live: UntypedObject): OwnershipChange {
  const managers: Managers = decodeManagers(live.metadata.managedFields) ?? new Map<string, Manager>();
  if (managers.size > 0) return ownershipChange(backend, write, { operation: 'Apply', live, managers });
  const before = { ...write, manager: 'before-first-apply' };
  const empty = write.definition.fieldTyping.empty();
  const first = ownershipChange(backend, before, { operation: 'Update', live: empty, managers });
  const change = ownershipChange(backend, write, { operation: 'Apply', live, managers });
  return { ...change, managers: updateOwners(first, change.live) };
}

/** Checks that a configuration is about this kind. @throws StatusError 400 */
export function requireType({ group, version, kind }: KindRef, config: JsonObject): void {
  const [given, expected] = [describeType(config), `${group}/${version}, Kind=${kind}`];
  if (given !== expected) throw badRequest(`invalid object type: ${given}`);
}

/** Checks that a configuration is one of this kind. @throws StatusError 400, 500 */
export function readConfig({ atom, ...kind }: KindRef & { readonly atom: Atom }, config: JsonObject): UntypedObject {
  requireType(kind, config);
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  if (Array.isArray(metadata['managedFields'])) throw badRequest('metadata.managedFields must be nil');
  const errors = typeErrors(config, atom);
  if (errors.length > 0) {
    throw unclassified(`failed to create typed patch object (${nameOf(config)}): ${printErrors(errors)}`);
  }
  return { ...config, metadata };
}

/** Go's print of a GroupVersionKind. */
export function describeType(config: JsonObject): string {
  const apiVersion = stringOf(config['apiVersion']);
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${groupVersion}, Kind=${stringOf(config['kind'])}`;
}

interface Attempt {
  readonly config: UntypedObject;
  readonly application: Application;
  readonly write: OwnedWrite;
}

function attempt(change: OwnershipChange, { config, application, write }: Attempt): AppliedOwners {
  const type = change.versions.find(write.definition.apiVersion);
  const isKubectl = write.manager === 'kubectl' && type !== undefined;
  try {
    const applied = tryApply(change, config, application.isForced);
    if (!isKubectl) return applied;
    const object = refreshLastApplied(applied.object ?? change.live, config);
    return { ...applied, object: object ?? applied.object };
  } catch (error) {
    if (!(error instanceof ApplyConflictError)) throw error;
    // Fields that kubectl's client-side apply set last may be taken over by kubectl.
    const left = isKubectl ? allowedByLastApplied(change.live, type.atom, error) : error;
    if (left !== undefined) throw conflictStatus(left);
    const applied = tryApply(change, config, true);
    return { ...applied, object: refreshLastApplied(applied.object ?? change.live, config) ?? applied.object };
  }
}

/** Applies, without forgiving conflicts. @throws ApplyConflictError, StatusError 500 */
export function tryApply(change: OwnershipChange, config: UntypedObject, isForced: boolean): AppliedOwners {
  try {
    return applyOwners({ ...change, managers: new Map(change.managers) }, config, isForced);
  } catch (error) {
    throw error instanceof ListItemError ? unclassified(`failed to merge config: ${error.message}`) : error;
  }
}

/** The answer to a conflict. */
export function conflictStatus(error: ApplyConflictError): Error {
  const causes = error.conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: printPath(path),
  }));
  return applyConflict(error.message, causes);
}
