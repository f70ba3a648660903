import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { CertificateAndKey } from '@kctl/testing';
import { sharedNow } from '../protocol.js';

/** One request, or one attempt to connect while the server was away. */
export interface CountedRequest {
  readonly at: number;
  /** `list` also where it is streamed by a watch; `attempt`: a connection that was refused. */
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'attempt';
  readonly resource: string;
}

/** Stands before the API server for one replica, and counts what that asks. */
export interface CountingProxy extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly CountedRequest[];
  /** Away: connections break, and new ones are closed at once. */
  setAway(isAway: boolean): void;
}

/** Starts a proxy that ends TLS with a certificate of its own, so that it can read what is asked. */
export async function startCountingProxy(
  target: { readonly port: number; readonly ca: string },
  { certPem, keyPem }: CertificateAndKey,
): Promise<CountingProxy> {
  const requests: CountedRequest[] = [];
  const sockets = new Set<Socket>();
  let isAway = false;
  const server = createServer({ cert: certPem, key: keyPem }, (inbound, response) => {
    const { method = 'GET', url = '/', headers } = inbound;
    requests.push({ at: sharedNow(), ...describe(method, url) });
    const { port, ca } = target;
    const outbound = httpsRequest(
      { host: '127.0.0.1', port, ca, method, path: url, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        answer.on('aborted', () => inbound.socket.destroy());
      },
    );
    outbound.on('error', () => inbound.socket.destroy());
    response.on('close', () => outbound.destroy());
    inbound.pipe(outbound);
  });
  server.on('connection', (socket: Socket) => {
    if (isAway) {
      requests.push({ at: sharedNow(), verb: 'attempt', resource: '' });
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    setAway(away) {
      isAway = away;
      if (away) breakAll();
    },
    async [Symbol.asyncDispose]() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const writes = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

function describe(method: string, url: string): Omit<CountedRequest, 'at'> {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const [root, ...path] = pathname.split('/').filter((part) => part !== '');
  const parts = path.slice(root === 'apis' ? 2 : 1);
  const [resource = pathname, name] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  const write = Object.entries(writes).find(([each]) => each === method)?.[1];
  if (write !== undefined) return { verb: write, resource };
  if (searchParams.has('watch'))
    return { verb: searchParams.get('sendInitialEvents') === 'true' ? 'list' : 'watch', resource };
  return {
    verb: name === undefined && root?.startsWith('api') === true && parts.length > 0 ? 'list' : 'get',
    resource,
  };
}
