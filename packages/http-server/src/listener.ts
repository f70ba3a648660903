import type { Server as Http1Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { Server as NetServer, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Connections } from './connections.js';
import type { HttpRequest, HttpResponse, HttpServerOptions, ListenTarget } from './http-server-options.js';
import type { Requests } from './requests.js';
import type { ResolvedLimits } from './server-limits.js';

/** The longest delay of a timer of Node, in ms. */
const longestTimerMs = 2 ** 31 - 1;

/** A host and a port. */
export interface TcpTarget {
  readonly port: number;
  readonly host?: string;
}

/** One of Node's servers, bounded. */
export interface Listener {
  /** @throws what `net.Server.listen` emits, with the address in the message */
  listen(target: ListenTarget | TcpTarget): Promise<{ readonly host: string; readonly port: number }>;
  onError(report: (error: Error) => void): void;
  setSecureContext(context: SecureContextOptions): void;
  /** Accepts no further connections; resolves when all are closed. */
  close(): Promise<void>;
}

/** Creates the server that the options define, and passes its events to `connections` and `requests`. */
export function createListener(
  options: HttpServerOptions,
  parts: { readonly limits: ResolvedLimits; readonly connections: Connections; readonly requests: Requests },
): Listener {
  const { connections, limits } = parts;
  const server = createNodeServer(options, parts);
  server.on('connection', (socket: Socket) => connections.accept(socket));
  // Before Node's own listeners, which begin the HTTP/2 session.
  server.prependListener('secureConnection', (socket: Socket) => connections.secured(socket));
  server.on('tlsClientError', (error: Error) => options.logger?.debug('TLS handshake failed', { error }));
  // Deadlines are those of the connections; Node's own would be others for each of its servers.
  Object.assign(server, {
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: 0,
    timeout: 0,
    maxHeaderSize: limits.maxHeaderBytes,
  });
  return {
    listen: async (target) => {
      const address = await listen(server, target);
      if (typeof server.address() === 'string') connections.setLocal();
      return address;
    },
    onError: (report) => void server.on('error', report),
    setSecureContext: (context) => {
      if ('setSecureContext' in server) server.setSecureContext(context);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/**
 * Node's server modules are loaded here and not imported, because a process may have no server, and
 * `import 'node:http'` reads every export, one of which loads fetch and WebSocket, for 20 ms and 10 MB.
 */
function createNodeServer(
  options: HttpServerOptions,
  { limits, connections, requests }: { limits: ResolvedLimits; connections: Connections; requests: Requests },
): Http1Server | HttpsServer | Http2SecureServer {
  const { maxHeaderBytes: maxHeaderSize, maxStreamsPerConnection: maxConcurrentStreams } = limits;
  const tls = {
    minVersion: 'TLSv1.2' as const,
    handshakeTimeout: Math.min(limits.handshakeTimeoutMs, longestTimerMs),
    ...options.tls,
  };
  if (options.http2 === true) {
    const { onRequest } = options;
    const settings = { maxConcurrentStreams, maxHeaderListSize: Math.min(maxHeaderSize, 2 ** 31 - 1) };
    const server = process.getBuiltinModule('node:http2').createSecureServer({ ...tls, allowHTTP1: true, settings });
    server.on('session', (session: ServerHttp2Session) => connections.upgraded(session));
    server.on('sessionError', (error: Error) => options.logger?.debug('HTTP/2 session failed', { error }));
    server.on('request', (request: HttpRequest, response: HttpResponse) =>
      requests.serve(request, response, onRequest),
    );
    return server;
  }
  const { onRequest } = options;
  const server =
    options.tls === undefined
      ? process.getBuiltinModule('node:http').createServer({ maxHeaderSize })
      : process.getBuiltinModule('node:https').createServer({ ...tls, maxHeaderSize });
  server.on('request', (request, response) => requests.serve(request, response, onRequest));
  return server;
}

function listen(
  server: NetServer,
  target: ListenTarget | TcpTarget,
): Promise<{ readonly host: string; readonly port: number }> {
  const where = shownTarget(target);
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(new Error(`listen on ${where}: ${error.message}`, { cause: error }));
    server.once('error', onError);
    server.listen(target, () => {
      server.off('error', onError);
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve({ host: address.address, port: address.port });
      else resolve({ host: address ?? where, port: 0 });
    });
  });
}

function shownTarget(target: ListenTarget | TcpTarget): string {
  if ('path' in target) return target.path;
  return 'fd' in target ? `descriptor ${target.fd}` : `${target.host ?? ''}:${target.port}`;
}
