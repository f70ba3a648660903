import { goQuoted } from '@kctl/crd/internal/engine';
import type { Status } from '@kctl/apimachinery';

/** A webhook could not be called, or did not answer as a webhook does. The message is that of the real API server. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
  readonly code = 'KCTL_WEBHOOK_CALL';
  /** Whether the caller gave up first, because the request that the call was made for has ended. */
  readonly isCanceled: boolean;

  constructor(message: string, { isCanceled = false }: { readonly isCanceled?: boolean } = {}) {
    super(message);
    this.isCanceled = isCanceled;
  }
}

const unverified: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

function facts(error: Error): Readonly<Record<'code' | 'syscall' | 'address' | 'hostname' | 'reason', string>> & {
  readonly port: number;
} {
  const read = (name: string): unknown => Reflect.get(error, name);
  const text = (name: string): string => {
    const value = read(name);
    return typeof value === 'string' ? value : '';
  };
  const port = read('port');
  return {
    code: text('code'),
    syscall: text('syscall'),
    address: text('address'),
    hostname: text('hostname'),
    reason: text('reason'),
    port: typeof port === 'number' ? port : 0,
  };
}

/** Message for a failed connection to a webhook, in Go's words. It contains nothing of the request or the answer. */
export function connectionProblem(error: Error): string {
  const { code, syscall, address, hostname, reason, port } = facts(error);
  const host = address.includes(':') ? `[${address}]` : address;
  if (code.startsWith('x509: ')) return `tls: failed to verify certificate: ${code}`;
  if (unverified.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  if (syscall === 'connect') {
    if (code === 'ECONNREFUSED') return `dial tcp ${host}:${port}: connect: connection refused`;
    if (code === 'EHOSTUNREACH') return `dial tcp ${host}:${port}: connect: no route to host`;
    if (code === 'ENETUNREACH') return `dial tcp ${host}:${port}: connect: network is unreachable`;
    if (code === 'ETIMEDOUT') return `dial tcp ${host}:${port}: connect: connection timed out`;
  }
  switch (code) {
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: Temporary failure in name resolution`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'EPROTO':
      return reason === '' || /wrong version|http request|packet length/.test(reason)
        ? 'http: server gave HTTP response to HTTPS client'
        : `remote error: tls: ${reason}`;
    default:
      return error.message;
  }
}

const maxShownBytes = 2048;

const meanings: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Message for an answer with another status than 2xx, in the words of Go's client. */
export function answerProblem(code: number, body: Uint8Array, contentType: string | undefined): string {
  const isText = contentType === undefined || /^text\//i.test(contentType.trim());
  const shown = isText ? Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8').trim() : 'unknown';
  if (code === 403 || code === 415) return shown;
  if (code === 406)
    return shown === '' || shown === 'unknown'
      ? 'the server was unable to respond with a content type that the client supports'
      : shown;
  const known = meanings[code];
  if (known !== undefined) return known;
  return code >= 500
    ? `an error on the server (${goQuoted(shown)}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`;
}

/** The message of a Status that a webhook answered with instead of a review; undefined for anything else. */
export function failureOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const { kind, apiVersion, status, message } = value;
  const isStatus =
    kind === ('Status' satisfies Status['kind']) && (apiVersion === 'v1' || apiVersion === 'meta.k8s.io/v1');
  if (!isStatus || status === 'Success') return undefined;
  return typeof message === 'string' ? message : '';
}
