import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { HttpClient } from '@kctl/client-http';
import { type CertificateAuthority, createCertificateAuthority } from '@kctl/testing';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  admissionWebhook,
  allowed,
  createSelfManagedCertificates,
  createSelfSignedCertificate,
  createWebhookServer,
  type AdmissionHandlerContext,
  type CertificateSource,
  type ClientIdentity,
  type KeyPair,
  type WebhookServer,
  type WebhookServerOptions,
} from '../src/index.js';
import { review } from './fixtures.js';
import { RecordedMetrics } from './recorded-metrics.js';

let folder: string;
let authority: CertificateAuthority;
let clock: FakeClock;
let stop: AbortController;
let running: Promise<void>;
const cleanUps: (() => unknown)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kctl-webhook-'));
  authority = await createCertificateAuthority('test-ca', Date.now());
  const { cert, key } = await pair();
  await writeFile(join(folder, 'tls.key'), key);
  await writeFile(join(folder, 'tls.crt'), cert);
  stop = new AbortController();
  running = Promise.resolve();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  stop.abort();
  await running.catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

async function pair(commonName = 'webhook'): Promise<KeyPair> {
  const subject = { commonName, dnsNames: ['localhost', 'a.example'], ipAddresses: ['127.0.0.1'] };
  const { certPem, keyPem } = await authority.issueServing(subject);
  return { cert: Buffer.from(certPem), key: Buffer.from(keyPem) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function start(options: Partial<WebhookServerOptions> = {}): Promise<WebhookServer> {
  clock = new FakeClock();
  const server = createWebhookServer({ host: '127.0.0.1', port: 0, certDir: folder, clock, ...options });
  server.register(
    '/allow',
    admissionWebhook(() => allowed()),
  );
  running = server.run(stop.signal);
  while (server.port === undefined) await Promise.race([running, turn()]);
  return server;
}

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly subject: string;
}

function post(
  server: WebhookServer,
  tls: { cert?: string; key?: string; servername?: string; path?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path: tls.path ?? '/allow',
        method: 'POST',
        ca: authority.ca.certPem,
        agent: false,
        ...tls,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        const { socket } = response;
        const subject = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : '';
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text, subject: String(subject) }));
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(review('CREATE')));
  });
}

describe('a function behind a path', () => {
  it('answers by itself, is measured, and fails alone', async () => {
    const metrics = new RecordedMetrics();
    const server = await start({ metrics });
    server.register('/info', (request, response, { signal }) => {
      response.setHeader('x-method', request.method ?? '');
      response.end(`info ${signal.aborted}`);
    });
    server.register('/broken', async () => Promise.reject(new Error('broken')));
    expect(await post(server, { path: '/info' })).toMatchObject({ code: 200, text: 'info false' });
    expect(await post(server, { path: '/broken' })).toMatchObject({ code: 500, text: '' });
    expect((await post(server)).code).toBe(200);
    expect([...(server.webhooks ?? new Map()).keys()]).toEqual(['/allow']);
    expect(metrics.get('controller_runtime_webhook_requests_total', { webhook: '/info', code: '200' })).toBe(1);
    expect(() => server.register('/info', () => undefined)).toThrow('path /info has a handler already');
  });
});

describe('a listener of the caller', () => {
  it('takes the place of host and port, and is refused where it is not one, or a Unix socket', async () => {
    await expect(start({ listener: { fd: 2_000_000_000 } })).rejects.toThrow('listen on descriptor 2000000000');
    expect(() => createWebhookServer({ listener: { file: 1 } as never })).toThrow('listener');
    expect(() => createWebhookServer({ listener: { path: '/tmp/x' } as never })).toThrow('served over TLS');
  });
});

describe('expiry', () => {
  const name = 'kctl_webhook_certificate_expiration_timestamp_seconds';

  it('is exported of a certificate from files, follows a renewal, and has an alert in the README', async () => {
    const metrics = new RecordedMetrics();
    await start({ metrics });
    const first = metrics.get(name, { certificate: 'serving' });
    expect(first).toBe(new X509Certificate((await pair()).cert).validToDate.getTime() / 1000);
    const { cert, key } = await createSelfSignedCertificate({ validityMs: 3_600_000 });
    await writeFile(join(folder, 'tls.key'), key);
    await writeFile(join(folder, 'tls.crt'), cert);
    const renewed = new X509Certificate(cert).validToDate.getTime() / 1000;
    while (metrics.get(name, { certificate: 'serving' }) !== renewed) await turn();

    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const [, alert = ''] = /```yaml\n(- alert:[^]*?)```/.exec(readme) ?? [];
    const [rule] = parse(alert) as { expr: string; annotations: { summary: string } }[];
    expect(rule?.expr).toMatch(new RegExp(`^${name} - time\\(\\) < `));
    expect(rule?.annotations.summary).toContain('{{ $labels.certificate }}');
  });

  it('is not exported where it is not known: an alert would take 0 for a certificate that has long expired', async () => {
    const metrics = new RecordedMetrics();
    await start({ metrics, getCertificate: () => pair() });
    expect([...metrics.values.keys()].filter((key) => key.startsWith(name))).toEqual([]);
    const client = { get: () => Promise.reject(new Error('no')) } as unknown as HttpClient;
    createSelfManagedCertificates({ client, secret: { name: 's', namespace: 'n' }, dnsNames: ['a'], metrics });
    expect([...metrics.values.keys()].filter((key) => key.startsWith(name))).toEqual([]);
  });
});

describe('stop', () => {
  it('ends within its deadline with a TCP connection that says nothing', async () => {
    const server = await start({ shutdownTimeoutMs: 500 });
    const silent = connect(server.port ?? 0, '127.0.0.1');
    silent.on('error', () => undefined);
    cleanUps.push(() => silent.destroy());
    await once(silent, 'connect');
    await post(server);
    const closed = once(silent, 'close');
    stop.abort();
    await turn();
    clock.advanceSync(500);
    await Promise.all([running, closed]);
    expect(server.port).toBeUndefined();
  });

  it('ends at once while the server waits for its certificate, and tells the source', async () => {
    let ended: AbortSignal | undefined;
    const certificate: CertificateSource = {
      load: (_onChange, signal) => {
        ended = signal;
        return new Promise(() => undefined);
      },
    };
    const server = createWebhookServer({ host: '127.0.0.1', port: 0, certificate });
    running = server.run(stop.signal);
    await turn();
    stop.abort();
    await running;
    expect([ended?.aborted, server.port]).toEqual([true, undefined]);
  });

  it('can be followed by another run', async () => {
    const server = await start();
    await expect(server.run(new AbortController().signal)).rejects.toThrow('already running');
    stop.abort();
    await running;
    stop = new AbortController();
    running = server.run(stop.signal);
    while (server.port === undefined) await turn();
    expect((await post(server)).code).toBe(200);
  });
});

describe('port -1', () => {
  it('refuses paths that no request has, and what is not a handler', () => {
    const server = createWebhookServer({ port: -1 });
    for (const path of ['', 'a', undefined, null, 5])
      expect(() => server.register(path as never, () => undefined)).toThrow('must begin with /');
    for (const path of ['/a?timeout=1s', '/a#b'])
      expect(() => server.register(path, () => undefined)).toThrow('must not have a query or a fragment');
    for (const handler of [undefined, null, {}, 5, { handle: () => undefined }])
      expect(() => server.register('/a', handler as never)).toThrow('the handler of /a is');
    expect([server.has('/a'), server.webhooks?.size]).toEqual([false, 0]);
  });

  it('registers handlers, serves none and passes its check, as upstream', async () => {
    const server = createWebhookServer({ port: -1, certDir: '/nowhere' });
    server.register(
      '/allow',
      admissionWebhook(() => allowed()),
    );
    expect([server.has('/allow'), server.isDisabled]).toEqual([true, true]);
    expect(() => server.checkStarted()).not.toThrow();
    await server.run(stop.signal);
    expect(server.port).toBeUndefined();
  });
});

describe('TLS', () => {
  it('serves HTTP/2 beside HTTP/1.1, and can leave it off', async () => {
    const server = await start();
    const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.ca.certPem });
    cleanUps.push(() => session.destroy());
    const stream = session.request({ ':path': '/allow', ':method': 'POST', 'content-type': 'application/json' });
    stream.end(JSON.stringify(review('CREATE')));
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(stream, 'end');
    expect(JSON.parse(text).response.allowed).toBe(true);
    expect((await post(server)).code).toBe(200);
    session.destroy();
    stop.abort();
    await running;
    stop = new AbortController();
    const older = await start({ http2: false });
    const socket = connectTls({
      port: older.port ?? 0,
      host: '127.0.0.1',
      ca: authority.ca.certPem,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  it('respects passed in TLS configurations', async () => {
    const server = await start({ tls: { minVersion: 'TLSv1.3' } });
    const socket = connectTls({
      port: server.port ?? 0,
      host: '127.0.0.1',
      ca: authority.ca.certPem,
      maxVersion: 'TLSv1.2',
    });
    const [error] = await once(socket, 'error');
    expect(String(error)).toMatch(/version/i);
  });

  it('asks getCertificate for each name, and not the files', async () => {
    const asked: (string | undefined)[] = [];
    const server = await start({
      certDir: '/nowhere',
      getCertificate: (serverName) => {
        asked.push(serverName);
        return pair(serverName ?? 'no name');
      },
    });
    expect((await post(server, { servername: 'a.example' })).subject).toBe('a.example');
    expect((await post(server, { servername: '' })).subject).toBe('no name');
    expect(asked).toEqual([undefined, 'a.example']);
  });

  it('asks getCertificate again for clients without a name, and keeps what it has while that fails', async () => {
    const answers: (string | Error)[] = ['second', new Error('vault is sealed'), '', { cert: 1 } as never, 'third'];
    let current: string | Error = 'first';
    const server = await start({
      certDir: '/nowhere',
      getCertificate: async () => {
        if (typeof current !== 'string') throw current;
        return current === '' ? { cert: 'half', key: 'written' } : await pair(current);
      },
    });
    const subject = async (): Promise<string | undefined> => (await post(server, { servername: '' })).subject;
    expect(await subject()).toBe('first');
    let shown = 'first';
    for (const answer of answers) {
      current = answer;
      await clock.advance(10_000);
      if (typeof answer === 'string' && answer !== '') shown = answer;
      while ((await subject()) !== shown) await turn();
    }
    expect(shown).toBe('third');
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes its certificate, and each later one, from a source', async () => {
    let replace: ((pair: KeyPair) => void) | undefined;
    let signal: AbortSignal | undefined;
    const certificate: CertificateSource = {
      load: async (onChange, ended) => {
        [replace, signal] = [onChange, ended];
        return pair('first');
      },
    };
    const server = await start({ certificate });
    expect((await post(server)).subject).toBe('first');
    replace?.(await pair('second'));
    expect((await post(server)).subject).toBe('second');
    stop.abort();
    await running;
    expect(signal?.aborted).toBe(true);
  });

  it('fails to start where the client CA is missing or holds no certificate', async () => {
    await expect(start({ clientCaName: 'ca.crt' })).rejects.toThrow('failed to read client CA cert');
    await writeFile(join(folder, 'ca.crt'), 'nothing');
    await expect(start({ clientCaName: 'ca.crt' })).rejects.toThrow('failed to append client CA cert to CA pool');
  });
});

describe('clients', () => {
  it('must have a certificate of the client CA, also after it was replaced', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.ca.certPem);
    const server = await start({ clientCaName: 'ca.crt' });
    await expect(post(server)).rejects.toThrow();
    const client = await authority.issueClient({ commonName: 'kube-apiserver' });
    const mine = { cert: client.certPem, key: client.keyPem };
    expect((await post(server, mine)).code).toBe(200);
    const next = await createCertificateAuthority('next-ca', Date.now());
    const other = await next.issueClient({ commonName: 'kube-apiserver' });
    const theirs = { cert: other.certPem, key: other.keyPem };
    await expect(post(server, theirs)).rejects.toThrow();
    await writeFile(join(folder, 'ca.crt'), next.ca.certPem);
    clock.advanceSync(10_000);
    let code: number | undefined;
    while (code === undefined)
      code = await post(server, theirs).then(
        ({ code }) => code,
        () => undefined,
      );
    expect(code).toBe(200);
    await expect(post(server, mine)).rejects.toThrow();
  });

  it('stay known where the file of their CA is broken, whatever part of it', async () => {
    const whole = authority.ca.certPem;
    const next = (await createCertificateAuthority('next-ca', Date.now())).ca.certPem;
    await writeFile(join(folder, 'ca.crt'), whole);
    let failures = 0;
    const onError = (message: string): void => void (failures += Number(message.includes('the last one stays in use')));
    const logger: Logger = { ...noopLogger, error: onError, child: () => logger };
    const server = await start({ clientCaName: 'ca.crt', logger });
    const { certPem: cert, keyPem: key } = await authority.issueClient({ commonName: 'kube-apiserver' });
    const broken = [
      '',
      whole.slice(0, -40),
      whole.slice(0, 60),
      whole.replace(/.{64}\n/, ''),
      `${next}${whole.slice(0, 90)}`,
      // Joined without a line break: TLS of Node would take the first one alone.
      `${next.trimEnd()}${whole}`,
      `${next}\n  ${whole}`,
      `${next}\n${whole.replace('-----END', '----END')}`,
    ];
    for (const [index, text] of broken.entries()) {
      await writeFile(join(folder, 'ca.crt'), text);
      clock.advanceSync(10_000);
      while (failures <= index) await turn();
      expect((await post(server, { cert, key })).code).toBe(200);
    }
  });

  it('of each authority of a bundle are known, with comments and other line ends, too', async () => {
    const next = await createCertificateAuthority('next-ca', Date.now());
    const bundle = `# first\n${authority.ca.certPem}\n\n# second\n${next.ca.certPem}\n`.replaceAll('\n', '\r\n');
    await writeFile(join(folder, 'ca.crt'), bundle);
    const server = await start({ clientCaName: 'ca.crt' });
    for (const one of [authority, next]) {
      const { certPem: cert, keyPem: key } = await one.issueClient({ commonName: 'kube-apiserver' });
      expect((await post(server, { cert, key })).code).toBe(200);
    }
  });

  it('cannot be known by a joined CA, a serving certificate is not joined to its chain: the server does not start', async () => {
    const { certPem } = authority.ca;
    const joined = `${certPem.trimEnd()}${certPem}`;
    await writeFile(join(folder, 'ca.crt'), joined);
    await expect(start({ clientCaName: 'ca.crt' })).rejects.toThrow(
      /ca\.crt holds a certificate, number 1, that cannot/,
    );
    await expect(start({ tls: { ca: joined, requestCert: true } })).rejects.toThrow('tls.ca holds a certificate');
    const { cert, key } = await pair();
    const chain = Buffer.from(`${cert.toString().trimEnd()}${certPem}`);
    await expect(start({ getCertificate: () => ({ cert: chain, key }) })).rejects.toThrow(
      'the serving certificate holds',
    );
    await writeFile(join(folder, 'tls.crt'), chain);
    await expect(start()).rejects.toThrow(/tls\.crt holds a certificate, number 1, that cannot be read/);
  });

  it.each(['cut', 'garbage'])('cannot be known by a CA that is %s: the server does not start', async (what) => {
    const whole = authority.ca.certPem;
    await writeFile(join(folder, 'ca.crt'), what === 'cut' ? whole.slice(0, 90) : whole.replace(/.{64}\n/, ''));
    await expect(start({ clientCaName: 'ca.crt' })).rejects.toThrow(
      'holds a certificate, number 1, that cannot be read',
    );
  });

  it('are known in a session that they resume, and no longer once their authority was replaced', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.ca.certPem);
    const server = await start({ clientCaName: 'ca.crt', allowedClients: ['kube-apiserver'] });
    const mine = await authority.issueClient({ commonName: 'kube-apiserver' });
    const open = async (session?: Buffer): Promise<{ answer: string; next: Buffer | undefined; isReused: boolean }> => {
      const socket = connectTls({
        host: '127.0.0.1',
        port: server.port ?? 0,
        servername: 'localhost',
        ca: authority.ca.certPem,
        cert: mine.certPem,
        key: mine.keyPem,
        ...(session === undefined ? {} : { session }),
      });
      cleanUps.push(() => socket.destroy());
      let next: Buffer | undefined;
      let isReused = false;
      socket.on('session', (ticket: Buffer) => (next = ticket));
      socket.on('secureConnect', () => (isReused = socket.isSessionReused()));
      const body = JSON.stringify(review('CREATE'));
      socket.write(
        `POST /allow HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return { answer, next, isReused };
    };
    const first = await open();
    expect(first.answer).toMatch(/^HTTP\/1.1 200/);
    const second = await open(first.next);
    expect([second.isReused, second.answer.slice(0, 12)]).toEqual([true, 'HTTP/1.1 200']);
    await writeFile(join(folder, 'ca.crt'), (await createCertificateAuthority('next-ca', Date.now())).ca.certPem);
    clock.advanceSync(10_000);
    // What the server refuses ends without an answer, with an error or not.
    const answerOf = (session: Buffer | undefined): Promise<string> =>
      open(session).then(
        ({ answer }) => answer,
        () => '',
      );
    while ((await answerOf(second.next ?? first.next)) !== '') await turn();
    expect(await answerOf(undefined)).toBe('');
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('are told apart by name, and known to handlers (%s)', async (protocol) => {
    await writeFile(join(folder, 'ca.crt'), authority.ca.certPem);
    const server = await start({ clientCaName: 'ca.crt', allowedClients: ['kube-apiserver'] });
    let peer: ClientIdentity | undefined;
    server.register(
      '/peer',
      admissionWebhook((_request, { http }: AdmissionHandlerContext) => {
        peer = http?.peer;
        return allowed();
      }),
    );
    const codeFor = async (commonName: string): Promise<number> => {
      const { certPem: cert, keyPem: key } = await authority.issueClient({ commonName });
      if (protocol === 'HTTP/1.1') return (await post(server, { cert, key, path: '/peer' })).code;
      const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.ca.certPem, cert, key });
      cleanUps.push(() => session.destroy());
      const stream = session.request({ ':path': '/peer', ':method': 'POST', 'content-type': 'application/json' });
      stream.end(JSON.stringify(review('CREATE')));
      const [headers] = await once(stream, 'response');
      stream.resume();
      await once(stream, 'end');
      return Number(headers[':status']);
    };
    expect(await codeFor('someone')).toBe(403);
    expect(peer).toBeUndefined();
    expect(await codeFor('kube-apiserver')).toBe(200);
    expect(peer).toMatchObject({ commonName: 'kube-apiserver' });
  });

  it.each([
    [{ allowedClients: ['a'] }, 'allowedClients needs clientCaName'],
    [{ certificate: { load: () => pair() }, getCertificate: () => pair() }, 'cannot be combined'],
    [{ port: -2 }, 'port -2 is not valid'],
    [{ maxBufferedBytes: 0 }, 'maxBufferedBytes 0 is not valid'],
  ] satisfies [WebhookServerOptions, string][])('refuses the options %j', (options, message) => {
    expect(() => createWebhookServer(options)).toThrow(message);
  });
});

describe('memory', () => {
  it('refuses bodies on top of maxBufferedBytes with 503, and takes them again afterwards', async () => {
    const entered = Promise.withResolvers<() => void>();
    const server = await start({ maxBufferedBytes: 500 });
    server.register(
      '/slow',
      admissionWebhook(async () => {
        await new Promise<void>((resolve) => entered.resolve(resolve));
        return allowed();
      }),
    );
    const slow = post(server, { path: '/slow' });
    const finish = await entered.promise;
    const { response } = JSON.parse((await post(server)).text);
    expect(response).toMatchObject({ allowed: false, status: { code: 503 } });
    finish();
    await slow;
    expect(JSON.parse((await post(server)).text).response.allowed).toBe(true);
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('reserves nothing for what is announced (%s)', async (protocol) => {
    const server = await start();
    const bytes = 7 * 1024 * 1024;
    let begun = 0;
    if (protocol === 'HTTP/2') {
      const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.ca.certPem });
      session.on('error', () => undefined);
      cleanUps.push(() => session.destroy());
      for (let count = 0; count < 40; count++) {
        const stream = session.request({
          ':path': '/allow',
          ':method': 'POST',
          'content-type': 'application/json',
          'content-length': bytes,
        });
        stream.on('error', () => undefined);
        stream.write('x', () => begun++);
      }
    } else
      for (let count = 0; count < 40; count++) {
        const socket = connectTls({ host: 'localhost', port: server.port ?? 0, ca: authority.ca.certPem });
        socket.on('error', () => undefined);
        cleanUps.push(() => socket.destroy());
        socket.write(
          `POST /allow HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\nx`,
          () => begun++,
        );
      }
    while (begun < 40) await turn();
    for (let count = 0; count < 5; count++) expect((await post(server)).text).toContain('"allowed":true');
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('answers 408 to a body that stands still (%s)', async (protocol) => {
    const server = await start();
    const head = { 'content-type': 'application/json', 'content-length': 100 };
    let answer = '';
    let isOver: Promise<unknown>;
    if (protocol === 'HTTP/2') {
      const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.ca.certPem });
      cleanUps.push(() => session.destroy());
      const stream = session.request({ ':path': '/allow', ':method': 'POST', ...head });
      stream.on('error', () => undefined).on('data', (chunk: Buffer) => (answer += chunk.toString()));
      stream.write('x');
      isOver = once(stream, 'close'); // without the client's end of the body
    } else {
      const request = httpsRequest({
        host: 'localhost',
        port: server.port,
        path: '/allow',
        method: 'POST',
        ca: authority.ca.certPem,
        agent: false,
        headers: head,
      });
      request.on('error', () => undefined);
      request.write('x');
      isOver = once(request, 'response').then(async ([response]) => {
        for await (const chunk of response) answer += String(chunk);
      });
    }
    let isDone = false;
    void isOver.then(() => (isDone = true));
    const before = clock.monotonicNow();
    while (!isDone) {
      if (answer === '' && clock.pendingTimers > 1) clock.advanceSync(1_000);
      await turn();
    }
    expect(JSON.parse(answer).response).toMatchObject({ allowed: false, status: { code: 408 } });
    expect(clock.monotonicNow() - before).toBeGreaterThanOrEqual(10_000);
  });

  it('prefers clients with a certificate to those without one', async () => {
    const { certPem: cert, keyPem: key } = await authority.issueClient({ commonName: 'kube-apiserver' });
    const tls = { ca: authority.ca.certPem, requestCert: true, rejectUnauthorized: false };
    const entered = Promise.withResolvers<() => void>();
    const server = await start({ maxBufferedBytes: 3 * JSON.stringify(review('CREATE')).length, tls });
    server.register(
      '/slow',
      admissionWebhook(async () => {
        await new Promise<void>((resolve) => entered.resolve(resolve));
        return allowed();
      }),
    );
    const slow = post(server, { path: '/slow' });
    const finish = await entered.promise;
    expect((await post(server)).text).toContain('503');
    expect((await post(server, { cert, key })).text).toContain('"allowed":true');
    finish();
    await slow;
  });
});
