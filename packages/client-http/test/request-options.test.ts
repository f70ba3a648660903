import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, withRequestOptions } from '../src/index.js';
import type { HttpClient, ResponseFacts } from '../src/index.js';
import { RecordingLogger } from './support/recording-logger.js';
import { failure, json, startServer } from './support/server.js';
import type { TestServer } from './support/server.js';

const key = { namespace: 'shop', name: 'web-0' };
let server: TestServer;
let client: HttpClient;

beforeEach(async () => {
  server = await startServer((_request, response) => {
    response.setHeader('audit-id', '42');
    json(response, { metadata: key });
  });
  client = createHttpClient({ connection: { server: server.url, user: { token: 't' } } });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('withRequestOptions', () => {
  it('sends further headers and fields, and hands out the headers of the answer', async () => {
    const seen: ResponseFacts[] = [];
    const other = withRequestOptions(client, {
      headers: { 'X-Trace': 'abc' },
      query: { pretty: 'true', resourceVersion: ['7'], fieldManager: [] },
      onResponse: (response) => seen.push(response),
    });
    await other.get(Pod, key, { resourceVersion: '0' });
    await other.patch(Pod, key, { type: 'merge', body: {} }, { fieldOwner: 'me' });
    await client.get(Pod, key);
    expect(server.requests.map(({ url }) => url.search)).toEqual([
      '?pretty=true&resourceVersion=7',
      '?pretty=true&resourceVersion=7',
      '',
    ]);
    const [first, , third] = server.requests;
    expect([first?.headers['x-trace'], first?.headers.authorization]).toEqual(['abc', 'Bearer t']);
    expect(third?.headers['x-trace']).toBeUndefined();
    expect(seen).toMatchObject([
      { method: 'GET', path: '/api/v1/namespaces/shop/pods/web-0', status: 200, headers: { 'audit-id': '42' } },
      { method: 'PATCH', status: 200 },
    ]);
  });

  it('repeats as often as it says, and leaves the client open', async () => {
    server.handler = (_request, response) => {
      response.setHeader('retry-after', '0');
      failure(response, 429, { reason: 'TooManyRequests', message: 'later' });
    };
    for (const [maxRetries, requests] of [
      [0, 1],
      [2, 3],
    ] as const) {
      server.requests.length = 0;
      await using other = withRequestOptions(client, { maxRetries });
      await expect(other.get(Pod, key)).rejects.toMatchObject({ httpCode: 429 });
      expect(server.requests).toHaveLength(requests);
    }
    server.handler = (_request, response) => json(response, { metadata: key });
    expect((await client.get(Pod, key)).metadata.name).toBe('web-0');
  });

  it('gives the answer also where the hook throws, and refuses what the transport sets', async () => {
    const logger = new RecordingLogger();
    const onResponse = () => {
      throw new Error('hook');
    };
    const other = withRequestOptions(client, { onResponse, logger });
    expect((await other.get(Pod, key)).metadata.name).toBe('web-0');
    expect(logger.lines.map(({ message }) => message)).toEqual(['onResponse failed']);
    const make = (headers: Record<string, string>) => () => withRequestOptions(client, { headers });
    expect(make({ Authorization: 'Bearer x' })).toThrow('authorization is set by the transport');
    expect(make({ 'Impersonate-User': 'root' })).toThrow('impersonate-user is set by the transport');
    const wrong = (options: object) => () => withRequestOptions(client, options);
    expect(wrong({ headers: { 'x-trace': 1 } })).toThrow('headers["x-trace"] is a value of type number');
    expect(wrong({ headers: 'x-trace: 1' })).toThrow('headers is');
    expect(wrong({ query: 'limit=5' })).toThrow('query is');
    expect(wrong({ query: { limit: 5 } })).toThrow('query.limit is');
    expect(wrong({ query: { limit: ['5', 5] } })).toThrow('query.limit[1] is');
    expect(() => withRequestOptions(client, { maxRetries: -1 })).toThrow('maxRetries -1 is not valid');
  });
});
