import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createApiServer, startApiServerWorker, type ApiServer } from '../src/index.js';
import { configMap, configMaps } from './harness.js';

/** What is under way when the server stops. Returns what ends it, should the server not. */
type Situation = (server: ApiServer) => Promise<() => void>;

const bearer = (server: ApiServer) => ({ authorization: `Bearer ${server.token}` });
const json = { 'content-type': 'application/json' };

/** A request whose answer, or its end, is not waited for. */
function begin(server: ApiServer, path: string, options: { method?: string; body?: string; agent?: Agent } = {}) {
  const { method = 'GET', agent, body } = options;
  const headers = { ...bearer(server), ...json };
  const ca = server.certificateAuthority;
  const sent = request(`${server.url}${path}`, { method, ca, headers, ...(agent !== undefined && { agent }) });
  sent.on('error', () => undefined);
  if (body !== undefined) sent.end(body);
  return sent;
}

async function fetchJson(server: ApiServer, path: string, body: unknown): Promise<void> {
  const answer = await server.fetch(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
  expect(answer.status).toBeLessThan(300);
}

/** Opens a WebSocket to a pod. Returns what ends it. */
async function upgraded(server: ApiServer, path: string, protocol: string): Promise<() => void> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': protocol,
  };
  const sent = request(`${server.url}/api/v1/namespaces/default/pods/${path}`, {
    ca: server.certificateAuthority,
    headers: { ...bearer(server), ...upgrade },
  });
  sent.end();
  const [, socket] = (await once(sent, 'upgrade')) as [unknown, Socket];
  socket.on('error', () => undefined);
  return () => socket.destroy();
}

const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };

const situations: Readonly<Record<string, Situation>> = {
  nothing: () => Promise.resolve(() => undefined),
  'a connection that is kept alive': async (server) => {
    const agent = new Agent({ keepAlive: true });
    const sent = begin(server, configMaps, { agent, body: '' });
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    response.resume();
    await once(response, 'end');
    return () => agent.destroy();
  },
  'a watch over HTTP/1.1': async (server) => {
    const sent = begin(server, `${configMaps}?watch=1`, { body: '' });
    await once(sent, 'response');
    return () => sent.destroy();
  },
  'a watch over HTTP/2 that is not read': async (server) => {
    const session = connectHttp2(server.url, { ca: server.certificateAuthority });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': `${configMaps}?watch=1`, ...bearer(server) });
    stream.on('error', () => undefined);
    await once(stream, 'response');
    return () => session.destroy();
  },
  'a watch in process that is not read': async (server) => {
    const { body } = await server.fetch(`${configMaps}?watch=1`);
    return () => void body?.cancel().catch(() => undefined);
  },
  'a connection without a handshake': async (server) => {
    const { port, hostname } = new URL(server.url);
    const socket = connectTcp(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return () => socket.destroy();
  },
  'a connection without a request': async (server) => {
    const { port, hostname } = new URL(server.url);
    const socket = connectTls({ port: Number(port), host: hostname, ca: server.certificateAuthority });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return () => socket.destroy();
  },
  'a body that does not end': async (server) => {
    const sent = begin(server, configMaps, { method: 'POST' });
    sent.write('{"metadata":');
    await expect.poll(() => server.journal.requests().length).toBeGreaterThan(0);
    return () => sent.destroy();
  },
  'a write in the other thread': async (server) => {
    const body = JSON.stringify(configMap('long', {}, { pad: 'p'.repeat(900_000) }));
    const sent = begin(server, configMaps, { method: 'POST', body });
    await expect.poll(() => server.journal.requests().length).toBeGreaterThan(0);
    return () => sent.destroy();
  },
  'a call of a webhook that does not answer': async (server) => {
    // It takes connections, and says nothing.
    const hook = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const address = hook.address();
    if (typeof address !== 'object' || address === null) throw new Error('the hook has no port');
    const silent = { url: `https://127.0.0.1:${address.port}/never`, caBundle: btoa(server.certificateAuthority) };
    const called = once(hook, 'connection') as Promise<[Socket]>;
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }];
    const more = { sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 30, failurePolicy: 'Fail' };
    await fetchJson(server, '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: 'silent' },
      webhooks: [{ name: 'silent.kctl.test', clientConfig: silent, rules, ...more }],
    });
    const sent = begin(server, '/api/v1/namespaces/default/secrets', {
      method: 'POST',
      body: '{"metadata":{"name":"a"}}',
    });
    const [connection] = await called;
    return () => {
      sent.destroy();
      connection.destroy();
      hook.close();
    };
  },
  'a command in a pod': async (server) => {
    server.pods.script({ name: 'p' }, { exec: () => new Promise<number>(() => undefined) });
    await fetchJson(server, '/api/v1/namespaces/default/pods', pod);
    return upgraded(server, 'p/exec?command=sh&stdout=true', 'v5.channel.k8s.io');
  },
  'a connection to a port of a pod': async (server) => {
    const reached = Promise.withResolvers<undefined>();
    server.pods.script({ name: 'p' }, { ports: { 8080: () => reached.resolve(undefined) } });
    await fetchJson(server, '/api/v1/namespaces/default/pods', pod);
    const end = await upgraded(server, 'p/portforward?ports=8080', 'v4.channel.k8s.io');
    await reached.promise;
    return end;
  },
  'a client that asked for SPDY, and keeps its connection': async (server) => {
    server.pods.script({ name: 'p' }, { ports: {} });
    await fetchJson(server, '/api/v1/namespaces/default/pods', pod);
    const agent = new Agent({ keepAlive: true });
    const sent = request(`${server.url}/api/v1/namespaces/default/pods/p/portforward`, {
      method: 'POST',
      agent,
      ca: server.certificateAuthority,
      headers: { ...bearer(server), connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    });
    sent.on('error', () => undefined).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(501);
    return () => agent.destroy();
  },
  'an answer that a fault delays': async (server) => {
    server.faults.add({ action: { type: 'delay', ms: 60_000 } });
    const sent = begin(server, configMaps, { body: '' });
    await expect.poll(() => server.journal.requests().length).toBeGreaterThan(0);
    return () => sent.destroy();
  },
  'a failover': async (server) => {
    const over = server.faults.failover({ downMs: 60_000 }).catch(() => undefined);
    return () => void over;
  },
};

test.each(Object.entries(situations))('stops, and starts again, while there is %s', async (_name, under) => {
  const server = createApiServer({ stopGraceMs: 100 });
  await server.start();
  onTestFinished(() => server.stop());
  const end = await under(server);
  onTestFinished(end);
  await server.stop();
  server.faults.clear();
  await server.start();
  expect((await server.fetch('/readyz')).status).toBe(200);
});

test('stops a start that is under way, and starts while it stops', async () => {
  const server = createApiServer();
  onTestFinished(() => server.stop());
  const started = server.start();
  await Promise.all([server.stop(), server.stop(), started]);
  await expect(server.fetch('/readyz').then(({ status }) => status)).resolves.not.toBe(200);
  await server.start();
  const stopping = server.stop();
  await expect(server.start()).resolves.toBeUndefined();
  await stopping;
  expect((await server.fetch('/readyz')).status).toBe(200);
});

test('a thread stops with a watch open', async () => {
  const server = await startApiServerWorker({ stopGraceMs: 100 });
  const sent = request(`${server.url}${configMaps}?watch=1`, {
    ca: server.certificateAuthority,
    headers: { authorization: `Bearer ${server.token}` },
  });
  sent.on('error', () => undefined);
  sent.end();
  await once(sent, 'response');
  await server.stop();
  sent.destroy();
});
