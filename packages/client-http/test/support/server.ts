import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A request with its whole body. */
export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly message: IncomingMessage;
}

export type Handler = (request: SeenRequest, response: ServerResponse) => void;

/** A server that answers as the test says and remembers what it was asked. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: SeenRequest[];
  readonly sockets: Set<Socket>;
  /** How many connections were made so far. */
  readonly connections: () => number;
  handler: Handler;
  /** Sees the headers of a request before its body is read; true: it has dealt with it. */
  onHeaders: (message: IncomingMessage) => boolean;
  /** Replaces certificates. */
  setTls(options: ServerOptions): void;
}

export async function startServer(handler: Handler, tls?: ServerOptions): Promise<TestServer> {
  const onRequest = (message: IncomingMessage, response: ServerResponse): void => {
    message.on('error', () => undefined);
    if (state.onHeaders(message)) return;
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const seen: SeenRequest = {
        method: message.method ?? '',
        url: new URL(message.url ?? '/', 'http://test'),
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
        message,
      };
      state.requests.push(seen);
      state.handler(seen, response);
    });
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const state: TestServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests: [],
    sockets,
    connections: () => connections,
    handler,
    onHeaders: () => false,
    setTls: (options) => {
      if ('setSecureContext' in server) server.setSecureContext(options);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return state;
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Answers with a failed Status. */
export function failure(
  response: ServerResponse,
  code: number,
  fields: object = {},
  headers: Record<string, string> = {},
): void {
  json(response, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, ...fields }, code, headers);
}
