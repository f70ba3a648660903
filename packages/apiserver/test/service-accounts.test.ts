import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet, importJWK } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ApiServerOptions } from '../src/index.js';
import { harness, type Harness } from './harness.js';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const authentication = '/apis/authentication.k8s.io/v1';

async function withAccount(options: ApiServerOptions = {}) {
  const server = await harness(options);
  await server.post(accounts, { metadata: { name: 'sa' } });
  return server;
}

const request = async ({ post }: Harness, spec: object = {}): Promise<string> => {
  const answer = await post(`${accounts}/sa/token`, { spec });
  expect(answer.status).toBe(201);
  return answer.body.status.token;
};

const review = async ({ post }: Harness, token: string, audiences?: string[]) =>
  (await post(`${authentication}/tokenreviews`, { spec: { token, ...(audiences && { audiences }) } })).body.status;

const status = async ({ server }: Harness, token: string, path = '/api/v1/namespaces') =>
  (await server.fetch(path, { headers: { authorization: `Bearer ${token}` } })).status;

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

describe('tokens of service accounts', () => {
  test('are credentials, whose signature the published keys verify', async () => {
    const server = await withAccount();
    const token = await request(server);
    expect(await review(server, token)).toMatchObject({
      authenticated: true,
      user: {
        username: 'system:serviceaccount:default:sa',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    });
    expect(await status(server, token)).toBe(200);
    const keys = (await server.get('/openid/v1/jwks')).headers;
    expect(keys.get('content-type')).toBe('application/jwk-set+json');
    const response = await server.server.fetch('/openid/v1/jwks');
    const set = createLocalJWKSet(JSON.parse(await response.text()));
    const { protectedHeader } = await compactVerify(token, set);
    expect(protectedHeader.alg).toBe('ES256');
  });

  test('expire, and end with what they are bound to', async () => {
    const server = await withAccount();
    await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    const short = await request(server, { expirationSeconds: 600 });
    const bound = await request(server, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } });
    expect([await status(server, short), await status(server, bound)]).toEqual([200, 200]);
    await server.clock.advance(661_000);
    expect(await review(server, short)).toEqual({
      user: {},
      error: '[invalid bearer token, service account token has expired]',
    });
    expect([await status(server, short), await status(server, bound)]).toEqual([401, 200]);
    await server.delete('/api/v1/namespaces/default/secrets/s');
    expect(await status(server, bound)).toBe(401);
    const free = await request(server);
    await server.delete(`${accounts}/sa`);
    await server.post(accounts, { metadata: { name: 'sa' } });
    expect((await review(server, free)).error).toMatch(/service account UID \(.*\) does not match claim/);
  });

  test('are good for their audiences alone', async () => {
    const server = await withAccount();
    const token = await request(server, { audiences: ['vault'] });
    expect(await status(server, token)).toBe(401);
    expect((await review(server, token, ['vault', 'other'])).audiences).toEqual(['vault']);
    expect((await review(server, token)).error).toContain(
      'token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc.cluster.local"]',
    );
  });

  test('are not believed where signature, algorithm or key are not ours', async () => {
    const server = await withAccount();
    const token = await request(server);
    const [head = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = [
      `${head}.${encode({ ...claimsOf(token), sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'HS256' })}.${payload}.${signature}`,
      `${encode({ alg: 'ES256', kid: 'other' })}.${payload}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      `${head}.${payload}.${signature}.x`,
      '..',
      'a.b.c',
    ];
    for (const each of forged) expect([each, await status(server, each)]).toEqual([each, 401]);
    expect(await status(server, token)).toBe(200);
  });

  test.each([
    ['rsa', { modulusLength: 2048 }, 'RS256'],
    ['ec', { namedCurve: 'P-384' }, 'ES384'],
  ])('are signed by the key that is given: %s', async (type, details, algorithm) => {
    const { privateKey, publicKey } =
      type === 'rsa'
        ? generateKeyPairSync('rsa', details as { modulusLength: number })
        : generateKeyPairSync('ec', details as { namedCurve: string });
    const signingKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const server = await withAccount({ serviceAccounts: { signingKey, issuer: ['https://a', 'https://b'] } });
    const token = await request(server);
    const { protectedHeader } = await compactVerify(
      token,
      await importJWK(publicKey.export({ format: 'jwk' }), algorithm),
    );
    expect([protectedHeader.alg, claimsOf(token).iss, claimsOf(token).aud]).toEqual([
      algorithm,
      'https://a',
      ['https://a', 'https://b'],
    ]);
    expect(await status(server, token)).toBe(200);
    const other = await withAccount({ serviceAccounts: { publicKeys: [signingKey], issuer: 'https://a' } });
    expect((await review(other, token)).error).toContain('UID');
  });

  test('survive a restart on the same data', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'kctl-tokens-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const before = await withAccount({ dataDir });
    const token = await request(before);
    await before.server.stop();
    expect(await status(await harness({ dataDir }), token)).toBe(200);
  });

  test('a request that cannot be met names its field', async () => {
    const server = await withAccount({ serviceAccounts: { maxTokenSeconds: 1000 } });
    const ask = (spec: object, name = 'sa') => server.post(`${accounts}/${name}/token`, { spec });
    expect((await ask({ expirationSeconds: 1 })).body.message).toContain(
      'may not specify a duration less than 10 minutes',
    );
    expect((await ask({}, 'none')).status).toBe(404);
    const bound = await ask({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } });
    expect(bound.body.message).toBe('cannot bind token to object of type /v1, Kind=ConfigMap');
    const long = await ask({});
    expect([long.headers.get('warning'), long.body.spec.expirationSeconds]).toEqual([
      '299 - "requested expiration of 3600 seconds shortened to 1000 seconds"',
      1000,
    ]);
    await expect(harness({ serviceAccounts: { signingKey: 'x' } })).rejects.toThrow('serviceAccounts.signingKey');
  });
});

test('expressions ask the authorizer for the user of the request', async () => {
  const server = await harness({ authorization: 'RBAC' });
  const base = '/apis/admissionregistration.k8s.io/v1';
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const grant = async (name: string, rules: unknown[]) => {
    await server.post(`${rbac}/clusterroles`, { metadata: { name }, rules });
    await server.post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
    });
  };
  await server.post(`${base}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: "authorizer.group('').resource('configmaps').check('shout').allowed()" }],
    },
  });
  await server.post(`${base}/validatingadmissionpolicybindings`, {
    metadata: { name: 'p' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  });
  await grant('quiet', [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] }]);
  await grant('loud', [{ verbs: ['create', 'shout'], apiGroups: [''], resources: ['configmaps'] }]);
  const create = async (user: string) =>
    (
      await server.post(
        '/api/v1/namespaces/default/configmaps',
        { metadata: { name: user } },
        { 'impersonate-user': user },
      )
    ).status;
  expect([await create('quiet'), await create('loud')]).toEqual([422, 201]);
});

describe('service accounts of pods', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const containers = [{ name: 'c', image: 'i' }];
  const pod = (spec: object = {}) => ({ metadata: { name: 'p' }, spec: { containers, ...spec } });

  test('stay as they are by default', async () => {
    const { post } = await harness();
    const { status: code, body } = await post(pods, pod({ serviceAccountName: 'missing' }));
    expect(code).toBe(201);
    expect(body.spec.volumes).toBeUndefined();
  });

  test('are given with a token and pull secrets, where the plugin is on', async () => {
    const { post, get } = await harness({ serviceAccounts: { podAdmission: true } });
    await post(accounts, { metadata: { name: 'sa' }, imagePullSecrets: [{ name: 'registry' }] });
    const { body } = await post(pods, pod({ serviceAccountName: 'sa', initContainers: [{ name: 'i', image: 'i' }] }));
    const [volume] = body.spec.volumes;
    expect(volume).toEqual({
      name: expect.stringMatching(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 420,
      },
    });
    const mount = { name: volume.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
    expect(body.spec.containers[0].volumeMounts).toEqual([mount]);
    expect(body.spec.initContainers[0].volumeMounts).toEqual([mount]);
    expect(body.spec.imagePullSecrets).toEqual([{ name: 'registry' }]);

    // The account `default` is made by a controller, in the next turn of the event loop.
    await expect.poll(async () => (await get(`${accounts}/default`)).status).toBe(200);
    const plain = await post(pods, { ...pod({ automountServiceAccountToken: false }), metadata: { name: 'q' } });
    expect(plain.body.spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    expect(plain.body.spec.volumes).toBeUndefined();
  });

  test('have to exist, where the plugin is on', async () => {
    const { post } = await harness({ serviceAccounts: { podAdmission: true } });
    const { status: code, body } = await post(pods, pod({ serviceAccountName: 'missing' }));
    expect(code).toBe(403);
    expect(body.message).toBe(
      'pods "p" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found',
    );
  });
});
