import { formatApiVersion, isStatusError, type KubeObject, type Status } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { AdmissionTarget } from '../handler/registration.js';
import { causesOf, isA, memberOf } from '../handler/safe-error.js';
import { shownName } from './admission-webhook.js';
import type { AdmissionRequest } from '../handler/review.js';

/**
 * The reason why a request does not belong to a webhook. No validator or defaulter sees it, and the response is 400.
 */
export function kindProblem(target: AdmissionTarget, request: AdmissionRequest): string | undefined {
  const { kind } = target;
  const { kind: asked } = request;
  if (asked.group === kind.group && asked.kind === kind.kind && asked.version === kind.version) return undefined;
  if (isOfSubResource(target, request)) return undefined;
  const theirs = `${shownName(asked.kind)} of ${shownName(`${asked.group}/${asked.version}`)}`;
  return `this webhook serves ${kind.kind} of ${JSON.stringify(`${kind.group}/${kind.version}`)}, not ${theirs}`;
}

/**
 * Whether it is about a subresource that the webhook is registered for, whose objects may be of another kind, as a
 * Scale is.
 */
function isOfSubResource(
  { kind, registration: { subResources = [] } }: AdmissionTarget,
  { subResource = '', resource }: AdmissionRequest,
): boolean {
  if (subResource === '' || !(subResources.includes(subResource) || subResources.includes('*'))) return false;
  return resource.group === kind.group && resource.version === kind.version && resource.resource === kind.plural;
}

/**
 * The `object` or `oldObject` of a request, checked to be present and of the kind that the request names, see
 * {@link kindProblem}.
 *
 * @throws DecodeError
 */
export function decodeObject(request: AdmissionRequest, field: 'object' | 'oldObject'): KubeObject {
  const object: unknown = request[field];
  const kind = { apiVersion: formatApiVersion(request.kind.group, request.kind.version), kind: request.kind.kind };
  if (object === undefined || object === null)
    throw new DecodeError(`there is no content to decode: request.${field} is missing in a ${request.operation}`);
  if (!isJsonObject(object)) throw new DecodeError(`request.${field} is not an object`);
  // An API server may leave both out; what is there has to fit.
  const { apiVersion = kind.apiVersion, kind: name = kind.kind, metadata } = object;
  if (apiVersion !== kind.apiVersion || name !== kind.kind)
    throw new DecodeError(
      `unable to decode request.${field}: it is ${shownName(apiVersion)}, Kind=${shownName(name)}, not ${JSON.stringify(kind.apiVersion)}, Kind=${JSON.stringify(kind.kind)}`,
    );
  if (metadata !== undefined && !isJsonObject(metadata))
    throw new DecodeError(`unable to decode request.${field}: metadata is not an object`);
  return object as unknown as KubeObject;
}

/** Thrown for a request whose objects are missing or of another kind. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** The Status that an error, or one of its causes, carries. Mirrors `errors.As` with `APIStatus`. */
export function statusOf(error: unknown): Readonly<Status> | undefined {
  return causesOf(error).find(isStatusError)?.status;
}

/**
 * Reports whether an error is a mistake in the program rather than a verdict, which holds for a value that is not an
 * Error, a ReferenceError, or a TypeError without a cause. It corresponds to a nil dereference in Go.
 */
export function isPanic(error: unknown): boolean {
  if (!isA(Error, error)) return true;
  return isA(ReferenceError, error) || (isA(TypeError, error) && memberOf(error, 'cause') === undefined);
}

/** A validator's result as warnings; anything else than a list of strings is a mistake in the program. */
export function warningTexts(outcome: unknown): readonly string[] {
  if (outcome === undefined || outcome === null) return [];
  if (Array.isArray(outcome) && outcome.every((text) => typeof text === 'string')) return outcome;
  throw new TypeError('the validator returned neither a list of warnings nor undefined');
}

/**
 * Refuses an object that a defaulter returned in place of the draft, because it would be dropped. A part of the draft,
 * which a short function returns, means nothing.
 *
 * @throws TypeError
 */
export function requireDraftChanged(draft: unknown, returned: unknown): void {
  if (!isJsonObject(returned) || returned === draft || !('metadata' in returned || 'spec' in returned)) return;
  if (!isPartOf(returned, draft))
    throw new TypeError('the defaulter returned another object: change the draft that it is given, and return nothing');
}

function isPartOf(part: object, whole: unknown): boolean {
  const pending: unknown[] = [whole];
  const seen = new Set<object>();
  while (pending.length > 0) {
    const value = pending.pop();
    if (value === part) return true;
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const member of Object.values(value)) pending.push(member);
  }
  return false;
}
