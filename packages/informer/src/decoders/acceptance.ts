import type { JsonObject, Kind, KubeObject } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { ObjectType } from '../bytes/lazy-object.js';
import type { SkipReason, VersionIdentity } from './decoder.js';

/** How an API server answers a request for metadata alone. */
export const partialMetadata: ObjectType = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };

/** An object that a store can hold, in the form in which it holds it. */
export interface AcceptedObject {
  readonly object: KubeObject;
  readonly identity: VersionIdentity;
}

/** Why an object is not stored. */
export interface Refusal {
  readonly reason: SkipReason;
  readonly message: string;
  /** The name of the object, if it has one. */
  readonly identity: VersionIdentity | undefined;
}

/**
 * Decides whether a parsed value is stored, and in which form (with its type, without managedFields, and reduced to its
 * metadata if the kind is metadata-only). The one check for everything that is read, as bytes or as objects. Objects
 * that the byte scanner finds without a parse are accepted here too; it leaves everything else to a parse and to this
 * check.
 */
export class Acceptance {
  readonly type: ObjectType;
  readonly #isMetadataOnly: boolean;
  readonly #keepManagedFields: boolean;

  constructor(kind: Kind, keepManagedFields: boolean) {
    this.type = { apiVersion: kind.apiVersion, kind: kind.kind };
    this.#isMetadataOnly = kind.shape === 'metadata';
    this.#keepManagedFields = keepManagedFields;
  }

  /** Type that an object may have, besides no kind at all, as items of built-in lists. */
  get types(): readonly ObjectType[] {
    return this.#isMetadataOnly ? [partialMetadata, this.type] : [this.type];
  }

  accept(value: unknown): AcceptedObject | Refusal {
    if (!hasMetadata(value)) return refused('an object has no metadata');
    const unnamed = wrongIdentity(value.metadata);
    const { namespace, name, uid, resourceVersion } = value.metadata;
    const identity = {
      namespace: text(namespace),
      name: text(name),
      uid: text(uid),
      resourceVersion: text(resourceVersion),
    };
    const other = this.otherType(value);
    if (other !== undefined)
      return {
        reason: 'wrong-kind',
        message: `an object is a ${other}, not a ${this.type.apiVersion} ${this.type.kind}`,
        identity: unnamed === undefined ? identity : undefined,
      };
    return unnamed ?? { object: this.#complete(value), identity };
  }

  /** Type stated by an object, if it is another one. */
  otherType({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): string | undefined {
    // An apiVersion alone does not identify a kind.
    if (kind === undefined || kind === null) return undefined;
    const isOf = (type: ObjectType): boolean =>
      kind === type.kind && (apiVersion ?? type.apiVersion) === type.apiVersion;
    if (this.types.some(isOf)) return undefined;
    return [apiVersion, kind].map((part) => (typeof part === 'string' ? part : '?')).join(' ');
  }

  /** Accepted before, so it has metadata. An object that needs no change stays as it is. */
  #complete(value: WithMetadata): KubeObject {
    const { apiVersion, kind, metadata } = value;
    const kept =
      this.#keepManagedFields || metadata.managedFields === undefined ? metadata : withoutManagedFields(metadata);
    if (this.#isMetadataOnly) return { ...this.type, metadata: kept };
    if (kind === this.type.kind && apiVersion === this.type.apiVersion)
      return kept === metadata ? value : { ...value, metadata: kept };
    const { apiVersion: _apiVersion, kind: _kind, ...rest } = value;
    return { ...this.type, ...rest, metadata: kept };
  }
}

function withoutManagedFields({ managedFields: _, ...metadata }: KubeObject['metadata']): KubeObject['metadata'] {
  return metadata;
}

/** A value that has metadata; what else it has, and what is in there, is not known. */
type WithMetadata = KubeObject & { readonly metadata: Readonly<JsonObject> };

function hasMetadata(value: unknown): value is WithMetadata {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}

/** Whether an object was not accepted. */
export function isRefusal(result: AcceptedObject | Refusal): result is Refusal {
  return 'reason' in result;
}

function refused(message: string): Refusal {
  return { reason: 'no-identity', message, identity: undefined };
}

function wrongIdentity(metadata: Readonly<JsonObject>): Refusal | undefined {
  for (const member of ['name', 'namespace', 'uid', 'resourceVersion']) {
    const value = metadata[member];
    if (value !== undefined && value !== null && typeof value !== 'string')
      return refused(`metadata.${member} of an object is of type ${typeof value}, not a string`);
  }
  return text(metadata['name']) === '' ? refused('an object has no metadata.name') : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
