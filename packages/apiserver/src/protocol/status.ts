import { StatusError, type Status, type StatusCause, type StatusDetails, type StatusReason } from '@kctl/apimachinery';
import { formatFieldErrors, toCauses, type FieldError, goQuoted } from '@kctl/crd/internal/engine';

/** Names a resource in messages, by plural and group. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

function failure(
  code: number,
  reason: StatusReason | undefined,
  message: string,
  details?: StatusDetails,
): StatusError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message };
  if (reason !== undefined) status.reason = reason;
  if (details !== undefined) status.details = details;
  status.code = code;
  return new StatusError(status);
}

function detailsOf(name: string, group: string, kind: string): StatusDetails {
  const details: StatusDetails = {};
  if (name !== '') details.name = name;
  if (group !== '') details.group = group;
  if (kind !== '') details.kind = kind;
  return details;
}

/** `widgets.ex.io`, `pods` for the core group. */
export function qualified(resource: ResourceName): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** 404. `details.kind` is the plural, as upstream has it. */
export function notFound(resource: ResourceName, name: string): StatusError {
  const message = `${qualified(resource)} ${goQuoted(name)} not found`;
  return failure(404, 'NotFound', message, detailsOf(name, resource.group, resource.plural));
}

/** 409 on create; `isTerminating` when the present holder of the name is being deleted. */
export function alreadyExists(resource: ResourceName, name: string, isTerminating = false): StatusError {
  const prefix = isTerminating ? 'object is being deleted: ' : '';
  const message = `${prefix}${qualified(resource)} ${goQuoted(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(name, resource.group, resource.plural));
}

/** 409 on update. The default message is that of a stale resourceVersion. */
export function conflict(
  resource: ResourceName,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} ${goQuoted(name)}: ${why}`;
  return failure(409, 'Conflict', message, detailsOf(name, resource.group, resource.plural));
}

/** 409 of an apply that is at odds with other managers. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return failure(409, 'Conflict', message, { causes: [...causes] });
}

/** 422 with causes. `kind` is the Kind (`Widget`), except if upstream passes the plural (missing resourceVersion). */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const groupKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const message = `${groupKind} ${goQuoted(name)} is invalid: ${formatFieldErrors(errors)}`;
  return failure(422, 'Invalid', message, { ...detailsOf(name, kind.group, kind.kind), causes: toCauses(errors) });
}

/** 422 for request options, with a kind such as `ListOptions`. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** 403 by an admission rule of the server, or by its authorizer. The plural is '' for a path that is not a resource. */
export function forbiddenObject(resource: ResourceName, name: string, why: string): StatusError {
  const subject = name === '' ? qualified(resource) : `${qualified(resource)} ${goQuoted(name)}`;
  const message = resource.plural === '' ? `forbidden: ${why}` : `${subject} is forbidden: ${why}`;
  return failure(403, 'Forbidden', message, detailsOf(name, resource.group, resource.plural));
}

/** 400. */
export function badRequest(message: string): StatusError {
  return failure(400, 'BadRequest', message);
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** 422 of a patch that cannot be applied. Upstream gives no details. */
export function unprocessablePatch(): StatusError {
  return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** 413. */
export function entityTooLarge(message: string): StatusError {
  return failure(413, 'RequestEntityTooLarge', message);
}

/** 415; `accepted` in upstream's order. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** 406. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);
}

/** 406: the answer cannot be shown in the shape that was negotiated. */
export function wrongShape(message: string): StatusError {
  return failure(406, 'NotAcceptable', message);
}

/** 410: the resourceVersion or continue token is too old. */
export function expired(message: string): StatusError {
  return failure(410, 'Expired', message);
}

/** 504 of a resourceVersion in the server's future. */
export function resourceVersionTooLarge(asked: string, current: string): StatusError {
  return failure(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** 429: come back later. */
export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure(429, 'TooManyRequests', message, { retryAfterSeconds });
}

/** 429 of an eviction, with the reason from the budget. */
export function disruptionRefused(why: string, retryAfterSeconds?: number): StatusError {
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** 401. */
export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** 500 as `errors.NewInternalError` builds it. */
export function internalError(message: string): StatusError {
  return failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 500 without a reason, as for a plain Go error, e.g. for a resourceVersion set on create. */
export function unclassified(message: string): StatusError {
  return failure(500, undefined, message);
}

/** 501: something that this server does not do yet, named. */
export function notImplemented(message: string): StatusError {
  return failure(501, 'NotImplemented', message);
}

/** 400 of `fieldValidation=Strict` on a body. */
export function strictDecodingError(kind: { kind: string; version: string }, problems: readonly string[]): StatusError {
  return badRequest(
    `${kind.kind} in version ${goQuoted(kind.version)} cannot be handled as a ${kind.kind}: strict decoding error: ${problems.join(', ')}`,
  );
}
