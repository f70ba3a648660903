import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  connectionFromKubeConfig,
  inClusterConnection,
  isKubeConfigError,
  joinUrlUser,
  redact,
  redactKnown,
  requireConnection,
  requireImpersonation,
  splitUrlUser,
  withoutUserInfo,
} from '../src/connection/index.js';
import type { KubeConfigLike } from '../src/connection/index.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kctl-config-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bytes = (text: string): Buffer => Buffer.from(text);

interface Parts {
  readonly context?: unknown;
  readonly contextObject?: object | null;
  readonly cluster?: unknown;
  readonly user?: unknown;
  readonly authenticate?: (sink: { setHeaderParam(name: string, value: string): void; setDispatcher(): void }) => void;
}
const kubeConfig = ({
  context = 'here',
  contextObject = { user: 'me' },
  cluster = { server: 'https://a' },
  user = null,
  authenticate,
}: Parts) =>
  ({
    getCurrentContext: () => context,
    getContextObject: () => contextObject,
    getCurrentCluster: () => cluster,
    getCurrentUser: () => user,
    applySecurityAuthentication: async (sink: never) => authenticate?.(sink),
  }) as unknown as KubeConfigLike;
const connect = (parts: Parts) => connectionFromKubeConfig(kubeConfig(parts));
const ofUser = (user: object) => connect({ user: { name: 'me', ...user } }).user;

describe('connectionFromKubeConfig', () => {
  it('takes over what the cluster and the context state, and leaves out what they do not', () => {
    const anonymous = { contextObject: null };
    expect(connect(anonymous)).toStrictEqual({ server: 'https://a' });
    expect(
      connect({ ...anonymous, cluster: { server: 'https://a', caData: '', caFile: '', skipTLSVerify: false } }),
    ).toStrictEqual({ server: 'https://a' });
    const cluster = { server: 'https://a', caFile: '/ca', tlsServerName: 'b', proxyUrl: 'http://p' };
    expect(connect({ cluster, contextObject: { namespace: 'shop' } })).toStrictEqual({
      server: 'https://a',
      caFile: '/ca',
      tlsServerName: 'b',
      proxyUrl: 'http://p',
      namespace: 'shop',
    });
    expect(connect({ ...anonymous, cluster: { ...cluster, caData: base64('ca') } })).toMatchObject({ ca: bytes('ca') });
    expect(connect({ ...anonymous, cluster: { ...cluster, caData: base64('ca') } })).not.toHaveProperty('caFile');
    const insecure = { server: 'https://a', skipTLSVerify: true };
    expect(connect({ ...anonymous, cluster: insecure })).toStrictEqual({
      server: 'https://a',
      insecureSkipTlsVerify: true,
    });
  });

  it.each([
    ['files', { certFile: '/c', keyFile: '/k' }, { certificateFile: '/c', keyFile: '/k' }],
    [
      'data, which count before files',
      { certData: base64('c'), certFile: '/c', keyData: base64('key\n'), keyFile: '/k' },
      { certificate: bytes('c'), key: bytes('key\n') },
    ],
    ['a token with a line end', { token: 'abc\n' }, { token: 'abc' }],
    ['name and password', { username: 'me', password: 'pw' }, { username: 'me', password: 'pw' }],
    [
      'another user to act as',
      { token: 't', impersonateUser: 'you' },
      { token: 't', impersonate: { userName: 'you' } },
    ],
    ['a key beside a token', { keyFile: '/k', token: 't' }, { keyFile: '/k', token: 't' }],
    ['a key beside a name', { keyData: base64('key'), username: 'me' }, { key: bytes('key'), username: 'me' }],
    ['a token file', { authProvider: { config: { tokenFile: '/t' } } }, { tokenFile: '/t' }],
    ['nothing', { token: '', username: '', impersonateUser: '', exec: null }, {}],
    [
      'a plugin',
      {
        keyFile: '/k',
        exec: {
          command: 'login',
          args: ['a', 1],
          env: [{ name: 'A', value: 'b' }, { name: 'C' }, { value: 'd' }, 'E=f', null],
          apiVersion: 'v1',
          installHint: 'install it',
          provideClusterInfo: true,
          interactiveMode: 'Never',
        },
      },
      {
        keyFile: '/k',
        exec: {
          command: 'login',
          args: ['a', '1'],
          env: [{ name: 'A', value: 'b' }],
          apiVersion: 'v1',
          installHint: 'install it',
          provideClusterInfo: true,
          interactiveMode: 'Never',
        },
      },
    ],
    [
      'a plugin of an auth provider, without details',
      { authProvider: { config: { exec: { command: 'login', provideClusterInfo: 'yes', interactiveMode: '' } } } },
      { exec: { command: 'login', args: [], env: [] } },
    ],
    [
      'a plugin for terminals too',
      { exec: { command: 'login', interactiveMode: 'IfAvailable' } },
      { exec: { command: 'login', args: [], env: [], interactiveMode: 'IfAvailable' } },
    ],
    [
      'a plugin for terminals only',
      { exec: { command: 'login', interactiveMode: 'Always' } },
      { exec: { command: 'login', args: [], env: [], interactiveMode: 'Always' } },
    ],
    [
      'OpenID Connect',
      {
        authProvider: {
          name: 'oidc',
          config: {
            'idp-issuer-url': 'https://i',
            'client-id': 'c',
            'client-secret': 's',
            'id-token': 'i',
            'refresh-token': 'r',
            'idp-certificate-authority-data': base64('ca'),
          },
        },
      },
      {
        oidc: {
          issuerUrl: 'https://i',
          clientId: 'c',
          clientSecret: 's',
          idToken: 'i',
          refreshToken: 'r',
          ca: bytes('ca'),
        },
      },
    ],
  ])('authenticates with %s', (_what, user, expected) => {
    expect(ofUser(user)).toStrictEqual(expected);
  });

  it('takes OpenID Connect without its configuration for a provider of the KubeConfig', () => {
    expect(ofUser({ authProvider: { name: 'oidc' } })).toHaveProperty('provider');
  });

  it('reads the certificate authority of an issuer from its file', () => {
    const path = join(directory, 'ca');
    const oidc = (file: string) => ({
      authProvider: {
        name: 'oidc',
        config: { 'idp-issuer-url': 'https://i', 'client-id': 'c', 'idp-certificate-authority': file },
      },
    });
    writeFileSync(path, 'ca');
    expect(ofUser(oidc(path))?.oidc?.ca).toEqual(bytes('ca'));
    expect(ofUser(oidc(''))?.oidc).toStrictEqual({ issuerUrl: 'https://i', clientId: 'c' });
    expect(() => ofUser(oidc(`${path}-absent`))).toThrow(`cannot read idp-certificate-authority ${path}-absent`);
  });

  it.each([
    ['no context', { cluster: null, context: '' }, 'current-context is not set'],
    ['a context that is no string', { cluster: null, context: 5 }, 'current-context is not set'],
    ['a context without a cluster', { cluster: null }, 'context "here" does not exist, or its cluster does not'],
    ['a cluster that is a string', { cluster: 'a' }, 'getCurrentCluster returned'],
    ['a user that is a string', { user: 'a' }, 'getCurrentUser returned'],
    ['a user that does not exist', {}, 'context "here" names the user "me", which does not exist'],
    [
      'an authority that is not used',
      { contextObject: null, cluster: { server: 'https://a', skipTLSVerify: true, caFile: '/ca' } },
      'insecure-skip-tls-verify',
    ],
    [
      'the same as data',
      { contextObject: null, cluster: { server: 'https://a', skipTLSVerify: true, caData: 'YQ==' } },
      'insecure-skip-tls-verify',
    ],
    [
      'an authority that is not base64',
      { contextObject: null, cluster: { server: 'https://a', caData: '*' } },
      'certificate-authority-data is not valid',
    ],
    [
      'an authority that is cut',
      { contextObject: null, cluster: { server: 'https://a', caData: 'YWJ' } },
      'certificate-authority-data is not valid',
    ],
    [
      'an authority with other characters',
      { contextObject: null, cluster: { server: 'https://a', caData: 'YWJj YWJ' } },
      'certificate-authority-data is not valid',
    ],
    [
      'a certificate without key',
      { user: { name: 'me', certFile: '/c' } },
      'user "me": client-certificate is set without client-key',
    ],
    ['the same as data', { user: { name: 'me', certData: 'YQ==' } }, 'client-certificate is set without client-key'],
    ['a key alone', { user: { name: 'me', keyFile: '/k' } }, 'user "me": client-key is set without client-certificate'],
    ['a key alone, as data', { user: { name: 'me', keyData: 'YQ==' } }, 'client-key is set without client-certificate'],
    ['a blank token', { user: { name: 'me', token: ' \n' } }, 'user "me": token is blank'],
    ['a plugin without command', { user: { name: 'me', exec: { command: '' } } }, 'exec.command is not set'],
    [
      'a plugin of an unknown mode',
      { user: { name: 'me', exec: { command: 'a', interactiveMode: 'Maybe' } } },
      'exec.interactiveMode is not valid',
    ],
    [
      'OpenID Connect without issuer',
      { user: { name: 'me', authProvider: { name: 'oidc', config: { 'client-id': 'c' } } } },
      'idp-issuer-url or client-id is not set',
    ],
    [
      'OpenID Connect without client',
      { user: { name: 'me', authProvider: { name: 'oidc', config: { 'idp-issuer-url': 'i' } } } },
      'idp-issuer-url or client-id is not set',
    ],
  ] as readonly (readonly [string, Parts, string])[])('refuses %s', (_what, parts, message) => {
    const error: unknown = (() => {
      try {
        return connect(parts);
      } catch (reason) {
        return reason;
      }
    })();
    expect(String(error)).toContain(message);
    expect(isKubeConfigError(error)).toBe(true);
  });

  it('takes undefined for a user that there is not', () => {
    const anonymous = { ...kubeConfig({ contextObject: null }), getCurrentUser: () => undefined };
    expect(connectionFromKubeConfig(anonymous as never)).toStrictEqual({ server: 'https://a' });
  });

  it('refuses what is no KubeConfig', () => {
    const { getContextObject: _left, ...rest } = kubeConfig({});
    expect(() => connectionFromKubeConfig(rest as never)).toThrow('without getContextObject');
    for (const none of [undefined, null, 5])
      expect(() => connectionFromKubeConfig(none as never)).toThrow('without getCurrentContext');
  });

  it('lets the KubeConfig authenticate with a provider that is not known here', async () => {
    const user = { name: 'me', authProvider: { name: 'cloud', config: {} } };
    const known = connect({
      user,
      authenticate: (sink) => {
        sink.setDispatcher();
        sink.setHeaderParam('Authorization', 'Bearer x');
        sink.setHeaderParam('Other', 'y');
      },
    });
    expect(await known.user?.provider?.authorization()).toBe('Bearer x');
    await expect(connect({ user }).user?.provider?.authorization()).rejects.toThrow(
      'auth-provider "cloud" is not known',
    );
  });
});

describe('requireConnection', () => {
  const server = 'https://a';
  const pem = bytes('pem');
  it.each([
    [{ server }],
    [{ server, ca: 'pem', user: { token: 't', certificate: pem, key: pem } }],
    [{ server, caFile: '/ca', insecureSkipTlsVerify: false, user: { certificateFile: '/c', keyFile: '/k' } }],
    [{ server, insecureSkipTlsVerify: true, user: { key: 'pem', token: 't' } }],
    [{ server, user: { impersonate: { userName: 'you', uid: 'u', groups: ['g'], extra: { a: ['b'] } } } }],
  ])('takes %j', (connection) => {
    expect(() => requireConnection(connection as never)).not.toThrow();
  });

  const without = 'set it, or leave it out';
  const trusting = `${without} to trust the authorities of the system`;
  const anonymous = `${without} for requests without it`;
  it.each([
    [undefined, 'connection is undefined: expected { server, ca, user }'],
    [null, 'connection is null: expected { server, ca, user }'],
    ['https://a', 'connection is a value of type string: expected { server, ca, user }'],
    [{}, 'connection: server is undefined: expected a URL, such as https://10.0.0.1:6443'],
    [{ server: ' ' }, 'connection: server is blank: expected a URL, such as https://10.0.0.1:6443'],
    [{ server, ca: '' }, `connection: ca is blank: ${trusting}`],
    [{ server, ca: new Uint8Array() }, `connection: ca is blank: ${trusting}`],
    [{ server, ca: 5 }, 'connection: ca is a value of type number: expected a string'],
    [{ server, caFile: ' ' }, `connection: caFile is blank: ${trusting}`],
    [
      { server, insecureSkipTlsVerify: 'no' },
      'connection: insecureSkipTlsVerify is a value of type string: expected true or false',
    ],
    [
      { server, insecureSkipTlsVerify: true, ca: 'pem' },
      'connection: insecureSkipTlsVerify is set with ca, which would not be used: set one of them',
    ],
    [
      { server, insecureSkipTlsVerify: true, caFile: '/ca' },
      'connection: insecureSkipTlsVerify is set with caFile, which would not be used: set one of them',
    ],
    [{ server, user: 'me' }, 'connection: user is a value of type string: expected an object'],
    [{ server, user: null }, 'connection: user is null: expected an object'],
    [
      { server, user: { token: ' ', username: '' } },
      `connection: user.token is blank: ${anonymous}; user.username is blank: ${anonymous}`,
    ],
    [{ server, user: { tokenFile: 5 } }, 'connection: user.tokenFile is a value of type number: expected a string'],
    [{ server, user: { certificate: '', key: 'pem' } }, `connection: user.certificate is blank: ${anonymous}`],
    [{ server, user: { certificate: 'pem', key: '' } }, `connection: user.key is blank: ${anonymous}`],
    [
      { server, user: { certificateFile: '/c' } },
      'connection: user.certificate is set without user.key: set both (or certificateFile and keyFile), or none',
    ],
    [
      { server, user: { certificate: 'pem' } },
      'connection: user.certificate is set without user.key: set both (or certificateFile and keyFile), or none',
    ],
    [
      { server, user: { impersonate: {} } },
      'connection.user.impersonate.userName is not set: set it, or leave connection.user.impersonate out to act as the user itself',
    ],
  ])('refuses %j', (connection, message) => {
    expect(() => requireConnection(connection as never)).toThrow(new TypeError(message));
  });

  it.each([
    [{ userName: ' ' }, 'as.userName is blank'],
    [{ userName: 5 }, 'as.userName is not set'],
    ['you', 'as.userName is not set'],
    [{ userName: 'you', uid: 5 }, 'as.uid'],
    [{ userName: 'you', groups: 'admins' }, 'as.groups'],
    [{ userName: 'you', groups: [5] }, 'as.groups'],
    [{ userName: 'you', extra: { ok: ['a'], scope: 'a' } }, 'as.extra["scope"]'],
    [{ userName: 'you', extra: 'a' }, 'as.extra'],
    [{ userName: 'you', group: ['a'] }, 'as.group'],
  ])('refuses to act as %j', (impersonate, message) => {
    expect(() => requireImpersonation('as', impersonate as never)).toThrow(message);
    const none = { uid: undefined, groups: undefined, extra: undefined };
    for (const fits of [undefined, { userName: 'you' }, { userName: 'you', ...none }])
      expect(() => requireImpersonation('as', fits as never)).not.toThrow();
  });
});

describe('inClusterConnection', () => {
  it('uses the service account of the pod', () => {
    const at = (host: string) =>
      inClusterConnection({
        directory,
        environment: { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' },
      });
    const files = { caFile: `${directory}/ca.crt`, user: { tokenFile: `${directory}/token` } };
    expect(at('10.0.0.1')).toStrictEqual({ server: 'https://10.0.0.1:443', ...files });
    writeFileSync(join(directory, 'namespace'), 'shop\n');
    expect(at('fd00::1')).toStrictEqual({ server: 'https://[fd00::1]:443', namespace: 'shop', ...files });
  });

  it.each([{}, { KUBERNETES_SERVICE_HOST: 'a' }, { KUBERNETES_SERVICE_HOST: '', KUBERNETES_SERVICE_PORT: '443' }])(
    'rejects with %j, outside of a pod',
    (environment) => {
      expect(() => inClusterConnection({ environment })).toThrow('this process does not run in a pod');
      expect(() => inClusterConnection(5 as never)).toThrow(/^inClusterConnection: .*options/);
    },
  );
});

it.each([
  ['https://me:p%40w@host/path', { url: 'https://host/path', user: { name: 'me', password: 'p@w' } }],
  ['https://me@host', { url: 'https://host', user: { name: 'me', password: '' } }],
  ['https://:pw@host', { url: 'https://host', user: { name: '', password: 'pw' } }],
  ['https://me:%zz@host', { url: 'https://host', user: { name: 'me', password: '%zz' } }],
  ['https://host/a@b', { url: 'https://host/a@b' }],
  ['no url', { url: 'no url' }],
])('splits %s into URL and user', (url, expected) => {
  expect(splitUrlUser(url)).toStrictEqual(expected);
});

it('joins a URL and a user, and leaves either alone without the other', () => {
  const user = { name: 'm@e', password: 'p/w' };
  expect(joinUrlUser('https://host/a', user)).toBe('https://m%40e:p%2Fw@host/a');
  expect([joinUrlUser(undefined, user), joinUrlUser('https://host', undefined)]).toEqual([undefined, 'https://host']);
});

it.each([
  ['https://me:pw@host/a@b', 'https://host/a@b'],
  ['https://me@host', 'https://host'],
  ['https://:pw@host', 'https://host'],
  ['https://host/a@b', 'https://host/a@b'],
  ['https://me:p#w@host:x', 'https://host:x'],
  ['me:pw@host', 'host'],
])('shows %s without its user', (url, shown) => {
  expect(withoutUserInfo(url)).toBe(shown);
});

it('redacts known secrets, the longest first, and leaves short ones', () => {
  expect(redactKnown('abcdef abcd abc', ['abcd', 'abcdef', 'abc', undefined])).toBe('[redacted] [redacted] abc');
  expect(redactKnown('Bearer abc', [])).toBe('Bearer [redacted]');
  expect(redact('password=hunter2 https://me:pw@host')).toBe('password=[redacted] https://[redacted]@host');
});
