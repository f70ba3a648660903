import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { noopLogger, noopMetrics, type Logger } from '@kctl/telemetry';
import { type CertificateAuthority, createCertificateAuthority } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { createPrometheusMetrics } from '@kctl/metrics';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManager, type HttpServer, type MetricsServerOptions } from '../src/index.js';
import { createMetricsServer } from '../src/metrics-server.js';
import { fakeCluster } from './fakes.js';

const host = '127.0.0.1';
const subject = { commonName: 'metrics', dnsNames: ['localhost'], ipAddresses: [host] };
const cleanups: (() => PromiseLike<unknown>)[] = [];
let folder: string;
let authority: CertificateAuthority;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kctl-metrics-'));
  authority = await createCertificateAuthority('test-ca', Date.now());
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await rm(folder, { recursive: true, force: true });
});

async function writeCertificate(): Promise<string> {
  const { certPem, keyPem } = await authority.issueServing(subject);
  await writeFile(join(folder, 'tls.key'), keyPem);
  await writeFile(join(folder, 'tls.crt'), certPem);
  return new X509Certificate(certPem).serialNumber;
}

async function serve(options: MetricsServerOptions, logger: Logger = noopLogger): Promise<HttpServer> {
  const server = createMetricsServer({
    server: { host, port: 0, ...options },
    exporter: { export: async () => ({ contentType: 'text/plain', body: 'numbers' }) },
    extra: new Map(),
    metrics: noopMetrics,
    logger,
    clock: new FakeClock({ now: Date.now() }),
  });
  const stop = new AbortController();
  const done = server.run(stop.signal);
  cleanups.push(() => {
    stop.abort();
    return done;
  });
  await Promise.race([server.waitForReady?.(stop.signal), done]);
  return server;
}

interface Answer {
  readonly body: string;
  readonly certificate: X509Certificate;
}

function get(server: HttpServer, tls: { ca?: string; cert?: string; key?: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host, port: server.address?.port, path: '/metrics', agent: false, ...tls };
    const sent = request({ ...options, rejectUnauthorized: tls.ca !== undefined }, (response) => {
      const { socket } = response;
      const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => certificate !== undefined && resolve({ body, certificate }));
    });
    sent.on('error', reject).end();
  });
}

describe('a metrics server with secureServing', () => {
  it('makes a certificate of its own where there are no files', async () => {
    const server = await serve({ secureServing: true, certDir: folder });
    const { body, certificate } = await get(server, {});
    expect(body).toBe('numbers');
    expect(certificate.subject).toBe('CN=localhost');
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    // Who trusts it is satisfied with it, address included.
    expect((await get(server, { ca: certificate.toString() })).body).toBe('numbers');
  });

  it('serves the files, and new ones as soon as they change', async () => {
    const first = await writeCertificate();
    const server = await serve({ secureServing: true, certDir: folder });
    const ca = authority.ca.certPem;
    expect((await get(server, { ca })).certificate.serialNumber).toBe(first);
    const second = await writeCertificate();
    while ((await get(server, { ca })).certificate.serialNumber !== second);
  });

  it('keeps the old certificate while the new files do not fit together', async () => {
    const first = await writeCertificate();
    const failed = Promise.withResolvers<undefined>();
    const error = (): void => failed.resolve(undefined);
    const server = await serve({ secureServing: true, certDir: folder }, { ...noopLogger, error });
    await writeFile(join(folder, 'tls.crt'), 'half a certif');
    await failed.promise;
    expect((await get(server, { ca: authority.ca.certPem })).certificate.serialNumber).toBe(first);
  });

  it('asks clients for certificates by the same CA after a change', async () => {
    await writeCertificate();
    const ca = authority.ca.certPem;
    const tls = { ca, requestCert: true, rejectUnauthorized: true };
    const server = await serve({ secureServing: true, certDir: folder, tls });
    const { certPem: cert, keyPem: key } = await authority.issueClient({ commonName: 'prometheus' });
    const second = await writeCertificate();
    while ((await get(server, { ca, cert, key })).certificate.serialNumber !== second);
    await expect(get(server, { ca })).rejects.toThrow();
  });

  it('takes a certificate of the options before any file', async () => {
    await writeCertificate();
    const { certPem: cert, keyPem: key } = await authority.issueServing(subject);
    const server = await serve({ certDir: folder, tls: { cert, key } });
    const { certificate } = await get(server, { ca: authority.ca.certPem });
    expect(certificate.serialNumber).toBe(new X509Certificate(cert).serialNumber);
  });

  it('fails with the reason when the files are there and of no use', async () => {
    await writeFile(join(folder, 'tls.crt'), 'x');
    await writeFile(join(folder, 'tls.key'), 'y');
    await expect(serve({ secureServing: true, certDir: folder })).rejects.toThrow();
    cleanups.length = 0;
  });

  it('refuses options that would be without effect', () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const make = (metricsServer: MetricsServerOptions) =>
      createManager({ cluster: fakeCluster(), metrics, metricsServer });
    expect(() => make({ certDir: folder })).toThrow('metricsServer.certDir needs metricsServer.secureServing: true');
    expect(() => make({ secureServing: false, tls: {} })).toThrow('metricsServer.tls needs');
    expect(() => make({}).addMetricsHandler('/metrics', () => true)).toThrow(
      'overriding builtin /metrics endpoint is not allowed',
    );
  });
});
