import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionFromKubeConfig, inClusterConnection } from '@kctl/client/internal/connection';
import { isKubeConfigError, listContexts, loadConnection, parseKubeconfig, readKubeconfig } from '../src/index.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kctl-config-'));
});
afterEach(() => rm(directory, { recursive: true }));

const write = async (name: string, text: string): Promise<string> => {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
};
const config = (more = ''): string => `
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c
  cluster: { server: 'https://one:6443/', certificate-authority: ca.crt, tls-server-name: api, proxy-url: 'http://p:1', disable-compression: true }
- name: d
  cluster: { server: 'https://two:6443', insecure-skip-tls-verify: true }
contexts:
- name: main
  context: { cluster: c, user: u, namespace: team }
- name: other
  context: { cluster: d, user: v }
users:
- name: u
  user: { tokenFile: token, as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: { scope: [x] } }
- name: v
  user:
    exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: aws, args: [eks], env: [{ name: A, value: b }], provideClusterInfo: true, interactiveMode: Never, installHint: hint }
${more}`;

describe('loadConnection', () => {
  it('reads what client-node reads, and what it leaves out', async () => {
    const path = await write('config', config());
    expect(await loadConnection({ path })).toEqual({
      server: 'https://one:6443',
      caFile: join(directory, 'ca.crt'),
      tlsServerName: 'api',
      proxyUrl: 'http://p:1',
      disableCompression: true,
      namespace: 'team',
      user: {
        tokenFile: join(directory, 'token'),
        impersonate: { userName: 'jane', uid: '7', groups: ['a', 'b'], extra: { scope: ['x'] } },
      },
    });
  });

  it('chooses another context, and hands exec plugins over whole', async () => {
    const path = await write('config', config());
    expect(await loadConnection({ path, context: 'other' })).toEqual({
      server: 'https://two:6443',
      insecureSkipTlsVerify: true,
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: 'aws',
          args: ['eks'],
          env: [{ name: 'A', value: 'b' }],
          provideClusterInfo: true,
          interactiveMode: 'Never',
          installHint: 'hint',
        },
      },
    });
  });

  it('finds a plugin that is named by a relative path beside the kubeconfig', async () => {
    const path = await write('config', config().replace('command: aws', 'command: ./bin/login'));
    const { user } = await loadConnection({ path, context: 'other' });
    expect(user?.exec?.command).toBe(join(directory, 'bin/login'));
  });

  it('merges the files of KUBECONFIG, the first entry of a name wins, missing files are passed over', async () => {
    const first = await write('a', config());
    const second = await write(
      'b',
      config()
        .replace('https://one:6443/', 'https://not-this:1')
        .replace('current-context: main', 'current-context: other'),
    );
    const environment = { KUBECONFIG: [join(directory, 'none'), first, second].join(delimiter) };
    expect(await loadConnection({ environment })).toMatchObject({ server: 'https://one:6443' });
  });

  it('reads files that are named, without looking at the environment', async () => {
    const path = await write('config', config());
    expect(await readKubeconfig([path], { context: 'other' })).toMatchObject({ server: 'https://two:6443' });
    expect(await readKubeconfig([join(directory, 'none'), path])).toMatchObject({ server: 'https://one:6443' });
  });

  it('reads a text, of another context, too', async () => {
    expect(await loadConnection({ text: config() })).toMatchObject({ server: 'https://one:6443', namespace: 'team' });
    expect(await loadConnection({ text: config(), context: 'other' })).toMatchObject({ server: 'https://two:6443' });
    expect(await parseKubeconfig(config(), { directory: '/etc/kube' })).toMatchObject({ caFile: '/etc/kube/ca.crt' });
    await expect(loadConnection({ text: 'a: [b' })).rejects.toThrow(/kubeconfig text is not valid/);
    await expect(loadConnection({ text: config(), context: 'no' })).rejects.toThrow(/expected main, other/);
  });

  it('lists contexts, of files and of a text', async () => {
    const expected = [
      { name: 'main', isCurrent: true, cluster: 'c', user: 'u', namespace: 'team', server: 'https://one:6443/' },
      { name: 'other', isCurrent: false, cluster: 'd', user: 'v', server: 'https://two:6443' },
    ];
    const found = await listContexts({ text: config() });
    expect(found.map((context) => ({ ...context, server: context.server?.replace(/\/?$/, '') }))).toEqual(
      expected.map((context) => ({ ...context, server: context.server.replace(/\/?$/, '') })),
    );
    const more = await write('b', config().replace('name: other', 'name: third'));
    const environment = { KUBECONFIG: [await write('a', config()), more].join(delimiter) };
    expect((await listContexts({ environment })).map(({ name }) => name)).toEqual(['main', 'other', 'third']);
    expect(await listContexts({ environment: { HOME: directory } })).toEqual([]);
    await expect(listContexts({ path: join(directory, 'none') })).rejects.toSatisfy(isKubeConfigError);
    const secret = config().replace('https://two:6443', 'https://jane:hunter2@two:6443');
    expect(JSON.stringify(await listContexts({ text: secret }))).not.toContain('hunter2');
  });

  it('gives exec plugins what the cluster says to them', async () => {
    const extension = 'extensions: [{ name: client.authentication.k8s.io/exec, extension: { audience: shop } }], ';
    const text = config().replace("cluster: { server: 'https://two", `cluster: { ${extension}server: 'https://two`);
    const { user } = await loadConnection({ text, context: 'other' });
    expect(user?.exec?.config).toEqual({ audience: 'shop' });
  });

  it('falls back to the home directory', async () => {
    await mkdir(join(directory, '.kube'));
    await write('.kube/config', config());
    expect(await loadConnection({ environment: { HOME: directory } })).toMatchObject({ server: 'https://one:6443' });
  });

  it.each([
    [
      'no file',
      async () => loadConnection({ path: join(directory, 'none') }),
      'cannot read kubeconfig',
      'the file does not exist',
    ],
    [
      'nothing at all',
      async () => loadConnection({ environment: { HOME: directory } }),
      'no kubeconfig found: KUBECONFIG is not set',
      '',
    ],
    ['no YAML', async () => loadConnection({ path: await write('x', 'a: [b') }), 'is not valid', ''],
    [
      'an unknown context',
      async () => loadConnection({ path: await write('x', config()), context: 'prod' }),
      'context "prod" does not exist',
      'expected main, other',
    ],
    [
      'no current context',
      async () => loadConnection({ path: await write('x', config().replace('current-context: main', '')) }),
      'current-context is not set',
      '',
    ],
    [
      'a cluster without a server',
      async () => loadConnection({ path: await write('x', config().replace("server: 'https://two:6443', ", '')) }),
      'clusters[1].cluster.server is missing',
      '',
    ],
  ])('says in one line that there is %s', async (_what, load, text, more) => {
    const error = await load().catch((reason: unknown) => reason);
    expect(isKubeConfigError(error)).toBe(true);
    expect(String(error)).toContain(text);
    expect(String(error)).toContain(more);
    expect(String(error)).not.toContain('\n');
  });
});

describe('inClusterConnection', () => {
  it('takes address, token and CA of the service account', async () => {
    await write('namespace', 'team\n');
    const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(inClusterConnection({ environment, directory })).toEqual({
      server: 'https://[fd00::1]:443',
      caFile: `${directory}/ca.crt`,
      namespace: 'team',
      user: { tokenFile: `${directory}/token` },
    });
    expect(() => inClusterConnection({ environment: {} })).toThrow('this process does not run in a pod');
  });
});

describe('connectionFromKubeConfig', () => {
  it('takes what client-node makes of a service account', () => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromCluster(directory);
    const { user, caFile } = connectionFromKubeConfig(kubeConfig);
    expect(user).toEqual({ tokenFile: `${directory}/var/run/secrets/kubernetes.io/serviceaccount/token` });
    expect(caFile).toBe(`${directory}/var/run/secrets/kubernetes.io/serviceaccount/ca.crt`);
  });

  it('refuses a context whose user is missing, and takes one without a user for what it is', async () => {
    const dangling = config().replace(
      'context: { cluster: c, user: u, namespace: team }',
      'context: { cluster: c, user: nobody }',
    );
    const message =
      'context "main" names the user "nobody", which does not exist: add it to users, or correct the context';
    await expect(loadConnection({ path: await write('dangling', dangling) })).rejects.toThrow(message);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(dangling);
    expect(() => connectionFromKubeConfig(kubeConfig)).toThrow(message);
    const anonymous = config().replace('context: { cluster: c, user: u, namespace: team }', 'context: { cluster: c }');
    expect((await loadConnection({ path: await write('anonymous', anonymous) })).user).toEqual({});
  });

  it.each([
    [
      'groups to act as without a user',
      '{ token: t, as-groups: [a] }',
      'as-uid, as-groups or as-user-extra is set without as',
    ],
    [
      'a uid to act as without a user',
      "{ token: t, as: '', as-uid: '7' }",
      'as-uid, as-groups or as-user-extra is set without as',
    ],
    ['a certificate without its key', '{ client-certificate: c.pem }', 'client-certificate is set without client-key'],
    [
      'certificate data without a key',
      `{ client-certificate-data: ${Buffer.from('pem').toString('base64')} }`,
      'client-certificate is set without client-key',
    ],
    ['a token that is blank', '{ token: "  " }', 'token is blank'],
  ])('refuses %s, whose requests would be those of another user', async (_what, user, message) => {
    const text = config().replace(
      "user: { tokenFile: token, as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: { scope: [x] } }",
      `user: ${user}`,
    );
    const path = await write('config', text);
    await expect(loadConnection({ path })).rejects.toThrow(`kubeconfig: user "u": ${message}`);
    expect(isKubeConfigError(await loadConnection({ path }).catch((error: unknown) => error))).toBe(true);
    expect(await loadConnection({ path, context: 'other' })).toMatchObject({ user: { exec: { command: 'aws' } } });
  });

  it('refuses an auth provider that is not known, before any request', async () => {
    const unknown = (provider: string): string =>
      config().replace(
        "user: { tokenFile: token, as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: { scope: [x] } }",
        `user: { auth-provider: ${provider} }`,
      );
    for (const provider of [
      '{ name: openstack }',
      '{ name: openstack, config: { a: b } }',
      '{ config: {} }',
      '{ name: "" }',
    ]) {
      const path = await write('provider', unknown(provider));
      await expect(loadConnection({ path })).rejects.toThrow(
        /auth-provider "(openstack)?" is not known: use an exec plugin/,
      );
    }
  });

  it('says that there is no context', () => {
    expect(() => connectionFromKubeConfig(new KubeConfig())).toThrow('current-context is not set');
  });
});

it.each<[string, () => Promise<unknown>, string]>([
  ['readKubeconfig', () => readKubeconfig(['a'], { contxt: 'prod' } as never), 'did you mean "context"?'],
  ['parseKubeconfig', () => parseKubeconfig('', { dir: '/etc' } as never), 'unknown option "dir"'],
  ['parseKubeconfig', () => parseKubeconfig('', { context: 5 } as never), 'context is a value of type number'],
  ['loadConnection', () => loadConnection({ contxt: 'prod' } as never), 'did you mean "context"?'],
  ['readKubeconfig', () => readKubeconfig([]), 'there are no paths'],
  ['parseKubeconfig', () => parseKubeconfig('', null as never), 'expected options, not null'],
])('%s refuses what would mean another cluster: %#', async (_, read, expected) => {
  const error = await read().catch((reason: unknown) => reason);
  expect([error instanceof TypeError, String(error)]).toEqual([true, expect.stringContaining(expected)]);
});

describe('a kubeconfig with a mistake', () => {
  const parse = (cluster: string, user: string, edit: (text: string) => string = (text) => text): Promise<unknown> =>
    parseKubeconfig(
      edit(
        `apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n  cluster: ${cluster}\nusers:\n- name: u\n  user: ${user}\ncontexts:\n- name: x\n  context: { cluster: c, user: u, namespace: ns }\n`,
      ),
    );
  const https = "{ server: 'https://a' }";

  it.each([
    ['a token of digits', https, '{ token: 12345 }', 'users[0].user.token is a number: expected a string (in quotes'],
    ['several users to act as', https, '{ token: t, as: [a] }', 'users[0].user.as is an array: expected a string'],
    ['one group', https, '{ token: t, as: a, as-groups: g }', 'as-groups is a text: expected an array of strings'],
    ['extra that is no list', https, '{ as: a, as-user-extra: { k: v } }', 'expected an object of arrays of strings'],
    ['a server that is a number', '{ server: 5 }', '{}', 'clusters[0].cluster.server is a number: expected a string'],
    [
      'a flag in quotes',
      "{ server: 'https://a', insecure-skip-tls-verify: 'true' }",
      '{}',
      'clusters[0].cluster.insecure-skip-tls-verify is a text: expected true or false, without quotes',
    ],
    [
      'a plugin with an environment that is no list',
      https,
      '{ exec: { command: a, env: { A: b } } }',
      'exec.env is an',
    ],
    [
      'a variable that is a number',
      https,
      '{ exec: { command: a, env: [{ name: A, value: 1 }] } }',
      'users[0].user.exec.env[0].value is a number: expected a string',
    ],
    ['a mode that does not exist', https, '{ exec: { command: a, interactiveMode: Sometimes } }', 'expected Never, If'],
    ['a key alone', https, '{ client-key-data: QUJD }', 'client-key is set without client-certificate'],
    [
      'a CA that counts for nothing',
      "{ server: 'https://a', insecure-skip-tls-verify: true, certificate-authority-data: QUJD }",
      '{}',
      'insecure-skip-tls-verify with certificate-authority',
    ],
    ['half a CA', "{ server: 'https://a', certificate-authority-data: 'QUJD%%' }", '{}', 'expected base64'],
  ])('%s', async (_, cluster, user, message) => {
    const failure = parse(cluster, user);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toSatisfy(isKubeConfigError);
  });

  it.each([
    ['another kind', (text: string) => text.replace('kind: Config', 'kind: Pod'), 'kind is not Config'],
    ['another version', (text: string) => text.replace('apiVersion: v1', 'apiVersion: v2'), 'apiVersion is not v1'],
    ['a list', () => '- a', 'it is an array: expected an object with clusters, users and contexts'],
    ['a text', () => 'hello', 'it is a text: expected an object with clusters, users and contexts'],
    [
      'clusters that are no list',
      (text: string) => text.replace(/clusters:[^]*users:/, 'clusters: {}\nusers:'),
      'clusters is an object: expected an array',
    ],
    [
      'a name twice',
      (text: string) => text.replace('users:\n', 'users:\n- name: u\n  user: {}\n'),
      'users[1].name is that of an entry before',
    ],
    [
      'a namespace of digits',
      (text: string) => text.replace('namespace: ns', 'namespace: 5'),
      'contexts[0].context.namespace is a number',
    ],
  ])('%s', async (_, edit, message) => {
    await expect(parse(https, '{ token: t }', edit)).rejects.toThrow(message);
  });

  it('reads !!binary data as clientcmd does: base64 of what the field has', async () => {
    const pem = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';
    const once = Buffer.from(pem).toString('base64');
    const twice = Buffer.from(once).toString('base64');
    const withData = (data: string): Promise<unknown> =>
      parse(`\n    server: 'https://a'\n    certificate-authority-data: ${data}`, '{ token: t }');
    for (const data of [once, `!!binary ${twice}`, `!!binary |\n      ${twice.slice(0, 20)}\n      ${twice.slice(20)}`])
      expect(await withData(data)).toMatchObject({ ca: Buffer.from(pem) });
    await expect(withData(`!!binary ${once}`)).rejects.toThrow(
      'certificate-authority-data is not valid: expected base64',
    );
    await expect(withData('!!binary x')).rejects.toThrow('!!binary value contains invalid base64 data');
  });

  it('takes what kubectl takes: no apiVersion and kind, fields without a value, and those that it does not know', async () => {
    const edit = (text: string): string =>
      text.replace('apiVersion: v1\nkind: Config\n', 'preferences:\nextra: 1\n').replace('namespace: ns', 'namespace:');
    expect(await parse("{ server: 'https://a', proxy-url: }", '{ token: t, as: , more: [1] }', edit)).toEqual({
      server: 'https://a',
      user: { token: 't' },
    });
  });

  it('of several files, takes nothing of an entry whose name an earlier file has', async () => {
    const file = (cluster: string): string =>
      `current-context: x\nclusters: [{ name: c, cluster: ${cluster} }]\nusers: [{ name: u, user: { exec: { command: a } } }]\ncontexts: [{ name: x, context: { cluster: c, user: u } }]\n`;
    const extensions = '[{ name: client.authentication.k8s.io/exec, extension: { audience: b } }]';
    const paths = [
      await write('empty', '\n'),
      await write('one', file("{ server: 'https://a' }")),
      await write('two', file(`{ server: 'https://b', disable-compression: true, extensions: ${extensions} }`)),
    ];
    expect(await readKubeconfig(paths)).toEqual({
      server: 'https://a',
      user: { exec: { command: 'a', args: [], env: [] } },
    });
    await expect(readKubeconfig([join(directory, 'none'), join(directory, 'no')])).rejects.toThrow(
      `cannot read kubeconfig: none of ${join(directory, 'none')}, ${join(directory, 'no')} exists`,
    );
  });
});

describe('a connection in a log', () => {
  const secretUser = `
- name: s
  user:
    token: s3cret-token
    username: jane
    password: s3cret-password
    client-key-data: ${Buffer.from('s3cret-key').toString('base64')}
    exec: { apiVersion: client.authentication.k8s.io/v1, command: aws, env: [{ name: AWS_SECRET, value: s3cret-env }] }
- name: o
  user:
    auth-provider:
      name: oidc
      config: { idp-issuer-url: 'https://issuer', client-id: id, client-secret: s3cret-client, id-token: s3cret-id, refresh-token: s3cret-refresh }`;
  const contexts = (text: string): string =>
    text
      .replace(
        'contexts:',
        'contexts:\n- { name: secret, context: { cluster: c, user: s } }\n- { name: oidc, context: { cluster: c, user: o } }',
      )
      .replace("proxy-url: 'http://p:1'", "proxy-url: 'http://joe:s3cret-proxy@p:1'");
  const shownForms = (value: unknown): string[] => [
    inspect(value, { depth: null, showHidden: true }),
    inspect([{ value }], { depth: null }),
    JSON.stringify({ value }),
  ];

  it.each(['secret', 'oidc'])('shows no secret of context %s, also in a copy', async (context) => {
    const path = await write('config', contexts(config(secretUser)));
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(path);
    kubeConfig.setCurrentContext(context);
    for (const connection of [await loadConnection({ path, context }), connectionFromKubeConfig(kubeConfig)]) {
      const copy = { ...connection };
      expect([copy.proxyUrl, { ...copy.proxyUser }]).toEqual(['http://p:1', { name: 'joe', password: 's3cret-proxy' }]);
      const raw = Buffer.from('s3cret-key').join(', ');
      for (const text of [connection, copy, connection.user, connection.user?.oidc].flatMap(shownForms)) {
        expect(text).not.toMatch(/s3cret/);
        expect(text).not.toContain(raw);
        expect(text).not.toContain(Buffer.from('s3cret-key').toString('hex').match(/../g)?.join(' '));
      }
      expect(inspect(connection)).toContain('[redacted]');
    }
  });

  it('keeps the secrets in the fields, and in a structured clone', async () => {
    const path = await write('config', contexts(config(secretUser)));
    const connection = await loadConnection({ path, context: 'secret' });
    expect(connection.user).toMatchObject({ token: 's3cret-token', username: 'jane', password: 's3cret-password' });
    expect(connection.user?.exec?.env).toEqual([{ name: 'AWS_SECRET', value: 's3cret-env' }]);
    expect(structuredClone(connection).user?.token).toBe('s3cret-token');
  });
});
