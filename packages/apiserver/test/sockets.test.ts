import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApiServer, startApiServerWorker, type ApiServer, type ApiServerOptions } from '../src/index.js';
import { FakeClock } from '@kctl/wait/testing';
import { configMap, configMaps } from './harness.js';

interface Wire {
  readonly url: string;
  readonly certificateAuthority: string;
}

interface Options {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
  readonly cert?: string;
  readonly key?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

const agents: Agent[] = [];
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
});

function agentOf(server: Wire, credentials: { cert?: string; key?: string } = {}): Agent {
  const agent = new Agent({ ca: server.certificateAuthority, keepAlive: true, ...credentials });
  agents.push(agent);
  return agent;
}

function send(server: Wire, path: string, options: Options = {}): Promise<Answer> {
  const { method = 'GET', body, headers = {}, agent = agentOf(server) } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      { method, agent, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function start(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = createApiServer({ stopGraceMs: 200, ...options });
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

const bearer = (server: { readonly token: string }) => ({ authorization: `Bearer ${server.token}` });

describe('sockets', () => {
  it('§2.12-71: a token or a client certificate names the user; nobody and a bad token answer 401', async () => {
    const server = await start({ tokens: [{ token: 'secret', user: 'ann', groups: ['g'] }] });
    expect((await send(server, configMaps)).status).toBe(401);
    expect((await send(server, configMaps, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await send(server, configMaps, { headers: bearer(server) })).status).toBe(200);
    await send(server, configMaps, { headers: { authorization: 'Bearer secret' } });
    const { cert, key } = server.issueClientCertificate('bob', ['one', 'two']);
    expect((await send(server, configMaps, { agent: agentOf(server, { cert, key }) })).status).toBe(200);
    expect(server.journal.requests().map(({ user }) => user)).toEqual(['kubernetes-admin', 'ann', 'bob']);
    const stranger = createApiServer({ listen: false });
    await stranger.start();
    const foreign = stranger.issueClientCertificate('eve', ['system:masters']);
    expect((await send(server, configMaps, { agent: agentOf(server, foreign) })).status).toBe(401);
    await stranger.stop();
    expect((await send(server, '/healthz')).text).toBe('ok');
  });

  it('§2.2-13: HTTP/2 carries many watches over one connection', async () => {
    const server = await start();
    const client = connectHttp2(server.url, { ca: server.certificateAuthority });
    onTestFinished(() => client.destroy());
    const firsts = Array.from({ length: 200 }, () => {
      const stream = client.request({ ':path': `${configMaps}?watch=1`, ...bearer(server) });
      return new Promise<string>((resolve, reject) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text.endsWith('\n')) resolve(text);
        });
        stream.on('error', reject);
      });
    });
    await expect.poll(() => server.watchers, { timeout: 300_000 }).toBe(200);
    await server.fetch(configMaps, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(configMap('a')),
    });
    for (const first of await Promise.all(firsts)) expect(JSON.parse(first).object.metadata.name).toBe('a');
  });

  it('§2.2-10: a body beyond the limit answers 413, and the next request on the same agent works', async () => {
    const server = await start({ maxBodyBytes: 100_000 });
    const agent = agentOf(server);
    const long = await send(server, configMaps, {
      method: 'POST',
      agent,
      headers: bearer(server),
      body: 'x'.repeat(300_000),
    }).catch((error: unknown) => error);
    if (!(long instanceof Error)) expect(long).toMatchObject({ status: 413 });
    expect((await send(server, configMaps, { agent, headers: bearer(server) })).status).toBe(200);
  });

  it('§2.2-12: gzip for long answers to those who take it, never for short ones', async () => {
    const server = await start();
    for (let i = 0; i < 700; i++)
      await server.fetch(configMaps, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(configMap(`c-${i}`, undefined, { x: 'x'.repeat(300) })),
      });
    const headers = { ...bearer(server), 'accept-encoding': 'gzip' };
    const long = await send(server, configMaps, { headers });
    expect([long.headers['content-encoding'], long.headers['vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect((await send(server, '/api/v1/namespaces', { headers })).headers['content-encoding']).toBeUndefined();
    expect(JSON.parse((await send(server, configMaps, { headers: bearer(server) })).text).items).toHaveLength(700);
  });

  it('survives garbage on the wire', async () => {
    const server = await start();
    for (const garbage of [
      '\u0000\u0001\u0002\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(
          {
            host: '127.0.0.1',
            port: Number(new URL(server.url).port),
            ca: server.certificateAuthority,
            ALPNProtocols: ['http/1.1'],
          },
          () => {
            socket.write(garbage);
          },
        );
        socket.on('data', () => undefined);
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.setTimeout(500, () => socket.destroy());
      });
    }
    expect((await send(server, '/healthz')).text).toBe('ok');
  });

  it('§3.5: a restart on the same port and directory keeps data, uids, revisions, certificates and tokens', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'kctl-data-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await start({ dataDir });
    const made = JSON.parse(
      (await send(first, configMaps, { method: 'POST', headers: bearer(first), body: JSON.stringify(configMap('a')) }))
        .text,
    );
    const { url, token, certificateAuthority } = first;
    await first.stop();
    const second = await start({ dataDir, port: Number(new URL(url).port) });
    expect([second.url, second.token, second.certificateAuthority]).toEqual([url, token, certificateAuthority]);
    expect(
      JSON.parse((await send(second, `${configMaps}/a`, { headers: { authorization: `Bearer ${token}` } })).text),
    ).toEqual(made);
    const watch = await second.fetch(
      `${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${Number(made.metadata.resourceVersion) - 1}`,
    );
    expect(JSON.parse(await watch.text()).object.metadata.name).toBe('a');
    expect(statSync(join(dataDir, 'identity.json')).mode & 0o777).toBe(0o600);
  });

  it('§3.7: stop and start keep port and objects in memory; a failover cuts connections and comes back', async () => {
    const server = await start();
    await server.fetch(configMaps, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(configMap('a')),
    });
    const { url } = server;
    await server.stop();
    await expect(send(server, configMaps, { headers: bearer(server) })).rejects.toThrow();
    await server.start();
    expect(server.url).toBe(url);
    const watch = send(server, `${configMaps}?watch=1`, { headers: bearer(server) });
    await expect.poll(() => server.watchers).toBe(1);
    const broken = expect(watch).rejects.toThrow();
    await server.faults.failover();
    await broken;
    expect((await send(server, `${configMaps}/a`, { headers: bearer(server) })).status).toBe(200);
  });

  it('ends at once when it is terminated, and says so to later calls', async () => {
    const server = await startApiServerWorker();
    const waiting = server.journal();
    await Promise.all([server.terminate(), expect(waiting).rejects.toThrow('the API server has been stopped')]);
    await expect(server.snapshot()).rejects.toThrow('the API server has been stopped');
    await server.terminate();
    await server.stop();
  });

  it('§3.2: runs in a worker thread, with the same controls', async () => {
    const server = await startApiServerWorker();
    onTestFinished(() => server.stop());
    expect((await send(server, '/api/v1/namespaces', { headers: bearer(server) })).status).toBe(200);
    const remove = await server.faults.add({ action: { type: 'status', code: 503 } });
    expect((await send(server, '/api/v1/namespaces', { headers: bearer(server) })).status).toBe(503);
    await remove();
    expect((await send(server, '/api/v1/namespaces', { headers: bearer(server) })).status).toBe(200);
    expect((await server.journal()).filter((entry) => entry.type === 'fault')).toHaveLength(1);
    expect(await server.kubeconfig()).toContain(server.url);
  });

  it('stops after its grace, also where Node has lost count of the connections, and the clock stands still', async () => {
    const server = createApiServer({ clock: new FakeClock(), stopGraceMs: 50 });
    await server.start();
    const closed = vi.spyOn(Server.prototype, 'close');
    // The callback of `close` never comes.
    closed.mockReturnValue(new Server());
    await server.stop();
    const listening = closed.mock.contexts.find((context) => context instanceof Server);
    closed.mockRestore();
    listening?.close();
  });
});
