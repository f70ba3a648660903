import type { DispatchControl } from '@kctl/client-http';

/** The controller of one request, without pauses, because a simulated network buffers without limit. */
export function dispatchControl(onAbort: () => void): DispatchControl {
  return { pause: () => undefined, resume: () => undefined, abort: () => onAbort() };
}

/** How a connection fails. */
export type ConnectionErrorCode = 'ECONNREFUSED' | 'UND_ERR_SOCKET' | 'UND_ERR_CONNECT_TIMEOUT' | 'UND_ERR_DESTROYED';

/** An error as a broken connection gives one; without a stack, which would cost more than all the rest and name the world alone. */
export function connectionError(code: ConnectionErrorCode): Error {
  const texts: Readonly<Record<ConnectionErrorCode, string>> = {
    ECONNREFUSED: 'connect ECONNREFUSED (simulated)',
    UND_ERR_SOCKET: 'other side closed (simulated)',
    UND_ERR_CONNECT_TIMEOUT: 'Connect Timeout Error (simulated)',
    UND_ERR_DESTROYED: 'The client is destroyed',
  };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(texts[code]);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, { code });
}
