import { defineKind } from '@kctl/apimachinery';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '../src/index.js';
import { proxyFromEnvironment } from '../src/connection/proxy.js';
import { createAuthority } from './support/certificates.js';
import { json, startServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

let proxyUrl: string;
let tunnels: string[];
let isRefusing: boolean;
let close: () => Promise<void>;

beforeEach(async () => {
  tunnels = [];
  isRefusing = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((_request, response) => response.end());
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  proxy.on('connect', (request, socket: Socket) => {
    tunnels.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (isRefusing) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  };
});
afterEach(() => close());

describe('a proxy', () => {
  it('is tunnelled through, with the TLS handshake end to end, for requests and watches', async () => {
    const authority = createAuthority();
    await using server = await startServer((request, response) => {
      if (request.url.searchParams.has('watch'))
        json(response, '{"type":"ADDED","object":{"metadata":{"name":"n"}}}\n');
      else json(response, { metadata: { name: 'n' } });
    }, authority.issue());
    const withUser = proxyUrl.replace('http://', 'http://user:pass@');
    await using client = createHttpClient({
      connection: { server: server.url, ca: authority.cert, proxyUrl: withUser, user: { token: 't' } },
    });
    for (let n = 0; n < 3; n++) await client.get(Node, { name: 'n' });
    const types = [];
    for await (const { type } of await client.watch(Node)) types.push(type);
    expect(types).toEqual(['ADDED']);
    const basic = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    expect(new Set(tunnels)).toEqual(new Set([`127.0.0.1:${server.port} ${basic}`]));
    expect(tunnels.length).toBeLessThanOrEqual(3);
    expect(
      server.requests.every(
        ({ headers }) => headers.authorization === 'Bearer t' && headers['proxy-authorization'] === undefined,
      ),
    ).toBe(true);
  });

  it('that refuses, or is not there, is named', async () => {
    const authority = createAuthority();
    isRefusing = true;
    await using client = createHttpClient({
      connection: { server: 'https://127.0.0.1:6443', ca: authority.cert, proxyUrl },
    });
    const refused = await client.get(Node, { name: 'n' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'KCTL_TRANSPORT', failure: 'unreachable' });
    expect(String(refused)).toContain('the proxy refused the connection');
    expect(String(refused)).toContain('403');
    await using other = createHttpClient({
      connection: { server: 'https://127.0.0.1:6443', proxyUrl: 'http://127.0.0.1:1' },
    });
    await expect(other.get(Node, { name: 'n' })).rejects.toMatchObject({ failure: 'unreachable' });
  });
});

describe('a SOCKS5 proxy', () => {
  it('is tunnelled through, with the TLS handshake end to end', async () => {
    const authority = createAuthority();
    const names: unknown[] = [];
    await using server = await startServer((_request, response) => {
      names.push(response.socket instanceof TLSSocket && Reflect.get(response.socket, 'servername'));
      json(response, { metadata: { name: 'n' } });
    }, authority.issue());
    const targets: string[] = [];
    const sockets = new Set<Socket>();
    const socks = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]));
        socket.once('data', (request: Buffer) => {
          const port = request.readUInt16BE(request.length - 2);
          targets.push(
            `${request[3] === 1 ? [...request.subarray(4, 8)].join('.') : request.subarray(5, -2).toString()}:${port}`,
          );
          const upstream = connect(port, '127.0.0.1', () => {
            socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
            upstream.pipe(socket).pipe(upstream);
          });
          sockets.add(upstream);
          upstream.on('error', () => socket.destroy());
        });
      });
    });
    await new Promise<void>((resolve) => socks.listen(0, '127.0.0.1', resolve));
    const { port } = socks.address() as AddressInfo;
    const client = createHttpClient({
      connection: { server: server.url, ca: authority.cert, proxyUrl: `socks5://127.0.0.1:${port}` },
    });
    await expect(client.get(Node, { name: 'n' })).resolves.toMatchObject({ kind: 'Node' });
    await client[Symbol.asyncDispose]();
    expect(targets).toEqual([`127.0.0.1:${server.port}`]);
    // An address is no name of a server: TLS does not allow it there, and Node 26 refuses it.
    expect(names).toEqual([false]);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => socks.close(resolve));
  });
});

describe('a proxy URL', () => {
  it.each([
    ['http://user:100%@proxy:3128', 'its user name or password is not valid: expected "%" only before two hexadecimal'],
    ['ftp://user:pass@proxy', 'is not valid: expected http://host:port'],
    ['http://user:pa/ss@proxy:3128', 'is not valid: expected http://host:port'],
    ['http://', 'is not valid: expected http://host:port'],
  ])('%s is refused at once, and its password is not shown', (url, message) => {
    for (const given of [{ proxyUrl: url }, {}]) {
      const environment = 'proxyUrl' in given ? {} : { HTTPS_PROXY: url };
      const make = (): unknown =>
        createHttpClient({ connection: { server: 'https://api.example.com', ...given }, environment });
      expect(make).toThrow(message);
      expect(make).not.toThrow(/:pass|pa\/ss|100%/);
    }
  });
});

describe('proxyFromEnvironment', () => {
  it.each([
    ['https://api.example.com:6443', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://api.example.com:6443', { https_proxy: 'p:1' }, 'http://p:1'],
    ['http://api.example.com', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['http://api.example.com', { HTTP_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://127.0.0.1:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'example.com' }, undefined],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '.example.com, other' }, undefined],
    ['https://example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '.example.com' }, 'http://p:1'],
    ['https://badexample.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'example.com' }, 'http://p:1'],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
    ['https://api.example.com:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'api.example.com:443' }, 'http://p:1'],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'api.example.com:443' }, undefined],
    ['https://10.96.0.1:443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.96.0.0/12' }, undefined],
    ['https://10.200.0.1:443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.96.0.0/12' }, 'http://p:1'],
    ['https://api.example.com', { HTTPS_PROXY: '', https_proxy: 'http://p:1' }, 'http://p:1'],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '', no_proxy: 'example.com' }, undefined],
    ['https://api.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*.EXAMPLE.com' }, undefined],
    ['https://example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*.example.com' }, 'http://p:1'],
    ['https://127.9.9.9', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://[::ffff:127.0.0.1]', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://10.0.0.1:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.1' }, undefined],
    ['https://10.0.0.1:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.1:6443' }, undefined],
    ['https://10.0.0.1:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.1:443' }, 'http://p:1'],
    ['https://10.0.0.11', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '0.0.1' }, 'http://p:1'],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00::1' }, undefined],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'FD00:0:0::1' }, undefined],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '[fd00::1]:6443' }, undefined],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '[fd00::1]:443' }, 'http://p:1'],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '[fd00::1]' }, undefined],
    ['https://[fd00::2]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00::1' }, 'http://p:1'],
    ['https://[fd00:10:96::1]', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00:10:96::/112' }, undefined],
    ['https://[fd00:10:97::1]', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00:10:96::/112' }, 'http://p:1'],
    ['https://[fd00::1]', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8, ::/0' }, undefined],
    ['https://10.1.2.3', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '::/0' }, 'http://p:1'],
    ['https://[::ffff:10.1.2.3]', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8' }, undefined],
    [
      'https://10.1.2.3',
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/33,10.0.0.0/x,/8,10.0.0.0/8/8,:443' },
      'http://p:1',
    ],
  ])('for %s with %j is %s', (server, environment, proxy) => {
    expect(proxyFromEnvironment(server, environment)).toBe(proxy);
  });
});
