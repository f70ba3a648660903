import { parseJson, StatusError } from '@kctl/apimachinery';
import type { Kind, NoKindMatchError, Status, StatusReason } from '@kctl/apimachinery';
import { collect } from './byte-stream.js';
import { noKindMatch } from './errors.js';
import { redact } from './redact.js';
import type { TransportResponse } from './transport.js';

/** What a failed request was about. */
export interface FailedRequest {
  readonly method: string;
  readonly server: string;
  readonly kind: Kind;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

const reasons: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** client-go includes this much of an answer that is no Status. */
const maxTextLength = 2048;

/**
 * The error for an answer that is no success: a StatusError, or, for a 404 that is about the URL and not about an
 * object, a NoKindMatchError.
 */
export async function failureOf(
  response: TransportResponse,
  request: FailedRequest,
): Promise<StatusError | NoKindMatchError> {
  const text = (await collect(response.body)).toString();
  const given = parseStatus(text);
  if (response.status === 404 && isAboutPath(given))
    return noKindMatch(request.kind, request.server, request.subresource);
  return new StatusError(withRetryAfter(given ?? genericStatus(response, text, request), response));
}

/** The Status that a text holds, if it is one of a failure. */
export function parseStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = parseJson(text);
    return isStatus(value) && value.status !== 'Success' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is a Status by its kind. Old servers leave the apiVersion out. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'Status') return false;
  return !('apiVersion' in value) || value.apiVersion === 'v1';
}

/** The server names the object that is missing; a URL that it does not know comes without a name. */
function isAboutPath(status: Status | undefined): boolean {
  return (status?.details?.name ?? '') === '';
}

function genericStatus(response: TransportResponse, text: string, request: FailedRequest): Status {
  const { method, kind, name } = request;
  const code = response.status;
  const said = text.trim() === '' ? '' : `: ${redact(text.trim().slice(0, maxTextLength))}`;
  const what = `${kind.plural}${kind.group === '' ? '' : `.${kind.group}`}${name === undefined ? '' : ` ${JSON.stringify(name)}`}`;
  return {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code,
    reason: reasons[code] ?? (code >= 500 ? 'InternalError' : 'Unknown'),
    message: `${method} ${what}: ${request.server} answered ${code}${said}`,
    details: { ...(name === undefined ? {} : { name }), group: kind.group, kind: kind.plural },
  };
}

function withRetryAfter(status: Status, response: TransportResponse): Status {
  const { retryAfterMs } = response;
  const completed = { ...status, code: status.code ?? response.status };
  if (retryAfterMs === undefined || completed.details?.retryAfterSeconds !== undefined) return explained(completed);
  return { ...completed, details: { ...completed.details, retryAfterSeconds: Math.ceil(retryAfterMs / 1000) } };
}

/** The server says just "Unauthorized" to an expired token: one word that names neither what nor where. */
function explained(status: Status): Status {
  if (status.code !== 401 || (status.message ?? 'Unauthorized') !== 'Unauthorized') return status;
  return {
    ...status,
    message: 'Unauthorized: the API server does not accept the credentials: is the token or certificate expired?',
  };
}
