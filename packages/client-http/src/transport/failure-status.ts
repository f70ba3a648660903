import { formatKey, parseJson, StatusError } from '@kctl/apimachinery';
import { formatGroupResource, typedStatus } from '@kctl/apimachinery/internal';
import type { Kind, NoKindMatchError, Status, StatusReason } from '@kctl/apimachinery';
import { collectPrefix } from '../bytes/byte-stream.js';
import { isTransportError, noKindMatch } from '../errors.js';
import { redact } from '@kctl/client/internal/connection';
import type { TransportResponse } from './transport.js';

/** The subject of a failed request. */
export interface FailedRequest {
  readonly method: string;
  readonly server: string;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
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

/** client-go includes this much of an answer that is not a Status. */
const maxTextLength = 2048;
/** The part of an unsuccessful answer that is read, in bytes. A Status with a thousand causes is a tenth of it. */
const maxErrorBytes = 1024 * 1024;
/** An API server's answer for a URL that it does not serve, as a Status and as plain characters. */
const unknownPath = /^(the server could not find the requested resource\b.*|404 page not found)?$/is;

/**
 * Returns the error for an unsuccessful answer, which is a StatusError, or, for a 404 about the URL instead of an
 * object, a NoKindMatchError whose cause contains the answer. At most 1 MiB of the answer is read; a truncated answer
 * is still the error of its status code.
 */
export async function failureOf(
  response: TransportResponse,
  request: FailedRequest,
): Promise<StatusError | NoKindMatchError> {
  const answer = await readAnswer(response);
  const given = parseStatus(answer.text);
  const status = withRetryAfter(
    given === undefined ? genericStatus(response, answer, request) : withoutSecret(given, request.kind),
    response,
  );
  const error = new StatusError(status, answer.cause === undefined ? {} : { cause: answer.cause });
  if (response.status !== 404 || !isAboutPath(given)) return error;
  const said = given === undefined && !unknownPath.test(answer.text.trim()) ? quoted(answer) : '';
  return noKindMatch({ ...request, answer: said, cause: error });
}

interface Answer {
  readonly text: string;
  /** Why this is not all of it. */
  readonly cut?: string;
  readonly cause?: unknown;
}

async function readAnswer(response: TransportResponse): Promise<Answer> {
  try {
    const { bytes, isWhole } = await collectPrefix(response.body, maxErrorBytes);
    return { text: bytes.toString(), ...(isWhole ? {} : { cut: ' (cut: the answer is longer than 1 MiB)' }) };
  } catch (cause) {
    if (!isTransportError(cause)) throw cause;
    return { text: '', cut: ' (the answer broke off)', cause };
  }
}

/** Returns the Status in a body, if it is one of a failure, with only the members of the right types. */
export function parseStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = parseJson(text);
    return isStatus(value) && value.status !== 'Success' ? typedStatus(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The error of an answer that is not about an object. Its code is the HTTP status if the Status has no code. */
export function statusErrorOf(
  answer: { readonly status: number; readonly text: string },
  message: string,
): StatusError {
  return new StatusError({ code: answer.status, ...(parseStatus(answer.text) ?? { status: 'Failure', message }) });
}

/** A document quoted in a message, because the API server shows the whole object if a patched one cannot be read. */
const quotedDocument = /"\{(?:[^"\\]|\\.)*"/g;

/** A Status about a Secret without the documents that its messages quote. */
function withoutSecret(status: Status, { group, kind }: Kind): Status {
  if (group !== '' || kind !== 'Secret') return status;
  const shown = (text: string): string => text.replace(quotedDocument, '[redacted]');
  const { message, details } = status;
  const causes = details?.causes?.map((cause) =>
    cause.message === undefined ? cause : { ...cause, message: shown(cause.message) },
  );
  return {
    ...status,
    ...(message === undefined ? {} : { message: shown(message) }),
    ...(causes === undefined ? {} : { details: { ...details, causes } }),
  };
}

/** Whether a value is a Status by its kind. Old servers leave the apiVersion out. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'Status') return false;
  return !('apiVersion' in value) || value.apiVersion === 'v1';
}

/** The failure that the body of a success is, such as what a proxy that answers 200 to everything forwards. */
export function failureInBody(value: unknown, kind: Kind): StatusError | undefined {
  if (!isStatus(value) || value.status !== 'Failure') return undefined;
  return new StatusError(withoutSecret(typedStatus(value), kind));
}

/**
 * Reports whether a 404 means that the URL is not served. A missing object is named, and a webhook or an aggregated API
 * server that answers 404 gives a reason. An answer that is not a Status does not come from an API server that has the
 * kind, and must not be taken for the end of an object.
 */
function isAboutPath(status: Status | undefined): boolean {
  if (status === undefined) return true;
  return (status.details?.name ?? '') === '' && unknownPath.test((status.message ?? '').trim());
}

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/** The message of an answer that is not a Status. JSON is not quoted, because it may be a Secret. */
function quoted({ text, cut = '' }: Answer): string {
  const said = text.trim();
  if (looksLikeJson(said)) return `JSON of ${said.length} characters that is not a Status${cut}`;
  return said === '' ? cut.trim() : `${redact(said.slice(0, maxTextLength))}${cut}`;
}

/** A redirect is never followed, because its destination would receive the credentials. */
function redirected({ status, location }: TransportResponse): string {
  if (status < 300 || status > 399 || status === 304) return '';
  const where = location === undefined ? ' without a Location' : ` to ${redact(location.replace(/[?#].*$/s, ''))}`;
  return `, a redirect${where}: is a proxy or a login page in front of the API server?`;
}

function genericStatus(response: TransportResponse, answer: Answer, request: FailedRequest): Status {
  const { method, kind, namespace = '', name } = request;
  const code = response.status;
  const text = quoted(answer);
  const said = redirected(response) || (text === '' ? '' : `: ${text}`);
  const resource = formatGroupResource(kind);
  const what =
    name !== undefined
      ? `${resource} ${JSON.stringify(formatKey({ namespace, name }))}`
      : namespace === ''
        ? resource
        : `${resource} in namespace ${JSON.stringify(namespace)}`;
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

/** The server answers an expired token with "Unauthorized", a single word that names neither cause nor place. */
function explained(status: Status): Status {
  if (status.code !== 401 || (status.message ?? 'Unauthorized') !== 'Unauthorized') return status;
  return {
    ...status,
    message: 'Unauthorized: the API server does not accept the credentials: is the token or certificate expired?',
  };
}
