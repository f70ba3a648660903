import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { createHttpServer } from '@kctl/manager';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInspection } from '../src/index.js';
import { makePage } from '../src/page/page.js';

interface Given {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const inspection = createInspection();
const server = inspection.server({ port: 0 });
const stop = new AbortController();
let running: Promise<void>;
let port = 0;
beforeAll(async () => {
  running = server.run(stop.signal);
  await server.waitForReady?.(stop.signal);
  port = server.address?.port ?? 0;
});
afterAll(async () => {
  stop.abort();
  await running;
});

async function ask(path: string, { method = 'GET', headers = {} }: Given = {}): Promise<Got> {
  return await new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('the endpoint', () => {
  it('listens on a loopback address alone', () => {
    expect(server.address?.host).toBe('127.0.0.1');
    expect(() => inspection.server({ port: 0, host: '0.0.0.0' })).toThrow(/"0\.0\.0\.0" is not a loopback address/);
  });

  it.each(['overview', 'keys', 'timeline?key=a/b', 'informers', 'graph', 'rights'])(
    'answers %s as JSON',
    async (path) => {
      const { status, headers, body } = await ask(`/debug/kctl/${path}`);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'no-store',
      ]);
      expect(typeof JSON.parse(body)).toBe('object');
    },
  );

  it.each([
    ['GET', { host: 'evil.example.com' }, 403],
    ['GET', { host: 'localhost.evil.example.com:80' }, 403],
    ['GET', { host: 'localhost' }, 200],
    ['GET', { host: '[::1]:8082' }, 200],
    ['GET', { origin: 'https://evil.example.com' }, 403],
    ['GET', { origin: 'null' }, 403],
    ['GET', { 'sec-fetch-site': 'cross-site' }, 403],
    ['GET', { 'sec-fetch-site': 'same-site' }, 403],
    ['GET', { 'sec-fetch-site': 'same-origin' }, 200],
    ['HEAD', {}, 200],
    ['POST', {}, 405],
    ['DELETE', {}, 405],
    ['OPTIONS', {}, 405],
  ])('answers %s with %o by %d', async (method, headers, status) => {
    const got = await ask('/debug/kctl/overview', { method, headers: headers });
    expect(got.status).toBe(status);
    if (method === 'HEAD') expect(got.body).toBe('');
  });

  it.each([
    ['/debug/kctl/nothing', 404],
    ['/debug/kctl/__proto__', 404],
    ['/debug/kctl/../../etc/passwd', 404],
    ['/metrics', 404],
    ['/debug/kctl', 308],
    ['/debug/kctl/keys?state=odd', 400],
    ['/debug/kctl/keys?sort=constructor', 400],
    ['/debug/kctl/keys?limit=501', 400],
    ['/debug/kctl/keys?offset=-1', 400],
    ['/debug/kctl/keys?offset=1e9', 400],
    ['/debug/kctl/timeline', 400],
    [`/debug/kctl/timeline?key=${'a'.repeat(2000)}`, 400],
  ])('answers %s by %d', async (path, status) => {
    expect((await ask(path)).status).toBe(status);
  });

  it('has a page that may do nothing but run itself', async () => {
    const { status, headers, body } = await ask('/debug/kctl/');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).toMatch(/^<!doctype html><html lang="en">/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src .*frame-ancestors 'none'/);
    expect(headers['content-security-policy']).toContain('img-src data:'); // its empty icon
    const { contentSecurityPolicy } = makePage('<style>a{}</style><script type="module">1</script>');
    expect(contentSecurityPolicy).toContain("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='");
  });
});

describe('the live stream', () => {
  it('sends the overview at once, and again when something is recorded', async () => {
    const aborted = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}/debug/kctl/events`, { signal: aborted.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text)) text += (await reader.read()).value ?? '';
    };
    await until(/event: overview\ndata: \{.*"runs":0.*\}\n\n/);
    inspection.observer.queued('widgets', 'shop/a', {});
    await until(/"runs":1/);
    aborted.abort();
    await reader.closed.catch(() => undefined);
  });

  it('ends when a server that leaves it time begins to stop', async () => {
    const metrics = createHttpServer({
      name: 'metrics',
      host: '127.0.0.1',
      port: 0,
      handlers: [inspection.handler],
      logger: noopLogger,
      clock: new FakeClock(), // at which the deadline of the stop never comes
    });
    const ended = new AbortController();
    const done = metrics.run(ended.signal);
    await metrics.waitForReady?.(ended.signal);
    const response = await fetch(`http://127.0.0.1:${metrics.address?.port}/debug/kctl/events`);
    ended.abort();
    expect(await response.text()).toContain('event: overview');
    await done;
  });

  it('is refused beyond 16 at one time, and free again when they have gone', async () => {
    const get = 'GET /debug/kctl/events HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const sockets = Array.from({ length: 16 }, () => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve).write(get))));
    expect((await ask('/debug/kctl/events')).status).toBe(503);
    for (const socket of sockets) socket.destroy();
    for (let status: number | undefined = 503; status === 503; ) {
      const aborted = new AbortController();
      status = (await fetch(`http://127.0.0.1:${port}/debug/kctl/events`, { signal: aborted.signal })).status;
      aborted.abort();
    }
  });
});
