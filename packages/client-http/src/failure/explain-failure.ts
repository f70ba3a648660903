import { redact, withoutUserInfo } from '@kctl/client/internal/connection';
import { TransportError } from '../errors.js';
import type { TransportFailure } from '../errors.js';
import { safeCause } from './safe-cause.js';

/** The details of the request that failed. */
export interface FailureContext {
  readonly server: string;
  readonly method: string;
  /** Path, perhaps with a query, which is omitted from the message. */
  readonly path: string;
  readonly maybeSent: boolean;
  /** Overrides the failure of the error's code. */
  readonly failure?: TransportFailure;
}

interface Explanation {
  readonly failure: TransportFailure;
  readonly text: string;
}

const byCode: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: { failure: 'unreachable', text: 'connection refused: is the server running at this address?' },
  ENOTFOUND: { failure: 'unreachable', text: 'no such host: is the server name right?' },
  EAI_AGAIN: { failure: 'unreachable', text: 'the host name cannot be resolved right now' },
  EHOSTUNREACH: { failure: 'unreachable', text: 'no route to the host' },
  ENETUNREACH: { failure: 'unreachable', text: 'the network is unreachable' },
  ETIMEDOUT: { failure: 'unreachable', text: 'the connection timed out' },
  UND_ERR_CONNECT_TIMEOUT: { failure: 'unreachable', text: 'no connection in time: is a firewall in between?' },
  ECONNRESET: { failure: 'reset', text: 'the connection was reset' },
  ECONNABORTED: { failure: 'reset', text: 'the connection was aborted' },
  EPIPE: { failure: 'reset', text: 'the connection was closed by the server' },
  UND_ERR_SOCKET: { failure: 'reset', text: 'the connection was closed by the server' },
  UND_ERR_CLOSED: { failure: 'closed', text: 'the client was disposed' },
  UND_ERR_DESTROYED: { failure: 'closed', text: 'the client was disposed' },
  UND_ERR_ABORTED: { failure: 'unreachable', text: 'the proxy refused the connection' },
  CERT_HAS_EXPIRED: { failure: 'tls', text: "the server's certificate has expired" },
  CERT_NOT_YET_VALID: { failure: 'tls', text: "the server's certificate is not valid yet: is the clock right?" },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    failure: 'tls',
    text: "the server's certificate is for another name: set tls-server-name, or use the right address",
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { failure: 'tls', text: unknownCa() },
  UNABLE_TO_GET_ISSUER_CERT: { failure: 'tls', text: unknownCa() },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { failure: 'tls', text: unknownCa() },
  SELF_SIGNED_CERT_IN_CHAIN: { failure: 'tls', text: unknownCa() },
  DEPTH_ZERO_SELF_SIGNED_CERT: { failure: 'tls', text: unknownCa() },
  CERT_SIGNATURE_FAILURE: { failure: 'tls', text: unknownCa() },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    failure: 'tls',
    text: 'the server does not speak TLS here: is it an http:// address?',
  },
  EPROTO: { failure: 'tls', text: 'the TLS handshake failed' },
};

function unknownCa(): string {
  return "the server's certificate is signed by an unknown authority: is certificate-authority the CA of this cluster?";
}

/** Turns an error of the network stack into one line that names the failure, the place and the remedy. */
export function explainFailure(error: Error, context: FailureContext): TransportError {
  const found = explain(error);
  // A request that was sent had a connection; the codes do not distinguish a lost connection from one that was never
  // made.
  const isLost = context.maybeSent && found.failure === 'unreachable';
  const failure = context.failure ?? (isLost ? 'reset' : found.failure);
  const path = context.path.split('?', 1)[0] ?? '';
  const server = withoutUserInfo(context.server);
  const text = redact(context.failure === undefined ? found.text : error.message);
  const verb =
    failure === 'unreachable' || failure === 'tls'
      ? 'cannot connect to the API server'
      : `${context.method} ${path} failed at`;
  return new TransportError(
    {
      failure,
      method: context.method,
      server,
      path,
      maybeSent: context.maybeSent,
      message: `${verb} ${server}: ${text}`,
    },
    { cause: safeCause(error) },
  );
}

/** The code of an error, even inside an AggregateError (several addresses of a host) or a cause. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('errors' in error && Array.isArray(error.errors)) return errorCode(error.errors[0]);
  return 'cause' in error ? errorCode(error.cause) : undefined;
}

function explain(error: Error): Explanation {
  const code = errorCode(error);
  if (code === undefined) return { failure: 'reset', text: error.message };
  const known = byCode[code];
  if (known !== undefined) {
    const detail = code === 'UND_ERR_ABORTED' || code === 'EPROTO' ? ` (${error.message})` : '';
    return { failure: known.failure, text: known.text + detail };
  }
  if (
    code.startsWith('ERR_SSL') ||
    code.startsWith('ERR_TLS') ||
    code.startsWith('CERT_') ||
    code.startsWith('ERR_OSSL')
  )
    return { failure: 'tls', text: `the TLS handshake failed (${code}: ${error.message})` };
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_RES'))
    return { failure: 'malformed', text: `the answer is not valid HTTP (${code})` };
  return { failure: 'reset', text: `${error.message} (${code})` };
}
