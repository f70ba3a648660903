import { numberProblem } from '@kctl/options';

/**
 * Limits of a server. Each has a default, so that a server without options is bounded. A duration may be `Infinity`,
 * which turns that deadline off.
 */
export interface ServerLimits {
  /** From the accepted connection to the end of the TLS handshake, in ms. @default 10000 */
  readonly handshakeTimeoutMs?: number;
  /**
   * For the header of a request, in ms. Starts with a new connection (after TLS), or with the first byte on a kept one.
   *
   * @default 32000, as in controller-runtime
   */
  readonly headersTimeoutMs?: number;
  /** From the end of the header to the end of the body, in ms. @default 60000 */
  readonly bodyTimeoutMs?: number;
  /**
   * From the end of a handler to the last byte of its answer, in ms. Limits a client that does not read. @default 60000
   */
  readonly responseTimeoutMs?: number;
  /** How long a connection stays open without a request, in ms. @default 90000, as in controller-runtime */
  readonly idleTimeoutMs?: number;
  /**
   * Open connections in all. At the limit, a new connection takes the place of the oldest one without a request,
   * unfinished handshakes first; if all have requests, the new one is closed.
   *
   * @default 1000
   */
  readonly maxConnections?: number;
  /** Requests at a time on one connection: HTTP/2 streams and pipelined HTTP/1.1 requests. @default 250, as in Go */
  readonly maxStreamsPerConnection?: number;
  /** Size of a request header, in bytes; a larger one is answered with 431. @default 1048576, as in Go */
  readonly maxHeaderBytes?: number;
}

/** Limits with every default filled in. */
export type ResolvedLimits = Required<ServerLimits>;

/** The limits of a server that sets none. */
export const defaultLimits: ResolvedLimits = Object.freeze({
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 32_000,
  bodyTimeoutMs: 60_000,
  responseTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  maxConnections: 1_000,
  maxStreamsPerConnection: 250,
  maxHeaderBytes: 1 << 20,
});

/** Fills defaults in. @throws TypeError naming the field, the value and what is expected */
export function resolveLimits(name: string, limits: ServerLimits = {}): ResolvedLimits {
  const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
  const resolved = { ...defaultLimits, ...given };
  for (const field of Object.keys(resolved)) {
    const isDuration = field.endsWith('Ms');
    const value: unknown = Reflect.get(resolved, field);
    const problem = Object.hasOwn(defaultLimits, field)
      ? numberProblem(field, value, isDuration ? { above: 0, orInfinity: true } : { least: 1, integer: true })
      : `${field} is not a limit: expected one of ${Object.keys(defaultLimits).join(', ')}`;
    if (problem !== undefined) throw new TypeError(`${name}: limits: ${problem}`);
  }
  return resolved;
}
