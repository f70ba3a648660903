import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { defineKind } from '@kctl/apimachinery';
import { afterEach, expect, it } from 'vitest';
import { createHttpClient, isTransportError } from '../src/index.js';
import type { Connection, HttpClient } from '../src/index.js';
import { createAuthority } from './support/certificates.js';
import { json, startServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of cleanups.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

function open(connection: Connection, options = {}): HttpClient {
  const client = createHttpClient({ connection, ...options });
  cleanups.push(client);
  return client;
}

/** A server, and a dialer that leads to it whatever it is asked for. */
async function tunnel(tls?: Parameters<typeof startServer>[1]) {
  const server = await startServer((_request, response) => json(response, { metadata: { name: 'n' } }), tls);
  cleanups.push(server);
  const asked: string[] = [];
  const sockets: Socket[] = [];
  const dial: NonNullable<Connection['dial']> = ({ host, port }) => {
    asked.push(`${host}:${port}`);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    sockets.push(socket);
    return socket;
  };
  return { server, asked, sockets, dial };
}

it('opens connections by the dialer of the connection, and keeps them', async () => {
  const { asked, dial } = await tunnel();
  const proxyUrl = 'http://proxy.invalid:3128';
  const client = open({ server: 'http://cluster.invalid:8080', proxyUrl, dial });
  for (let index = 0; index < 6; index++) await client.get(Node, { name: 'n' });
  expect([[...new Set(asked)], asked.length < 6]).toEqual([['cluster.invalid:8080'], true]);
});

it('speaks TLS with the certificates of the connection on what is dialed', async () => {
  const authority = createAuthority();
  const { cert, key } = authority.issue({ names: ['cluster.invalid'] });
  const { asked, sockets, dial } = await tunnel({ cert, key });
  const client = open({ server: 'https://cluster.invalid', ca: authority.cert, dial: async (to) => await dial(to) });
  expect((await client.get(Node, { name: 'n' })).metadata.name).toBe('n');
  expect(asked[0]).toBe('cluster.invalid:443');
  const other = open({ server: 'https://other.invalid', ca: authority.cert, dial });
  await expect(other.get(Node, { name: 'n' })).rejects.toSatisfy(
    (error) => isTransportError(error) && error.failure === 'tls',
  );
  await client[Symbol.asyncDispose]();
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
});

it('fails as the dialer does, and where it does not answer in time', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
  const failing = open({ server: 'https://cluster.invalid', dial: () => Promise.reject(refused) });
  await expect(failing.get(Node, { name: 'n' })).rejects.toThrow('connection refused');
  const gone = Promise.withResolvers<string>();
  const dial: NonNullable<Connection['dial']> = ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        gone.resolve('aborted');
        reject(new Error('late'));
      });
    });
  const silent = open({ server: 'https://cluster.invalid', dial }, { connectTimeoutMs: 20 });
  await expect(silent.get(Node, { name: 'n' })).rejects.toThrow();
  expect(await gone.promise).toBe('aborted');
  const wrong = open({ server: 'https://cluster.invalid', dial: () => ({}) as never });
  await expect(wrong.get(Node, { name: 'n' })).rejects.toThrow(/dial returned a value that is not a stream/);
  expect(() => open({ server: 'https://cluster.invalid', dial: 'socket' as never })).toThrow(
    /connection.dial is not a function/,
  );
});
