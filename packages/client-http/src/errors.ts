import { NoKindMatchError } from '@kctl/apimachinery';
import { CallSiteError } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';

/** The kind of failure between client and server. */
export type TransportFailure =
  /** No connection could be made (refused, no route, no such host, a proxy that refuses). */
  | 'unreachable'
  /** The TLS handshake failed (unknown CA, wrong name, expired certificate, refused client certificate). */
  | 'tls'
  /** The connection broke while the request was under way or the body was being read. */
  | 'reset'
  /** No answer, or no more of it, in time. */
  | 'timeout'
  /** The answer is not HTTP, or ended before it was complete. */
  | 'malformed'
  /** The client was disposed. */
  | 'closed';

/** Fields of a {@link TransportError}. */
export interface TransportErrorFields {
  readonly failure: TransportFailure;
  readonly method: string;
  /** `https://host:port`, without user information. */
  readonly server: string;
  /** Path without the query. */
  readonly path: string;
  /** Whether the server may have received the request. False means that it was certainly never sent. */
  readonly maybeSent: boolean;
  readonly message: string;
}

const transportCode = 'KCTL_TRANSPORT';

/** Thrown when there is no (whole) answer. `cause` has the error of the network stack. */
export class TransportError extends CallSiteError {
  override readonly name = 'TransportError';
  readonly code: 'KCTL_TRANSPORT' = transportCode;
  readonly failure: TransportFailure;
  readonly method: string;
  readonly server: string;
  readonly path: string;
  readonly maybeSent: boolean;

  constructor(fields: TransportErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.failure = fields.failure;
    this.method = fields.method;
    this.server = fields.server;
    this.path = fields.path;
    this.maybeSent = fields.maybeSent;
  }
}

/** Whether an error is a {@link TransportError}, also one of another copy of this package. */
export function isTransportError(error: unknown): error is TransportError {
  return hasCode(error, transportCode);
}

const credentialsCode = 'KCTL_CREDENTIALS';

/**
 * Thrown when credentials are unavailable from a token file, an exec plugin or an identity provider. Never holds a
 * secret.
 */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
  readonly code: 'KCTL_CREDENTIALS' = credentialsCode;
}

/** Whether an error is a {@link CredentialsError}. */
export function isCredentialsError(error: unknown): error is CredentialsError {
  return hasCode(error, credentialsCode);
}

/** The {@link NoKindMatchError} for a kind token that a server does not serve. */
export function noKindMatch(request: {
  readonly kind: Kind;
  readonly server: string;
  readonly subresource?: string | undefined;
  /** The server's answer, if it differs from an API server's answer for an unknown URL. */
  readonly answer: string;
  readonly cause: unknown;
}): NoKindMatchError {
  const { kind, server, subresource, answer, cause } = request;
  const { group, version, plural } = kind;
  return new NoKindMatchError(
    { group, version, kind: kind.kind, plural, server, answer, ...(subresource === undefined ? {} : { subresource }) },
    { cause },
  );
}

const decodeCode = 'KCTL_DECODE';

/** Thrown when an answer or a watch frame has an unexpected form (no JSON, truncated, another type). */
export class DecodeError extends CallSiteError {
  override readonly name = 'DecodeError';
  readonly code: 'KCTL_DECODE' = decodeCode;
}

/** Whether an error is a {@link DecodeError}. */
export function isDecodeError(error: unknown): error is DecodeError {
  return hasCode(error, decodeCode);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
