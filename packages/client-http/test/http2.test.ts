import { defineKind } from '@kctl/apimachinery';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '../src/index.js';
import type { HttpClient } from '../src/index.js';
import { createAuthority } from './support/certificates.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
const node = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });

let server: Http2SecureServer;
let sessions: Set<ServerHttp2Session>;
let total: number;
let watches: ServerHttp2Stream[];
let client: HttpClient;

beforeEach(async () => {
  const authority = createAuthority();
  sessions = new Set();
  total = 0;
  watches = [];
  server = createSecureServer({ ...authority.issue(), allowHTTP1: true });
  server.on('session', (session) => {
    total++;
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    if (headers[':path']?.includes('watch=true') === true) {
      watches.push(stream);
      stream.write(`{"type":"ADDED","object":${node}}\n`);
    } else stream.end(node);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = createHttpClient({ connection: { server: `https://127.0.0.1:${port}`, ca: authority.cert }, http2: true });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
});

describe('HTTP/2', () => {
  it('carries requests and watches, watches apart from requests', async () => {
    const streams = await Promise.all(Array.from({ length: 30 }, () => client.watch(Node)));
    await Promise.all(Array.from({ length: 50 }, () => client.get(Node, { name: 'n' })));
    for (const stream of streams) {
      const first = await stream[Symbol.asyncIterator]().next();
      expect(first.value).toMatchObject({ type: 'ADDED' });
    }
    for (const stream of streams) await stream[Symbol.asyncDispose]();
  });

  it('ends one watch without the others', async () => {
    const [first, second] = [await client.watch(Node), await client.watch(Node)];
    const reading = second[Symbol.asyncIterator]();
    await reading.next();
    await first[Symbol.asyncDispose]();
    while (watches[0]?.closed !== true) await new Promise((resolve) => setImmediate(resolve));
    watches[1]?.write(`{"type":"DELETED","object":${node}}\n`);
    expect((await reading.next()).value).toMatchObject({ type: 'DELETED' });
    watches[1]?.end();
    expect(await reading.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects what runs on a connection that breaks, and goes on with another', async () => {
    const stream = await client.watch(Node);
    const reading = stream[Symbol.asyncIterator]();
    await reading.next();
    for (const session of sessions) session.destroy();
    await expect(reading.next()).rejects.toMatchObject({ code: 'KCTL_TRANSPORT' });
    await expect(client.get(Node, { name: 'n' })).resolves.toMatchObject({ kind: 'Node' });
    expect(total).toBeGreaterThan(1);
  });
});
