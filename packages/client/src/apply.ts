import { isConflict } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { KeyOf, Kind, ObjectOf, PersistedObject, Primitive, StatusError } from '@kctl/apimachinery';
import type { SubResourceBodies, SubResources, Writer } from './client.js';
import { isSet, keyOfKind, metadataOf } from './kube-object.js';
import type { PatchOptions } from './options.js';
import { applyPatch } from './patch.js';
import type { Patch } from './patch.js';
import { requireClient, requireName, requireOptionsObject } from './checks/require-arguments.js';
import { requireKind } from './checks/require-kind.js';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { patchOptionNames } from './write-option-names.js';

/** `T` with every field optional, at every depth, because an apply contains only the fields that its owner manages. */
export type ApplyFields<T> = T extends Primitive
  ? T
  : T extends readonly (infer E)[]
    ? readonly ApplyFields<E>[]
    : T extends object
      ? { readonly [P in keyof T]?: ApplyFields<T[P]> }
      : T;

/** The configuration of one field owner for an object, which is its identity and any of its fields. */
export type ApplyConfiguration<K extends Kind> = ApplyFields<ObjectOf<K>> & { readonly metadata: KeyOf<K> };

/** A field that another manager owns, with another value. */
export interface FieldConflict {
  /** The other owner, e.g. `kubectl-client-side-apply`. */
  readonly manager: string;
  /** Path of the field, e.g. `.spec.replicas`. */
  readonly field: string;
  /** The server's message. */
  readonly message: string;
}

const code = 'KCTL_APPLY_CONFLICT';

/**
 * Thrown when others own fields that are to be applied with another value. Trying again does not help; omit the fields,
 * or apply with `force` to take them over.
 */
export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_APPLY_CONFLICT' = code;
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[], options?: ErrorOptions) {
    const list = conflicts.map(({ manager, field }) => `${field} (${manager})`).join(', ');
    super(`apply: others own ${list}: leave the fields out or apply with force`, options);
    this.conflicts = conflicts;
  }
}

/** Whether an error is an {@link ApplyConflictError}, also one of another copy of this package. */
export function isApplyConflict(error: unknown): error is ApplyConflictError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Options of {@link apply}: `fieldOwner` is required by the server, here or through `withFieldOwner`. */
export type ApplyOptions = PatchOptions;

/**
 * Server-side apply. Sets the fields of `configuration`, creates the object if it does not exist, and removes fields
 * that this owner applied before and omits now. `apiVersion` and `kind` are filled in.
 *
 * @throws ApplyConflictError when others own some of the fields
 * @throws TypeError when the configuration has managedFields (an object as it was read cannot be applied), no name, or
 * no namespace although the kind needs one
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { apply } from '@kctl/client';
 *
 * await apply(
 *   client,
 *   Deployment,
 *   { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas: 3 } },
 *   { fieldOwner: 'shop-operator', force: true },
 * );
 * ```
 */
export async function apply<K extends Kind>(
  client: Pick<Writer, 'patch'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  options: ApplyOptions = {},
): Promise<PersistedObject<K>> {
  requireClient('apply', client, ['patch']);
  requireOptionsObject('apply', options);
  requireOptions('apply', options, patchOptionNames);
  const { key, patch } = toPatch('apply', kind, configuration);
  try {
    return await client.patch(kind, key, patch, options);
  } catch (error) {
    throw asApplyConflict(error);
  }
}

/**
 * Server-side apply of the subresource `status`: as {@link apply}, for the fields of the status. The object must be there.
 *
 * @throws as {@link apply}; StatusError 404 if the object does not exist
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { applyStatus } from '@kctl/client';
 *
 * const status = { readyReplicas: 3, replicas: 3 };
 * const web = { metadata: { namespace: 'shop', name: 'web' }, status };
 * await applyStatus(client, Deployment, web, { fieldOwner: 'shop-operator' });
 * ```
 */
export async function applyStatus<K extends Kind>(
  client: Pick<SubResources, 'status'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  options: ApplyOptions = {},
): Promise<PersistedObject<K>> {
  requireClient('applyStatus', client, ['status']);
  requireOptionsObject('applyStatus', options);
  requireOptions('applyStatus', options, patchOptionNames);
  const { key, patch } = toPatch('applyStatus', kind, configuration);
  try {
    return await client.status(kind).patch(key, patch, options);
  } catch (error) {
    throw asApplyConflict(error);
  }
}

/** Options of {@link applySubResource}. */
export interface ApplySubResourceOptions extends ApplyOptions {
  /** Such as `scale` or `status`. */
  readonly subresource: string;
}

/**
 * Server-side apply of any subresource, such as `scale`. Works as {@link apply}, for the fields of its body. The object
 * must exist. `apiVersion` and `kind` are those of the body if it has its type, as a Scale does.
 *
 * @throws as {@link apply}; StatusError 404 if the object does not exist
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { applySubResource } from '@kctl/client';
 *
 * const scale = { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas: 3 } };
 * await applySubResource(client, Deployment, scale, { subresource: 'scale', fieldOwner: 'autoscaler' });
 * ```
 */
export async function applySubResource<K extends Kind, N extends keyof SubResourceBodies>(
  client: Pick<SubResources, 'subResource'>,
  kind: K,
  configuration: ApplyFields<SubResourceBodies[N]> & { readonly metadata: KeyOf<K> },
  options: ApplySubResourceOptions & { readonly subresource: N },
): Promise<SubResourceBodies[N]>;
export async function applySubResource<K extends Kind>(
  client: Pick<SubResources, 'subResource'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  options: ApplySubResourceOptions,
): Promise<PersistedObject<K>>;
export async function applySubResource<K extends Kind>(
  client: Pick<SubResources, 'subResource'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  given: ApplySubResourceOptions,
): Promise<object> {
  requireClient('applySubResource', client, ['subResource']);
  requireOptionsObject('applySubResource', given, '{ subresource, fieldOwner }');
  requireOptions('applySubResource', given, subResourceOptionNames);
  const { subresource, ...options } = given;
  requireName('applySubResource', 'subresource', subresource);
  const body = subresource === 'scale' ? { apiVersion: 'autoscaling/v1', kind: 'Scale' } : kind;
  const { key, patch } = toPatch('applySubResource', kind, configuration, body);
  try {
    return await client.subResource(kind, subresource).patch(key, patch, options);
  } catch (error) {
    throw asApplyConflict(error);
  }
}

const subResourceOptionNames: OptionNames<ApplySubResourceOptions> = { ...patchOptionNames, subresource: true };

function toPatch<K extends Kind>(
  what: string,
  kind: K,
  configuration: ApplyConfiguration<K>,
  body?: { readonly apiVersion: string; readonly kind: string },
): { readonly key: KeyOf<K>; readonly patch: Patch } {
  requireKind(what, kind);
  const { apiVersion, kind: kindName } = body ?? kind;
  const key = keyOfKind(kind, configuration);
  if (isSet(metadataOf(configuration).managedFields))
    throw new TypeError(
      `apply: ${kind.kind} ${key.name} has managedFields: apply the fields you want, not an object as it was read`,
    );
  return { key, patch: applyPatch({ ...configuration, apiVersion, kind: kindName }) };
}

function asApplyConflict(error: unknown): unknown {
  if (!isConflict(error)) return error;
  const conflicts = conflictsOf(error);
  return conflicts.length === 0 ? error : new ApplyConflictError(conflicts, { cause: error });
}

function conflictsOf(error: StatusError): FieldConflict[] {
  const causes = error.status.details?.causes ?? [];
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ field, message, manager: /"([^"]*)"/.exec(message)?.[1] ?? 'unknown' }));
}

/** The fields of a configuration that the server tracks, without its identity. */
export function appliedFields(configuration: object): Readonly<Record<string, unknown>> {
  if (!isJsonObject(configuration)) return {};
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...fields } = configuration;
  if (!isJsonObject(metadata)) return fields;
  const { name: _name, namespace: _namespace, uid: _uid, resourceVersion: _version, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? fields : { ...fields, metadata: rest };
}
