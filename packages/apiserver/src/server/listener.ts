import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket, type PeerCertificate } from 'node:tls';
import { systemClock } from '@kctl/wait';
import type { ApiRequest, Reply, User } from '../protocol/api-request.js';
import type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
import { compress } from './compression.js';
import { headerLines, impersonationLines } from './header-lines.js';
import { truncated } from './in-process.js';
import { BodyRoom } from './peers/body-room.js';
import { hasWholeBody, readBody, type AnyRequest } from './peers/read-body.js';
import { Strangers } from './peers/strangers.js';
import type { Pipeline } from './pipeline.js';
import { createSocketSink, writeTo } from './socket-sink.js';
import { nodeHttp } from '../protocol/node-http.js';

/** Options of {@link createListener}. */
export interface ListenerOptions {
  readonly pipeline: Pipeline;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly server: KeyAndCertificate;
  /** Vouch for client certificates, PEM. */
  readonly clientAuthorities: readonly string[];
  readonly maxBodyBytes: number;
  readonly onError: (error: unknown) => void;
}

/** Bodies of the largest size that are in memory at a time: 384 MiB in all, unless the largest size is another one. */
const maxBodiesAtATime = 128;
/** Connections at a time on which no request was authenticated. */
const maxStrangers = 1_000;
/** How long a client of HTTP/1.1 may send what is left of a body after its answer, in ms. */
const unreadMs = 1_000;

/** How long connections that are cut may take to be gone, in ms. */
const cutMs = 1000;

/** A listening HTTPS server: HTTP/2, and HTTP/1.1 for those who want it. */
export interface Listener {
  readonly port: number;
  /** Refuses new connections, lets requests finish for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
  /** Cuts everything at once. */
  destroy(): Promise<void>;
}

/** Error code of HTTP/2: RFC 9113, section 7. */
const http2NoError = 0x0;

type AnyResponse = ServerResponse | Http2ServerResponse;

function names(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : [value].flat();
}

/** The user that a verified client certificate names: CN, and O for groups. */
function userOf(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  // Without a client certificate, and in a resumed session, less is there than the types declare.
  const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
  const [name] = names(certificate.subject?.CN);
  return name === undefined ? undefined : { name, groups: names(certificate.subject?.O) };
}

/** Facts about a request from its transport. */
interface RequestFacts {
  readonly peer: User | undefined;
  /** HTTP/2 session or socket. */
  readonly connection: object;
  readonly limit: number;
  readonly room: BodyRoom;
  readonly onAuthenticated: () => void;
  readonly canUpgrade?: boolean;
}

function toApiRequest(request: AnyRequest, response: AnyResponse, facts: RequestFacts): ApiRequest {
  const { peer, connection, limit, room, canUpgrade = false } = facts;
  let isKnown = false;
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    headers: () => headerLines(request.rawHeaders),
    impersonation: () => impersonationLines(request.rawHeaders),
    readBody: () => readBody(request, { limit, room, sender: { connection, isKnown }, signal: gone.signal }),
    onAuthenticated: () => {
      isKnown = true;
      facts.onAuthenticated();
    },
    peer,
    signal: gone.signal,
    canUpgrade,
  };
}

function cut(response: AnyResponse): void {
  if ('stream' in response) {
    // For HTTP/2 the whole connection goes, as it does when a server dies.
    response.stream.session?.destroy();
    return;
  }
  response.socket?.destroy();
}

/**
 * Ends an answer that comes before its body is complete: the stream over HTTP/2, the connection over HTTP/1.1, unless the
 * rest of the body comes soon. A stream that is reset at once can lose the end of its answer.
 */
function endUnread(request: AnyRequest, response: AnyResponse): void {
  const isStream = 'stream' in request;
  const end = isStream ? () => request.stream.close(http2NoError) : () => request.socket.destroy();
  (isStream ? request.stream : response).once('finish', () => {
    if (hasWholeBody(request)) return;
    const timer = systemClock.setTimer(end, unreadMs, { keepAlive: false });
    request.once('end', () => timer.cancel()).once('close', () => timer.cancel());
    request.resume();
  });
}

async function send(reply: Reply, request: AnyRequest, response: AnyResponse): Promise<void> {
  if (reply.destroy === true) {
    cut(response);
    return;
  }
  const encoding = request.headers['accept-encoding'];
  const { headers, body, stream } = await compress(reply, Array.isArray(encoding) ? encoding.join(',') : encoding);
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  response.statusCode = reply.status;
  const isHead = request.method === 'HEAD';
  if (stream === undefined || isHead) {
    const bytes = Buffer.from(body ?? '');
    // Of a HEAD that a pod has answered it is the length of what a GET would return.
    if (!isHead || !response.hasHeader('content-length')) response.setHeader('content-length', String(bytes.length));
    if (reply.truncateAfter !== undefined && !isHead) {
      writeTo(response, bytes.subarray(0, reply.truncateAfter), () => cut(response));
      return;
    }
    if (reply.status === 413 && !('stream' in response)) {
      // The rest of the body is not waited for, and the connection ends with the answer.
      response.setHeader('connection', 'close');
    }
    if (isHead) response.end();
    else response.end(bytes);
    return;
  }
  if ('stream' in response) response.writeHead(reply.status);
  // Not by flushHeaders, which encodes the bytes of a warning in UTF-8 once more.
  else response.write(new Uint8Array(0));
  const sink = createSocketSink(response, () => cut(response));
  await stream(reply.truncateAfter === undefined ? sink : truncated(sink, reply.truncateAfter));
}

/** The connections of a server, and who is behind them. */
class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #users = new WeakMap<object, User>();
  readonly #strangers = new Strangers({ maxCount: maxStrangers });
  /** Sockets and HTTP/2 sessions on which a request was authenticated. */
  readonly #known = new WeakSet<object>();

  follow(server: Http2SecureServer): void {
    server.on('connection', (socket: Socket) => {
      this.#strangers.accept(socket);
      if (socket.destroyed) return;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', ignore);
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      socket.on('error', ignore);
      this.#identify(socket);
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', ignore);
      const { socket } = session;
      if (socket instanceof TLSSocket) this.#identify(socket);
    });
    server.on('sessionError', ignore);
    server.on('tlsClientError', ignore);
    server.on('clientError', (_error: Error, socket: Socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    });
  }

  #identify(socket: TLSSocket): void {
    const user = userOf(socket);
    if (user !== undefined) this.#users.set(socket, user);
  }

  /** The user that the client certificate of a socket names. */
  peerOf(socket: object): User | undefined {
    return this.#users.get(socket);
  }

  /**
   * Counts a request of a socket, on the HTTP/2 session if there is one, among those of strangers until one of the
   * connection was authenticated.
   */
  begin(socket: Socket, connection: object, response: AnyResponse): { readonly onAuthenticated: () => void } {
    if (!this.#known.has(connection)) response.once('close', this.#strangers.begin(socket));
    return {
      onAuthenticated: () => {
        if (this.#known.has(connection)) return;
        this.#known.add(connection);
        this.#strangers.know(socket);
      },
    };
  }

  /** Counts an upgrade of a socket, which is its last request. */
  beginUpgrade(socket: Duplex): { readonly onAuthenticated: () => void } {
    if (!(socket instanceof TLSSocket)) return { onAuthenticated: ignore };
    socket.once('close', this.#strangers.begin(socket));
    return { onAuthenticated: () => this.#strangers.know(socket) };
  }

  /** Lets requests of HTTP/2 end, and takes no new ones. */
  closeSessions(): void {
    for (const session of this.#sessions) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function createServer({ server: leaf, clientAuthorities }: ListenerOptions): Http2SecureServer {
  return createSecureServer({
    allowHTTP1: true,
    key: leaf.key,
    cert: leaf.cert,
    ca: [...clientAuthorities],
    requestCert: true,
    rejectUnauthorized: false,
    maxSessionMemory: 1000,
    // Go's server cuts blanks around a value; nghttp2 would drop the whole header, and with it the user.
    strictFieldWhitespaceValidation: false,
    settings: { maxConcurrentStreams: 2000, initialWindowSize: 1 << 20 },
  });
}

/** Answers requests and upgrades by the pipeline. */
class Answers {
  readonly #options: ListenerOptions;
  readonly #connections: Connections;
  readonly #room: BodyRoom;
  /** Whether connections of HTTP/1.1 end with their next answer. */
  isClosing = false;

  constructor(options: ListenerOptions, connections: Connections) {
    this.#options = options;
    this.#connections = connections;
    this.#room = new BodyRoom(maxBodiesAtATime * options.maxBodyBytes);
  }

  readonly onRequest = (request: AnyRequest, response: AnyResponse): void => {
    const { pipeline, maxBodyBytes, onError } = this.#options;
    const session = 'stream' in request ? request.stream.session : undefined;
    const socket = 'stream' in request ? session?.socket : request.socket;
    if (socket === undefined) {
      cut(response);
      return;
    }
    const connection = session ?? socket;
    endUnread(request, response);
    const { onAuthenticated } = this.#connections.begin(socket, connection, response);
    const peer = this.#connections.peerOf(socket);
    const facts = { peer, connection, limit: maxBodyBytes, room: this.#room, onAuthenticated };
    if (this.isClosing && !('stream' in response)) response.setHeader('connection', 'close');
    response.on('error', ignore);
    request.on('error', ignore);
    void pipeline(toApiRequest(request, response, facts))
      .then(async (reply) => {
        // As upstream: HTTP/2 is expensive, and prone to abuse by clients that are not authenticated.
        if (reply.status === 401) response.once('finish', () => session?.close());
        await send(reply, request, response);
      })
      .catch((error: unknown) => {
        if (!response.writableEnded && !isGone(response)) onError(error);
        cut(response);
      });
  };

  readonly onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { pipeline, maxBodyBytes, onError } = this.#options;
    socket.on('error', ignore);
    const response = new nodeHttp.ServerResponse(request);
    // A request that is not an upgrade is answered like any other request, and ends the connection.
    if (socket instanceof TLSSocket) response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.on('error', ignore);
    response.once('finish', () => socket.end());
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    const facts = {
      peer: this.#connections.peerOf(socket),
      connection: socket,
      limit: maxBodyBytes,
      room: this.#room,
      ...this.#connections.beginUpgrade(socket),
      canUpgrade: true,
    };
    void pipeline({ ...toApiRequest(request, response, facts), signal: gone.signal })
      .then(async (reply) => {
        if (reply.upgrade === undefined) {
          await send(reply, request, response);
          return;
        }
        if (socket instanceof TLSSocket) response.detachSocket(socket);
        await reply.upgrade({ request, socket, head });
      })
      .catch((error: unknown) => {
        if (!socket.destroyed) onError(error);
        socket.destroy();
      });
  };
}

/** Binds. @returns the port */
async function listen(server: Http2SecureServer, { host, port, onError }: ListenerOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      server.on('error', onError);
      resolve();
    });
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Waits for the last connection, but no longer. The timer keeps the process alive, because a connection that Node has
 * lost count of holds no handle, and `closed` never comes. It uses the system clock as connections do, because an
 * injected clock may stand.
 */
async function closedWithin(closed: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<undefined>();
  const timer = systemClock.setTimer(() => late.resolve(undefined), ms);
  await Promise.race([closed, late.promise]);
  timer.cancel();
}

/** Binds, and answers by the pipeline. */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const connections = new Connections();
  const answers = new Answers(options, connections);
  const server = createServer(options);
  server.on('request', answers.onRequest);
  server.on('upgrade', answers.onUpgrade);
  connections.follow(server);
  const port = await listen(server, options);
  const stop = (): Promise<void> => {
    answers.isClosing = true;
    return new Promise((resolve) => {
      server.close(() => resolve());
    });
  };
  return {
    port,
    async close(graceMs) {
      const closed = stop();
      connections.closeSessions();
      closeIdle(server);
      await closedWithin(closed, graceMs);
      connections.destroy();
      await closedWithin(closed, cutMs);
    },
    async destroy() {
      const closed = stop();
      connections.destroy();
      await closedWithin(closed, cutMs);
    },
  };
}

function ignore(): void {
  // A broken connection is the client's business; its request sees it as an abort.
}

function isGone(response: AnyResponse): boolean {
  return response.destroyed;
}

/** HTTP/1.1 connections that wait for a next request hold up `close`: the embedded HTTP/1 side offers to drop them. */
function closeIdle(server: Http2SecureServer): void {
  const drop: unknown = Reflect.get(server, 'closeIdleConnections');
  if (typeof drop === 'function') Reflect.apply(drop, server, []);
}
