import { defineKind } from '@kctl/apimachinery';
import { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, isCredentialsError, isTransportError } from '../src/index.js';
import type { Connection, HttpClient, HttpClientOptions } from '../src/index.js';
import { createAuthority } from './support/certificates.js';
import type { Authority, KeyPair } from './support/certificates.js';
import { failure, json, startServer } from './support/server.js';
import type { SeenRequest, TestServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

let authority: Authority;
let otherAuthority: Authority;
let serverPair: KeyPair;
let directory: string;
let server: TestServer;
const clients: HttpClient[] = [];

const open = (connection: Partial<Connection>, options: HttpClientOptions = {}): HttpClient => {
  const client = createHttpClient({
    ...options,
    connection: { server: server.url, ca: authority.cert, ...connection },
  });
  clients.push(client);
  return client;
};
const file = async (name: string, content: string): Promise<string> => {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
};
const answer = (response: ServerResponse): void =>
  json(response, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
const get = (client: HttpClient): Promise<unknown> => client.get(Node, { name: 'n' });
const failureOf = (client: HttpClient): Promise<Error> =>
  get(client).then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => error as Error,
  );
/** Accepts the given tokens only. */
const accept = (...tokens: string[]): void => {
  server.handler = (request, response) =>
    tokens.some((token) => request.headers.authorization === `Bearer ${token}`)
      ? answer(response)
      : failure(response, 401, { reason: 'Unauthorized', message: 'Unauthorized' });
};

beforeAll(async () => {
  authority = createAuthority();
  otherAuthority = createAuthority('other-ca');
  serverPair = authority.issue();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kctl-auth-'));
  server = await startServer((_request, response) => answer(response), {
    ...serverPair,
    ca: [authority.cert],
    requestCert: true,
    rejectUnauthorized: false,
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe('TLS', () => {
  const clientName = (request: SeenRequest): string | undefined => {
    const { socket } = request.message;
    return socket instanceof TLSSocket && socket.authorized
      ? String(socket.getPeerCertificate().subject.CN)
      : undefined;
  };

  it('shows a client certificate', async () => {
    const { cert, key } = authority.issue({ clientName: 'alice' });
    let seen: string | undefined;
    server.handler = (request, response) => {
      seen = clientName(request);
      answer(response);
    };
    await get(open({ user: { certificate: cert, key } }));
    expect(seen).toBe('alice');
  });

  it('follows rotated certificate files without losing a request', async () => {
    const clock = new FakeClock();
    const [first, second] = [authority.issue({ clientName: 'first' }), authority.issue({ clientName: 'second' })];
    const certificateFile = await file('tls.crt', first.cert);
    const keyFile = await file('tls.key', first.key);
    const client = open({ user: { certificateFile, keyFile } }, { clock, requestTimeoutMs: 0 });
    const seen: (string | undefined)[] = [];
    const waiting: ServerResponse[] = [];
    server.handler = (request, response) => {
      seen.push(clientName(request));
      if (request.url.searchParams.has('resourceVersion')) waiting.push(response);
      else answer(response);
    };
    await get(client);
    const slow = client.get(Node, { name: 'n' }, { resourceVersion: '1' });
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await writeFile(certificateFile, second.cert);
    await writeFile(keyFile, second.key);
    await get(client);
    await clock.advance(61_000);
    await get(client);
    expect(seen).toEqual(['first', 'first', 'first', 'second']);
    waiting.forEach(answer);
    await expect(slow).resolves.toMatchObject({ kind: 'Node' });
  });

  it('keeps what it has while the files of a rotation are not all written', async () => {
    const clock = new FakeClock();
    const [first, second] = [authority.issue({ clientName: 'first' }), authority.issue({ clientName: 'second' })];
    const caFile = await file('ca.crt', authority.cert);
    const certificateFile = await file('tls.crt', first.cert);
    const keyFile = await file('tls.key', first.key);
    const seen: (string | undefined)[] = [];
    server.handler = (request, response) => {
      seen.push(clientName(request));
      answer(response);
    };
    const client = open({ caFile, user: { certificateFile, keyFile } }, { clock, requestTimeoutMs: 0 });
    await get(client);
    await writeFile(certificateFile, second.cert);
    await clock.advance(61_000);
    await get(client);
    await writeFile(keyFile, second.key);
    await writeFile(caFile, authority.cert.slice(0, 100));
    await clock.advance(61_000);
    await get(client);
    await writeFile(caFile, authority.cert);
    await clock.advance(61_000);
    await get(client);
    expect(seen).toEqual(['first', 'first', 'first', 'second']);
  });

  it('follows a rotated CA as soon as the old one no longer fits', async () => {
    const caFile = await file('ca.crt', otherAuthority.cert);
    const { ca: _ca, ...connection } = { ca: undefined, caFile };
    const client = createHttpClient({ connection: { server: server.url, ...connection } });
    clients.push(client);
    const error = await failureOf(client);
    expect(error.message).toBe(
      `cannot connect to the API server ${server.url}: the server's certificate is signed by an unknown authority: is certificate-authority the CA of this cluster?`,
    );
    await writeFile(caFile, authority.cert);
    await expect(get(client)).resolves.toBeDefined();
  });

  it('follows a rotated CA with every request that was under way, not with the first that fails alone', async () => {
    const caFile = await file('ca.crt', otherAuthority.cert);
    const held = Promise.withResolvers<undefined>();
    let dialed = 0;
    const dial: NonNullable<Connection['dial']> = async ({ host, port }) => {
      if (++dialed === 1) await held.promise;
      return connect(port, host);
    };
    const client = createHttpClient({ connection: { server: server.url, caFile, dial } });
    clients.push(client);
    const slow = get(client);
    slow.catch(() => undefined);
    while (dialed === 0) await new Promise((resolve) => setImmediate(resolve));
    await writeFile(caFile, authority.cert);
    await get(client);
    held.resolve(undefined);
    await expect(slow).resolves.toMatchObject({ kind: 'Node' });
  });

  it('names an expired certificate, a wrong name, a wrong port, and a host that does not exist', async () => {
    server.setTls(authority.issue({ notAfter: new Date(Date.now() - 1000) }));
    expect((await failureOf(open({}))).message).toContain("the server's certificate has expired");
    server.setTls(authority.issue({ names: ['kubernetes.default'] }));
    expect((await failureOf(open({}))).message).toContain(
      "the server's certificate is for another name: set tls-server-name",
    );
    await expect(get(open({ tlsServerName: 'kubernetes.default' }))).resolves.toBeDefined();
    await expect(get(open({ ca: undefined, insecureSkipTlsVerify: true } as never))).resolves.toBeDefined();
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const refused = await failureOf(open({}));
    expect(isTransportError(refused) && [refused.failure, refused.maybeSent]).toEqual(['unreachable', false]);
    expect(refused.message).toBe(
      `cannot connect to the API server https://127.0.0.1:${port}: connection refused: is the server running at this address?`,
    );
    expect((await failureOf(open({ server: 'https://nowhere.invalid:6443' }))).message).toContain(
      'https://nowhere.invalid:6443: ',
    );
  });
});

describe('a connection without which requests would be those of another user', () => {
  const given = { user: { token: 'a-secret' } };
  it.each<[string, unknown, string]>([
    ['an empty token', { user: { token: '' } }, 'user.token is blank: set it, or leave it out for requests without it'],
    ['a blank token', { user: { token: ' \n' } }, 'user.token is blank'],
    ['a token that is null', { user: { token: null } }, 'user.token is null: expected a string'],
    [
      'a token that is a promise',
      { user: { token: Promise.resolve('t') } },
      'user.token is a promise: expected a string',
    ],
    ['an empty token file', { user: { tokenFile: '' } }, 'user.tokenFile is blank'],
    ['an empty user name', { user: { username: '', password: 'p' } }, 'user.username is blank'],
    ['a certificate without its key', { user: { certificate: 'pem' } }, 'user.certificate is set without user.key'],
    ['a certificate file alone', { user: { certificateFile: 'f' } }, 'user.certificate is set without user.key'],
    ['empty bytes', { user: { certificate: new Uint8Array(), key: 'k' } }, 'user.certificate is blank'],
    ['no name to act as', { user: { token: 't', impersonate: { userName: '', groups: ['a'] } } }, 'userName is blank'],
    [
      'a text in place of groups',
      { user: { token: 't', impersonate: { userName: 'jane', groups: 'admins' } } },
      'connection.user.impersonate.groups is a value of type string: expected a list of strings',
    ],
    [
      'a text in place of values of an extra',
      { user: { token: 't', impersonate: { userName: 'jane', extra: { scopes: 'all' } } } },
      'connection.user.impersonate.extra["scopes"] is a value of type string: expected a list of strings',
    ],
    [
      'an empty ca',
      { ca: '', ...given },
      'ca is blank: set it, or leave it out to trust the authorities of the system',
    ],
    [
      'a ca that would not be used',
      { insecureSkipTlsVerify: true, ...given },
      'insecureSkipTlsVerify is set with ca, which would not be used: set one of them',
    ],
    [
      'a file of a ca that would not be used',
      { ca: undefined, caFile: 'ca.crt', insecureSkipTlsVerify: true },
      'insecureSkipTlsVerify is set with caFile, which would not be used: set one of them',
    ],
    [
      'a flag that is a string',
      { insecureSkipTlsVerify: 'false' },
      'insecureSkipTlsVerify is a value of type string: expected true or false',
    ],
    ['a user that is a text', { user: 'a-secret' }, 'user is a value of type string: expected an object'],
  ])('is refused before any request: %s', (_what, fields, message) => {
    expect(() => open(fields as Partial<Connection>)).toThrow(message);
    expect(server.requests).toHaveLength(0);
  });

  it('is refused as an option, too, with all that is wrong', () => {
    expect(() => open(given, { impersonate: { userName: ' ' } })).toThrow(
      new TypeError('impersonate.userName is blank: set it, or leave impersonate out to act as the user itself'),
    );
    expect(() => open({ caFile: '', user: { token: '', certificate: 'c' } })).toThrow(
      /^connection: caFile is blank.*; user.token is blank.*; user.certificate is set without user.key/,
    );
  });

  it('is not one without a user, with fields that are undefined, or with white space around a token', async () => {
    await get(open({}));
    await get(open({ user: { token: undefined, certificate: undefined } as never }));
    await get(open({ user: { token: ' t\n' } }));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, 'Bearer t']);
  });
});

describe('tokens', () => {
  it('sends a bearer token, basic credentials and impersonation', async () => {
    await get(open({ user: { token: 'secret-token' } }));
    await get(open({ user: { username: 'me', password: 'secret-password' } }));
    await get(
      open({
        user: {
          token: 't',
          impersonate: { userName: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'Acme/Scopes': ['x', 'y'] } },
        },
      }),
    );
    const [bearer, basic, impersonated] = server.requests;
    expect(bearer?.headers.authorization).toBe('Bearer secret-token');
    expect(basic?.headers.authorization).toBe(`Basic ${Buffer.from('me:secret-password').toString('base64')}`);
    expect(impersonated?.headers).toMatchObject({ 'impersonate-user': 'jane', 'impersonate-uid': '7' });
    expect(
      impersonated?.message.rawHeaders.filter(
        (_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'impersonate-group',
      ),
    ).toEqual(['a', 'b']);
    expect(impersonated?.headers['impersonate-extra-acme%2fscopes']).toBe('x, y');
  });

  it('sends the names of impersonation in UTF-8, as client-go does', async () => {
    const impersonate = { userName: 'jürgen 🎉', uid: 'ü', groups: ['Gäste'], extra: { Größe: ['groß'] } };
    await get(open({ user: { token: 't' } }, { impersonate }));
    const sent = (name: string): string => Buffer.from(String(server.requests[0]?.headers[name]), 'latin1').toString();
    expect([sent('impersonate-user'), sent('impersonate-uid'), sent('impersonate-group')]).toEqual([
      'jürgen 🎉',
      'ü',
      'Gäste',
    ]);
    expect(sent(`impersonate-extra-${encodeURIComponent('größe').toLowerCase()}`)).toBe('groß');
  });

  it('reads a token file again after 50 s, and keeps the old token while the file is gone or empty', async () => {
    const clock = new FakeClock();
    const tokenFile = await file('token', 'one\n');
    const client = open({ user: { tokenFile } }, { clock });
    const token = async (): Promise<string | undefined> => {
      await get(client);
      return server.requests.at(-1)?.headers.authorization;
    };
    expect(await token()).toBe('Bearer one');
    await writeFile(tokenFile, 'two');
    expect(await token()).toBe('Bearer one');
    await clock.advance(51_000);
    expect(await token()).toBe('Bearer two');
    await rm(tokenFile);
    await clock.advance(51_000);
    expect(await token()).toBe('Bearer two');
    await writeFile(tokenFile, ' \n');
    await clock.advance(51_000);
    expect(await token()).toBe('Bearer two');
  });

  it('loses no request while the token is rotated under load', async () => {
    const tokenFile = await file('token', 'token-0');
    accept('token-0');
    const client = open({ user: { tokenFile } });
    const failures: unknown[] = [];
    const answered = Array.from({ length: 8 }, () => 0);
    let isDone = false;
    const load = answered.map(async (_, worker) => {
      while (!isDone) {
        await get(client).catch((error: unknown) => failures.push(error));
        answered[worker]!++;
      }
    });
    /** So that every worker makes requests between two rotations: two within one request are for another test. */
    const everyWorkerWentOn = async (): Promise<void> => {
      const before = [...answered];
      while (answered.some((count, worker) => count < before[worker]! + 3))
        await new Promise((resolve) => setImmediate(resolve));
    };
    await everyWorkerWentOn();
    for (let round = 1; round <= 10; round++) {
      // As the kubelet does it: never a half-written file.
      await rename(await file('token.new', `token-${round}`), tokenFile);
      accept(`token-${round}`);
      await everyWorkerWentOn();
    }
    isDone = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    const tokens = new Set(server.requests.map(({ headers }) => headers.authorization));
    expect(tokens.size).toBe(11);
  });

  it('says in one line that the server refuses the credentials', async () => {
    accept('other');
    const error = await failureOf(open({ user: { token: 'expired' } }));
    expect(error).toMatchObject({ code: 'KCTL_STATUS', reason: 'Unauthorized' });
    expect(error.message).toBe(
      'Unauthorized: the API server does not accept the credentials: is the token or certificate expired?',
    );
    expect(server.requests).toHaveLength(1);
  });

  it('says which token file is missing', async () => {
    const error = await failureOf(open({ user: { tokenFile: join(directory, 'none') } }));
    expect(isCredentialsError(error)).toBe(true);
    expect(error.message).toContain(`cannot read the token file ${join(directory, 'none')}: ENOENT`);
    expect(server.requests).toHaveLength(0);
  });

  it('uses the token of a user until its token file is there', async () => {
    const tokenFile = join(directory, 'token');
    const client = open({ user: { tokenFile, token: 'given' } });
    accept('given');
    await get(client);
    await file('token', 'mounted');
    accept('mounted');
    await get(client);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer given', 'Bearer mounted']);
  });
});

describe('exec plugins', () => {
  /** A plugin that counts its runs and prints what `status` says. */
  const plugin = async (script: string): Promise<NonNullable<Connection['user']>> => {
    const path = await file(
      'plugin.mjs',
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(join(directory, 'runs'))}, 'x');\n${script}`,
    );
    return {
      exec: {
        command: process.execPath,
        args: [path],
        env: [{ name: 'GREETING', value: 'hello' }],
        provideClusterInfo: true,
        apiVersion: 'client.authentication.k8s.io/v1',
      },
    };
  };
  const print = (status: string): string =>
    `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: ${status} }));`;
  const runs = async (): Promise<number> => (await readFile(join(directory, 'runs'), 'utf8')).length;

  it('runs once for all who wait, hands over the cluster, and runs again on expiry', async () => {
    const clock = new FakeClock();
    const script = `const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      const token = [process.env.GREETING, info.kind, info.spec.interactive, info.spec.cluster.server].join('|');
      ${print(`{ token, expirationTimestamp: ${JSON.stringify(new Date(clock.now() + 60_000).toISOString())} }`)}`;
    const client = open({ user: await plugin(script) }, { clock });
    await Promise.all([get(client), get(client), get(client)]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer hello|ExecCredential|false|${server.url}`);
    expect(await runs()).toBe(1);
    await clock.advance(61_000);
    await get(client);
    expect(await runs()).toBe(2);
  });

  it('hands over the CA of a file and the config of the cluster', async () => {
    const caFile = await file('ca.crt', authority.cert);
    const script = `const { cluster } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
      const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
      ${print('{ token: [ca.length, cluster.config.audience].join("|") }')}`;
    const { exec } = await plugin(script);
    const user = { exec: { ...exec, command: process.execPath, config: { audience: 'shop' } } };
    const connection = { server: server.url, caFile, user };
    await using client = createHttpClient({ connection });
    await get(client);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${authority.cert.length}|shop`);
  });

  it('names the CA that it cannot hand over, not the plugin', async () => {
    const caFile = join(directory, 'none.crt');
    const client = createHttpClient({
      connection: { server: server.url, caFile, user: await plugin(print('{ token: "t" }')) },
    });
    clients.push(client);
    expect((await failureOf(client)).message).toMatch(
      /^exec plugin .*: cannot read the certificate authority: ENOENT.*none\.crt/,
    );
  });

  it('runs what the allowlist names, by path or by name, and nothing else', async () => {
    const user = await plugin(print('{ token: "t" }'));
    const environment = { PATH: dirname(process.execPath) };
    for (const entry of [process.execPath, basename(process.execPath)])
      await get(open({ user }, { environment, execAllowlist: ['/bin/other', entry] }));
    const count = await runs();
    for (const execAllowlist of [[], ['/bin/sh'], [`${process.execPath}-of-another`]])
      await expect(get(open({ user }, { environment, execAllowlist }))).rejects.toThrow(
        /is not in execAllowlist, which has/,
      );
    expect(await runs()).toBe(count);
  });

  it('runs again on a 401, once, and repeats the request', async () => {
    const user = await plugin(
      `import { readFileSync } from 'node:fs'; const n = readFileSync(${JSON.stringify(join(directory, 'runs'))}, 'utf8').length; ${print('{ token: `token-${n}` }')}`,
    );
    const client = open({ user });
    await get(client);
    accept('token-2');
    await Promise.all([get(client), get(client), get(client)]);
    expect(await runs()).toBe(2);
  });

  it('does not keep a request that is aborted', async () => {
    const client = open({ user: await plugin('setInterval(() => undefined, 1_000);') }); // until it is ended
    const controller = new AbortController();
    const got = client.get(Node, { name: 'n' }, { signal: controller.signal });
    setImmediate(() => controller.abort(new Error('no longer wanted')));
    await expect(got).rejects.toThrow('no longer wanted');
  });

  it('uses the certificate that the plugin gives', async () => {
    const { cert, key } = authority.issue({ clientName: 'from-plugin' });
    let seen: unknown;
    server.handler = (request, response) => {
      const { socket } = request.message;
      seen = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined;
      answer(response);
    };
    await get(open({ user: await plugin(print(JSON.stringify({ clientCertificateData: cert, clientKeyData: key }))) }));
    expect(seen).toBe('from-plugin');
  });

  it('explains a plugin that fails, talks nonsense or is not installed, without its secrets', async () => {
    const failing = await failureOf(
      open({ user: await plugin(`console.error('login expired, token=abc123'); process.exit(3);`) }),
    );
    expect(failing.message).toMatch(/^exec plugin .*: exited with code 3: login expired, token=\[redacted\]$/);
    const nonsense = await failureOf(open({ user: await plugin(`console.log('my-secret is not JSON');`) }));
    expect(nonsense.message).toMatch(/: it did not print JSON$/);
    const wrongVersion = await failureOf(
      open({
        user: await plugin(
          `console.log('{"kind":"ExecCredential","apiVersion":"x/v9","status":{"token":"my-secret"}}');`,
        ),
      }),
    );
    expect(wrongVersion.message).toContain(
      'it printed apiVersion x/v9, but client.authentication.k8s.io/v1 is configured',
    );
    const missing = await failureOf(
      open({ user: { exec: { command: 'no-such-plugin-here', installHint: 'get it from example.com' } } }),
    );
    expect(missing.message).toBe(
      'exec plugin no-such-plugin-here: the command is not installed or not on PATH: get it from example.com',
    );
    expect(isCredentialsError(missing)).toBe(true);
    expect(server.requests).toHaveLength(0);
  });
});

describe('OIDC', () => {
  const jwt = (claims: object): string =>
    [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.sig';

  it('refreshes an expired id-token at the issuer, once for all who wait', async () => {
    const now = Math.floor(Date.now() / 1000);
    await using issuer = await startServer((request, response) => {
      if (request.url.pathname === '/.well-known/openid-configuration')
        json(response, {
          issuer: issuer.url,
          token_endpoint: `${issuer.url}/token`,
          authorization_endpoint: `${issuer.url}/auth`,
          jwks_uri: `${issuer.url}/keys`,
        });
      else {
        const form = new URLSearchParams(request.body);
        expect(form.get('refresh_token')).toBe('refresh-1');
        expect(request.headers.authorization).toBe(`Basic ${Buffer.from('client:cs').toString('base64')}`);
        const idToken = jwt({ exp: now + 3600, iss: issuer.url, aud: 'client', sub: 'me', iat: now });
        json(response, {
          access_token: 'a',
          token_type: 'Bearer',
          id_token: idToken,
          refresh_token: 'refresh-2',
          expires_in: 3600,
        });
      }
    }, serverPair);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'c', server: server.url, caData: Buffer.from(authority.cert).toString('base64'), skipTLSVerify: false },
      {
        name: 'u',
        authProvider: {
          name: 'oidc',
          config: {
            'id-token': jwt({ exp: now - 10 }),
            'refresh-token': 'refresh-1',
            'client-id': 'client',
            'client-secret': 'cs',
            'idp-issuer-url': issuer.url,
            'idp-certificate-authority-data': Buffer.from(authority.cert).toString('base64'),
          },
        },
      },
    );
    const client = createHttpClient({ kubeConfig });
    clients.push(client);
    await Promise.all([get(client), get(client), get(client)]);
    const tokens = server.requests.map(({ headers }) => headers.authorization ?? '');
    expect(new Set(tokens).size).toBe(1);
    expect(JSON.parse(Buffer.from(tokens[0]?.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      exp: now + 3600,
    });
    expect(issuer.requests.filter(({ url }) => url.pathname === '/token')).toHaveLength(1);
  });
});

describe('OIDC failures', () => {
  it('leaves the issuer when the client is disposed', async () => {
    await using issuer = await startServer(() => undefined);
    const oidc = { issuerUrl: issuer.url, clientId: 'c', refreshToken: 'r' };
    const client = createHttpClient({ connection: { server: server.url, user: { oidc } } });
    const asked = failureOf(client);
    await expect.poll(() => issuer.requests.length).toBe(1);
    await client[Symbol.asyncDispose]();
    expect(await asked).toMatchObject({ failure: 'closed' });
    await expect.poll(() => issuer.sockets.size).toBe(0);
  });

  it('says that the session has ended, and what the issuer says', async () => {
    await using issuer = await startServer((request, response) => {
      if (request.method === 'GET') json(response, { token_endpoint: `${issuer.url}/token` });
      else json(response, { error: 'invalid_grant', error_description: 'session gone' }, 400);
    });
    const oidc = { issuerUrl: issuer.url, clientId: 'c' };
    expect((await failureOf(open({ user: { oidc } }))).message).toBe(
      `OIDC issuer ${issuer.url}: the id-token has expired and no refresh-token is there to renew it; log in again`,
    );
    expect((await failureOf(open({ user: { oidc: { ...oidc, refreshToken: 'r' } } }))).message).toBe(
      `OIDC issuer ${issuer.url}: it answered 400 (invalid_grant: session gone)`,
    );
    expect(
      (await failureOf(open({ user: { oidc: { issuerUrl: 'http://127.0.0.1:1', clientId: 'c', refreshToken: 'r' } } })))
        .message,
    ).toBe('OIDC issuer http://127.0.0.1:1: cannot connect (ECONNREFUSED)');
  });
});

describe('other auth providers', () => {
  it('asks the KubeConfig for the header before each request', async () => {
    const kubeConfig = new KubeConfig();
    let n = 0;
    kubeConfig.addAuthenticator({
      isAuthProvider: (user) => user.name === 'custom',
      applyAuthentication: async (_user, options) => {
        options.headers = { ...options.headers, Authorization: `Custom ${++n}` };
      },
    });
    kubeConfig.loadFromClusterAndUser(
      { name: 'c', server: server.url, caData: Buffer.from(authority.cert).toString('base64'), skipTLSVerify: false },
      { name: 'custom', authProvider: { name: 'mine' } },
    );
    const client = createHttpClient({ kubeConfig });
    clients.push(client);
    await get(client);
    await get(client);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Custom 1', 'Custom 2']);
  });
});

describe('secrets', () => {
  it('appear in no inspection of the client and in no error', async () => {
    const { cert, key } = authority.issue({ clientName: 'alice' });
    const client = open({ user: { token: 'secret-token', certificate: cert, key } });
    server.handler = (_request, response) => failure(response, 500, { message: 'broken' });
    const error = await failureOf(client);
    await server[Symbol.asyncDispose]();
    const refused = await failureOf(client);
    for (const thing of [client, client.transport, error, refused]) {
      const text = inspect(thing, { depth: 10, showHidden: true }) + JSON.stringify(thing);
      expect(text).not.toContain('secret-token');
      expect(text).not.toContain('PRIVATE KEY');
    }
  });

  it('appear in no log line, whatever goes wrong with them', async () => {
    const lines: string[] = [];
    const note = (message: string, fields?: object): void =>
      void lines.push(`${message} ${inspect(fields, { depth: 10, showHidden: true })} ${JSON.stringify(fields)}`);
    const logger: Logger = {
      isEnabled: () => true,
      trace: note,
      debug: note,
      info: note,
      warn: note,
      error: note,
      child: () => logger,
    };
    const clock = new FakeClock();
    const tokenFile = await file('token', 'secret-one');
    const caFile = await file('ca.crt', authority.cert);
    const client = open({ user: { tokenFile }, caFile }, { logger, clock, compression: false });
    accept('secret-one');
    await get(client);
    server.handler = (_request, response) => {
      const isFirst = server.requests.length % 2 === 0;
      if (isFirst) failure(response, 503, {}, { 'retry-after': '0', warning: '299 - "take care"' });
      else failure(response, 401, { reason: 'Unauthorized', message: 'Unauthorized' });
    };
    await rm(tokenFile);
    await rm(caFile);
    await clock.advance(120_000);
    const failed = failureOf(client);
    let isDone = false;
    void failed.finally(() => (isDone = true));
    while (!isDone) {
      clock.advanceSync(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await failed;
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => /secret-one|PRIVATE KEY|Bearer/.test(line))).toEqual([]);
  });
});
