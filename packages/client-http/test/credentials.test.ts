import { defineKind } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, isCredentialsError } from '../src/index.js';
import type { HttpClient, UserConnection } from '../src/index.js';
import { json, startServer } from './support/server.js';
import type { TestServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

let server: TestServer;
let clock: FakeClock;
let client: HttpClient | undefined;

const get = (user: UserConnection): Promise<unknown> => {
  client = createHttpClient({ connection: { server: server.url, user }, clock });
  return client.get(Node, { name: 'n' });
};
const failure = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
const jwt = (claims: object): string =>
  [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.sig';

beforeEach(async () => {
  clock = new FakeClock();
  server = await startServer((_request, response) =>
    json(response, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }),
  );
});

afterEach(async () => {
  await client?.[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('an auth provider', () => {
  it('that never answers does not hang the request, and is asked again by the next one', async () => {
    let asked = 0;
    const provider = {
      authorization: () => (++asked === 1 ? new Promise<string>(() => undefined) : Promise.resolve('Bearer late')),
    };
    const failed = failure(get({ provider }));
    await clock.advance(60_000);
    const error = await failed;
    expect(isCredentialsError(error)).toBe(true);
    expect(String(error)).toContain('the auth provider gave no credentials: no answer within 60 s');
    await client?.get(Node, { name: 'n' });
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer late');
  });

  it('that fails with its secret in hand does not spill it', async () => {
    const provider = { authorization: () => Promise.reject(new Error('refused Bearer abc.def.ghi, password=hunter2')) };
    const error = await failure(get({ provider }));
    expect(isCredentialsError(error)).toBe(true);
    const text = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('abc.def');
  });
});

describe('an OIDC issuer', () => {
  it('that begins to answer and never ends does not hang the request', async () => {
    const begun = Promise.withResolvers<undefined>();
    await using issuer = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
      begun.resolve(undefined);
    });
    const failed = failure(get({ oidc: { issuerUrl: issuer.url, clientId: 'c', refreshToken: 'r' } }));
    await begun.promise;
    await clock.advance(30_000);
    const error = await failed;
    expect(isCredentialsError(error)).toBe(true);
    expect(String(error)).toContain(`OIDC issuer ${issuer.url}: no token within 30 s`);
  });

  it('is not asked again and again for a token that does not say when it ends', async () => {
    const idToken = jwt({ sub: 'me' });
    await get({ oidc: { issuerUrl: 'http://127.0.0.1:1', clientId: 'c', idToken } });
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${idToken}`);
  });
});
