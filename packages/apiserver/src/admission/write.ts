import type { UntypedObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/crd/internal/engine';
import type { Authorizer } from '../authorization/authorizer.js';
import type { KindRef, ResourceDefinition } from '../resource/resource.js';
import type { User } from '../protocol/api-request.js';
import type { WriteCaller } from '../outgoing/webhook-caller.js';

/**
 * Operation of a write, in the terms of admission. A patch is an UPDATE, or a CREATE if it creates the object; CONNECT
 * covers exec, attach, portforward and proxy, with their options as object.
 */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A resource of one version. */
export interface ResourceRef {
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
}

/** The properties of a write before anything is read. They decide whether a plugin can concern it. */
export interface WriteFacts {
  readonly operation: AdmissionOperation;
  readonly definition: ResourceDefinition;
  readonly resource: ResourceRef;
  /** '' for the object itself. */
  readonly subresource: string;
  /** Kind of what is written: `Scale` for a write of `/scale`. */
  readonly kind: KindRef;
  /** '' for what is cluster-scoped; of a Namespace its own name. */
  readonly namespace: string;
}

/** Plugin state kept between the first and the second round of one mutating pass. */
export interface Reinvocation {
  /** Whether this is the second round. */
  isReinvoke: boolean;
  /** Whether a plugin wants a second round. */
  isRequested: boolean;
  /** By plugin name. */
  readonly values: Map<string, unknown>;
}

/** One write on its way through the plugins. Mirrors `admission.Attributes`. */
export interface AdmissionWrite extends WriteFacts {
  /** '' for a create whose name is still to be generated, and for each deletion of a deletecollection. */
  readonly name: string;
  /** The new state in the version of the request; undefined for DELETE. A mutating plugin replaces it, never changes it. */
  object: UntypedObject | undefined;
  /**
   * The object as received, if the first patch of a webhook counts as a change whatever it changes. That is so if one
   * of the owners of a built-in kind has the time of this write, and in the Scale of a custom resource.
   */
  stamped?: UntypedObject | undefined;
  /** The state that is replaced or deleted; undefined for CREATE. */
  readonly oldObject: UntypedObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions; null for CONNECT. */
  readonly options: JsonObject | null;
  readonly dryRun: boolean;
  readonly user: User;
  /** Authorizer that expressions query for the user. */
  readonly authorizer: Authorizer;
  readonly reinvocation: Reinvocation;
  /** Caller of mutating webhooks. @default as all others */
  readonly caller?: WriteCaller | undefined;
  /** Aborted when the request has ended, because its deadline has passed or its client has gone. */
  readonly signal: AbortSignal;
  /** Remaining time of the request, in ms. */
  remainingMs(): number;
  /** Adds a `Warning` header to the answer, even if the write is refused. */
  warn(text: string): void;
  /** Adds an audit annotation; the first value of a key stays. */
  annotate(key: string, value: string): void;
}

/**
 * The name of an object in a refusal. It may still have to be generated, and objects deleted as a collection have none.
 */
export function nameInRefusal({ name, object }: Pick<AdmissionWrite, 'name' | 'object'>): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
}
