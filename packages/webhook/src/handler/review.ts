import type { JsonPatchOperation, JsonValue, KubeObject, Status } from '@kctl/apimachinery';
import { safeMessageOf } from './safe-error.js';

/** The operation of an admission request. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Group, version and kind as a review carries them. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Group, version and resource as a review carries them. */
export interface ReviewResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The user of the request. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request of the API server for admission. Mirrors `admission.k8s.io` AdmissionRequest. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string;
  readonly kind: ReviewKind;
  readonly resource: ReviewResource;
  readonly subResource?: string;
  readonly requestKind?: ReviewKind;
  readonly requestResource?: ReviewResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  /** The object as it would be stored; null for DELETE. */
  readonly object?: T | null;
  /** The object as it is stored; null for CREATE. */
  readonly oldObject?: T | null;
  readonly dryRun?: boolean;
  readonly options?: JsonValue;
}

/** The verdict of an admission handler. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  /** Changes to make, in order. */
  readonly patches?: readonly JsonPatchOperation[];
  /** Shown to the user as `Warning` headers, also with a denial. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** Code, reason, message and details (causes with field paths) of a denial. */
  readonly result?: Readonly<Status>;
}

/** Lets the request pass. */
export function allowed(message?: string): AdmissionResponse {
  return { allowed: true, result: { code: 200, ...(message === undefined || message === '' ? {} : { message }) } };
}

/** Refuses the request; the user sees the message. */
export function denied(message: string, reason = 'Forbidden'): AdmissionResponse {
  return { allowed: false, result: { code: 403, reason, ...(message === '' ? {} : { message }) } };
}

/** Allows or refuses; mirrors `ValidationResponse`. */
export function validationResponse(isAllowed: boolean, message?: string): AdmissionResponse {
  return isAllowed ? allowed(message) : denied(message ?? '');
}

/** Refuses because something went wrong here. */
export function errored(code: number, error: unknown): AdmissionResponse {
  return { allowed: false, result: { code, message: safeMessageOf(error) } };
}

/** Lets the request pass with changes. */
export function patched(patches: readonly JsonPatchOperation[], message?: string): AdmissionResponse {
  return { ...allowed(message), patches };
}

/** Adds warnings to a verdict. */
export function withWarnings(response: AdmissionResponse, ...warnings: readonly string[]): AdmissionResponse {
  return { ...response, warnings: [...(response.warnings ?? []), ...warnings] };
}
