// The proxies of pods and Services; with KCTL_TEST_SERVER=real on a real server, which reaches this machine by its address.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isStatusError } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Endpoints, Node, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { ClusterRole, ClusterRoleBinding } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { createCertificateAuthority, createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { proxyRequest } from '../src/index.js';
import type { PodsClient, PodTarget, ProxyOptions } from '../src/index.js';

/** An address of this machine that is not a loopback one: a server proxies to no other. */
const address =
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '192.0.2.1';

let environment: TestEnvironment;
let namespace: string;
let port: number;
let securePort: number;
const key = (name = 'web') => ({ namespace, name });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://pod');
  const body = (await Array.fromAsync(request)).join('');
  const { method, url, headers } = request;
  response.setHeader('set-cookie', ['a=1', 'b=2']);
  if (pathname === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('none of it');
  else if (pathname === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
  else if (pathname === '/json-failure')
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"status":"Failure"}');
  else if (pathname === '/none') response.writeHead(204).end();
  else if (pathname === '/cut') response.write('begun', () => response.destroy());
  else if (pathname === '/endless') {
    response.write('begun');
    response.once('close', () => left.resolve('left'));
  } else if (pathname === '/long') response.end(Buffer.alloc(2_000_000, 'abc'));
  else {
    const text = JSON.stringify({ method, url, headers, body });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  }
}

const left = Promise.withResolvers<string>();
const handle = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
const server = createServer(handle);
const secure = createSecureServer({}, handle);

beforeAll(async () => {
  environment = await createEnvironment({ embedded: { authorization: 'RBAC' } });
  namespace = await environment.createNamespace('proxy');
  const authority = await createCertificateAuthority('proxy', Date.now());
  const subject = { commonName: 'pod', dnsNames: ['pod'], ipAddresses: [] };
  const { certPem, keyPem } = await authority.issueServing(subject);
  secure.setSecureContext({ cert: certPem, key: keyPem });
  for (const each of [server, secure]) await new Promise<void>((resolve) => each.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
  securePort = (secure.address() as AddressInfo).port;
  const { client, embedded } = environment;
  embedded?.pods.script(key(), {
    ports: {
      [port]: (connection) => server.emit('connection', connection),
      [securePort]: (connection) => secure.emit('connection', connection),
    },
  });
  const containers = [{ name: 'app', image: 'app', ports: [{ name: 'http', containerPort: port }] }];
  const labels = { app: 'web' };
  const pod = async (name: string, status: object) => {
    const spec = { containers, automountServiceAccountToken: false };
    await client.create(Pod, { metadata: { ...key(name), labels: name === 'web' ? labels : {} }, spec });
    await client.status(Pod).patch(key(name), { type: 'merge', body: { status } });
  };
  await pod('web', { phase: 'Running', podIP: address, podIPs: [{ ip: address }] });
  await pod('pending', {});
  await pod('loopback', { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  // Port 1 of this machine refuses connections.
  await pod('down', { podIP: address, podIPs: [{ ip: address }] });
  const template = { metadata: { labels }, spec: { containers } };
  await client.create(Deployment, { metadata: key(), spec: { selector: { matchLabels: labels }, template } });
  const ports = [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'tls', port: 443, targetPort: securePort },
  ];
  await client.create(Service, { metadata: key(), spec: { selector: labels, ports } });
  await client.create(Service, { metadata: key('empty'), spec: { ports: [{ port: 80 }] } });
  const endpoints = [
    { name: 'http', port },
    { name: 'tls', port: securePort },
  ];
  const targetRef = { kind: 'Pod', ...key() };
  const subsets = [{ addresses: [{ ip: address, targetRef }], ports: endpoints }];
  await client.create(Endpoints, { metadata: key(), subsets });
  await client.create(Endpoints, { metadata: key('empty') });
});

afterAll(async () => {
  await environment.stop();
  for (const each of [server, secure]) {
    each.closeAllConnections();
    each.close();
  }
});

const ask = async (target: PodTarget, options: ProxyOptions = {}): Promise<Response> =>
  await proxyRequest(environment.client, target, options);
const service = (name = 'web') => ({ kind: Service, ...key(name) });

async function seen(target: PodTarget, options: ProxyOptions = {}): Promise<Record<string, unknown>> {
  const response = await ask(target, options);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function saidBy(work: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  if (!isStatusError(error)) return ['not a Status', error];
  const { code, reason, message = '' } = error.status;
  return [code, reason, message.replaceAll(address, 'IP').replaceAll(namespace, 'NS')];
}

it('asks the first port of a pod, a numbered one, that of a Service by number and by name, and that of a workload', async () => {
  const targets: [PodTarget, ProxyOptions][] = [
    [key(), {}],
    [key(), { port }],
    [key(), { port: securePort, scheme: 'https' }],
    [service(), { port: 80 }],
    [service(), { port: 'http' }],
    [service(), { port: 'tls', scheme: 'https' }],
    [{ kind: Deployment, ...key() }, { port }],
  ];
  const answers = await Promise.all(
    targets.map(async ([target, options]) => await seen(target, { path: '/a', ...options })),
  );
  expect(answers.map(({ method, url }) => `${String(method)} ${String(url)}`)).toEqual(targets.map(() => 'GET /a'));
});

it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
  'sends %s with its path, query, headers and body, and not its credentials',
  async (method) => {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const response = await ask(key(), {
      method,
      path: '/a b/c%2Fd/?x=1',
      query: { y: ['2', '3'] },
      headers: { 'X-Trace': 'yes', 'Content-Type': 'text/plain', accept: 'text/html' },
      ...(hasBody ? { body: 'hällo' } : {}),
    });
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, ['a=1', 'b=2']]);
    if (method === 'HEAD') {
      expect([await response.text(), Number(response.headers.get('content-length')) > 0]).toEqual(['', true]);
      return;
    }
    const { url, headers, body } = (await response.json()) as Record<string, Record<string, string>>;
    expect([url, body]).toEqual(['/a%20b/c/d/?x=1&y=2&y=3', hasBody ? 'hällo' : '']);
    expect(headers).toMatchObject({ 'x-trace': 'yes', accept: 'text/html' });
    expect(headers?.['authorization']).toBeUndefined();
    expect(headers?.['x-forwarded-uri']).toBe(`/api/v1/namespaces/${namespace}/pods/web/proxy/a%20b/c/d/`);
  },
);

it('hands out the failures, redirects and long answers of the pod as they are', async () => {
  const facts = async (path: string) => {
    const response = await ask(key(), { path });
    return [response.status, await response.text(), response.headers.get('location')];
  };
  expect(await facts('/missing')).toEqual([404, 'none of it', null]);
  expect(await facts('/json-failure')).toEqual([500, '{"status":"Failure"}', null]);
  expect(await facts('/none')).toEqual([204, '', null]);
  expect(await facts('/moved')).toEqual([302, '', `/api/v1/namespaces/${namespace}/pods/web/proxy/elsewhere`]);
  expect((await (await ask(key(), { path: '/long' })).arrayBuffer()).byteLength).toBe(2_000_000);
  await expect((async () => await (await ask(key(), { path: '/cut' })).text())()).rejects.toThrow();
});

it('ends the exchange with the pod when its signal is aborted', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const response = await ask(key(), { path: '/endless', follow: true, signal: controller.signal });
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('begun');
  controller.abort(reason);
  await expect(reader?.read()).rejects.toBe(reason);
  expect(await left.promise).toBe('left');
  await expect(ask(key(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

it('fails as a server does where nothing answers', async () => {
  expect([
    await saidBy(ask(key('none'))),
    await saidBy(ask(key('pending'))),
    await saidBy(ask(key('loopback'))),
    await saidBy(ask(key('down'), { port: 1 })),
    await saidBy(ask(service('none'))),
    await saidBy(ask(service('none'), { port: 80 })),
    await saidBy(ask(service('empty'))),
    await saidBy(ask(service(), { port: 81 })),
    await saidBy(ask(service(), { port: 'other' })),
    await saidBy(ask(key('a:b:c'))),
  ]).toEqual([
    [404, 'NotFound', 'pods "none" not found'],
    [400, 'BadRequest', 'address not allowed'],
    [400, 'BadRequest', 'address not allowed'],
    [503, 'ServiceUnavailable', 'error trying to reach service: dial tcp IP:1: connect: connection refused'],
    [404, 'NotFound', 'services "none" not found'],
    [404, 'NotFound', 'services "none" not found'],
    [503, 'ServiceUnavailable', 'no endpoints available for service "empty"'],
    [503, 'ServiceUnavailable', 'no service port 81 found for service "web"'],
    [503, 'ServiceUnavailable', 'no endpoints available for service "web:other"'],
    [400, 'BadRequest', 'invalid pod request "a:b:c"'],
  ]);
});

it('takes a pod that a script answers for, where no controller writes Endpoints', async ({ skip }) => {
  if (environment.embedded === undefined) skip('the real server has no scripts');
  const ports = [{ port: 80, targetPort: 'http' }];
  await environment.client.create(Service, { metadata: key('bare'), spec: { selector: { app: 'web' }, ports } });
  expect((await seen(service('bare'), { path: '/b' }))['url']).toBe('/b');
});

it('refuses a node whose kubelet does not answer, or that has no address of its own', async () => {
  const { client } = environment;
  const node = async (name: string, ip: string) => {
    await client.create(Node, { metadata: { name } });
    const addresses = [{ type: 'InternalIP', address: ip }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 1 } } };
    await client.status(Node).patch({ name }, { type: 'merge', body: { status } });
  };
  await node(`${namespace}-down`, address);
  await node(`${namespace}-local`, '127.0.0.1');
  const said = async (name: string) => {
    const path = `/api/v1/nodes/${namespace}-${name}/proxy/healthz`;
    const { body } = await client.transport.send({ method: 'GET', path, once: true });
    const { code, message } = JSON.parse((await Array.fromAsync(body)).flat().join('')) as Record<string, unknown>;
    return [code, String(message).replaceAll(address, 'IP').replaceAll(namespace, 'NS')];
  };
  expect([await said('none'), await said('down'), await said('local')]).toEqual([
    [404, 'nodes "NS-none" not found'],
    [503, 'error trying to reach service: dial tcp IP:1: connect: connection refused'],
    [400, 'address not allowed'],
  ]);
});

it('answers a path without its slash with where it leads', async () => {
  const path = `/api/v1/namespaces/${namespace}/pods/web/proxy?x=1`;
  const { status, location, body } = await environment.client.transport.send({ method: 'GET', path });
  await body[Symbol.asyncIterator]().return?.();
  expect([status, location]).toEqual([301, `/api/v1/namespaces/${namespace}/pods/web/proxy/?x=1`]);
});

it('needs the right to the verb of its method', async () => {
  const { client } = environment;
  const name = `${namespace}-reader`;
  await client.create(ClusterRole, {
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['pods/proxy'], resourceNames: [`web:${port}`], verbs: ['get'] }],
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }];
  await client.create(ClusterRoleBinding, { metadata: { name }, roleRef, subjects });
  const user = await environment.addUser({ name });
  const asked = async (target: PodTarget, options: ProxyOptions) =>
    await proxyRequest(user.client, target, options).then(
      ({ status }) => status,
      (error: unknown) => isStatusError(error) && error.status.message,
    );
  await expect.poll(async () => await asked(key(), { port }), { timeout: 300_000 }).toBe(200);
  expect(await asked(key(), { port, method: 'POST' })).toMatch(
    `pods "web:${port}" is forbidden: User "${name}" cannot create resource "pods/proxy"`,
  );
  expect(await asked(key(), {})).toMatch('pods "web" is forbidden');
  expect(await asked(service(), { port: 80 })).toMatch('cannot get resource "services/proxy"');
});

it.each<[ProxyOptions, RegExp]>([
  [{ method: 'LIST' as never, scheme: 'ftp' as never }, /method "LIST" is not one of GET.*scheme "ftp" is not one of/],
  [{ path: 'http://elsewhere/' }, /path "http:\/\/elsewhere\/" is not valid: expected a path such as \/metrics/],
  [{ path: '//elsewhere' }, /path/],
  [{ port: 0 }, /port 0/],
  [{ port: 'a/b' }, /port "a\/b" is not valid: expected a number, or the name of a port/],
  [{ headers: { Authorization: 'x' } }, /headers: authorization does not reach the pod/],
  [{ body: 'x' }, /body cannot be sent with GET: set method, such as POST/],
  [{ signal: new AbortController() as never }, /signal is an AbortController: expected an AbortSignal/],
])('refuses %j', async (options, said) => {
  await expect(ask(key(), options)).rejects.toThrow(said);
});

it('leads no path out of the pod', async () => {
  expect((await seen(key(), { path: '/../../../secrets' }))['url']).toBe('/secrets');
  expect((await seen(key(), { path: '/%2e%2e/secrets' }))['url']).toBe('/secrets');
});

it('hands out a header beyond Latin-1 as the bytes that it is, as fetch does', async () => {
  const client: PodsClient = {
    get: environment.client.get.bind(environment.client),
    list: environment.client.list.bind(environment.client),
    transport: {
      send: () =>
        Promise.resolve({
          status: 200,
          headers: { 'x-title': '日' },
          body: (async function* () {
            yield [Buffer.from('ok')];
          })(),
        }),
    },
  };
  const response = await proxyRequest(client, key(), { port: 80 });
  expect(Buffer.from(response.headers.get('x-title') ?? '', 'latin1').toString()).toBe('日');
  expect(await response.text()).toBe('ok');
});
