import { getEventListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { TLSSocket } from 'node:tls';
import { join } from 'node:path';
import { defineKind, StatusError, type KubeObject } from '@kctl/apimachinery';
import { type CertificateAuthority, createCertificateAuthority } from '@kctl/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allowed } from '../handler/review.js';
import { admissionWebhook } from '../admission/admission-webhook.js';
import { defaultingWebhook, validatingWebhook } from '../admission/typed.js';
import { tokenReviewWebhook } from '../authentication/token-review.js';
import { conversionWebhook } from '../conversion/conversion-webhook.js';
import { createWebhookServer, type WebhookServer, type WebhookServerOptions } from './webhook-server.js';

interface Widget extends KubeObject {
  spec: { size?: number; color?: string };
}
const Widget = defineKind<Widget>()({ group: 'ex.io', version: 'v1', kind: 'Widget', scope: 'Namespaced' });
const subject = { commonName: 'webhook', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };

let folder: string;
let authority: CertificateAuthority;
let server: WebhookServer;
let stop: AbortController;
let running: Promise<void>;

async function start(options: Partial<WebhookServerOptions> = {}): Promise<void> {
  server = createWebhookServer({ host: '127.0.0.1', port: 0, certDir: folder, ...options });
  stop = new AbortController();
  running = server.run(stop.signal);
  running.catch(() => undefined);
  while (server.port === undefined) await Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);
}

async function writeCertificate(): Promise<string> {
  const { certPem, keyPem } = await authority.issueServing(subject);
  await writeFile(join(folder, 'tls.key'), keyPem);
  await writeFile(join(folder, 'tls.crt'), certPem);
  return certPem;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kctl-webhook-'));
  authority = await createCertificateAuthority('test-ca', Date.now());
  await writeCertificate();
});

afterEach(async () => {
  stop.abort();
  await running.catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly code: number;
  readonly body: any;
  readonly serial: string;
}

function post(
  path: string,
  body: unknown,
  options: { contentType?: string; cert?: string; key?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let serial = '';
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        method: 'POST',
        ca: authority.ca.certPem,
        agent: false,
        cert: options.cert,
        key: options.key,
        headers: { 'content-type': options.contentType ?? 'application/json' },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({ code: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text, serial }),
        );
      },
    );
    request.on('socket', (socket) =>
      socket.on('secureConnect', () => {
        if (socket instanceof TLSSocket) serial = socket.getPeerCertificate().serialNumber;
      }),
    );
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

function review(operation: string, object: unknown, oldObject: unknown = null): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: 'ex.io', version: 'v1', kind: 'Widget' },
      resource: { group: 'ex.io', version: 'v1', resource: 'widgets' },
      operation,
      userInfo: { username: 'jane' },
      object,
      oldObject,
    },
  };
}

const widget = (size: number): Widget => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'a' },
  spec: { size },
});

describe('WebhookServer', () => {
  it('answers a validating review with the verdict, the uid and warnings', async () => {
    await start();
    server.register(
      '/validate',
      validatingWebhook(Widget, {
        validateCreate: (object) => {
          if ((object.spec.size ?? 0) > 5) throw new Error('size must not exceed 5');
          return object.spec.size === 5 ? ['size 5 is the limit'] : undefined;
        },
        validateDelete: () => {
          throw new StatusError({ code: 409, reason: 'Conflict', message: 'in use' });
        },
      }),
    );
    expect((await post('/validate', review('CREATE', widget(1)))).body).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'u1', allowed: true, status: { code: 200, metadata: {} } },
    });
    expect((await post('/validate', review('CREATE', widget(5)))).body.response.warnings).toEqual([
      'size 5 is the limit',
    ]);
    expect((await post('/validate', review('CREATE', widget(6)))).body.response).toMatchObject({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'size must not exceed 5' },
    });
    expect((await post('/validate', review('UPDATE', widget(9), widget(1)))).body.response.allowed).toBe(true);
    expect((await post('/validate', review('DELETE', null, widget(1)))).body.response.status).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
  });

  it('answers a mutating review with a base64 JSON patch, and with none when nothing changes', async () => {
    await start();
    server.register(
      '/mutate',
      defaultingWebhook(Widget, (draft) => void (draft.spec.color ??= 'red')),
    );
    const { response } = (await post('/mutate', review('CREATE', widget(1)))).body;
    expect(response.patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toEqual([
      { op: 'add', path: '/spec/color', value: 'red' },
    ]);
    const coloured = { ...widget(1), spec: { color: 'blue' } };
    expect((await post('/mutate', review('CREATE', coloured))).body.response).not.toHaveProperty('patch');
    expect((await post('/mutate', review('DELETE', null, widget(1)))).body.response.allowed).toBe(true);
  });

  it('says what is wrong with a request', async () => {
    await start();
    server.register(
      '/validate',
      admissionWebhook(() => allowed()),
    );
    expect((await post('/validate', 'no json')).body.response).toMatchObject({ allowed: false, status: { code: 400 } });
    expect((await post('/validate', '')).body.response.status.message).toBe('request body is empty');
    expect((await post('/validate', {}, { contentType: 'text/plain' })).body.response.status.message).toBe(
      'contentType=text/plain, expected application/json',
    );
    expect((await post('/validate', { kind: 'Pod' })).body.response.status.message).toMatch(/not an AdmissionReview/);
    expect(await post('/nowhere', {})).toMatchObject({ code: 404 });
    expect(() =>
      server.register(
        '/validate',
        admissionWebhook(() => allowed()),
      ),
    ).toThrow('path /validate has a handler already');
  });

  it('refuses a port or a timeout that cannot be', () => {
    expect(() => createWebhookServer({ port: 70_000 })).toThrow('createWebhookServer: port 70000 is not valid');
    expect(() => createWebhookServer({ shutdownTimeoutMs: NaN })).toThrow('shutdownTimeoutMs NaN is not valid');
  });

  it('turns a throwing handler into a denial with 500', async () => {
    await start();
    server.register(
      '/boom',
      admissionWebhook(() => {
        throw new Error('boom');
      }),
    );
    expect(await post('/boom', review('CREATE', widget(1)))).toMatchObject({
      code: 200,
      body: { response: { uid: 'u1', allowed: false, status: { code: 500, message: 'panic: boom [recovered]' } } },
    });
  });

  it('judges tokens', async () => {
    await start();
    server.register(
      '/token',
      tokenReviewWebhook((token) =>
        token === 'good' ? { authenticated: true, user: { username: 'jane' } } : { authenticated: false },
      ),
    );
    const ask = (token: string): Promise<Answer> =>
      post('/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } });
    expect((await ask('good')).body.status).toEqual({ authenticated: true, user: { username: 'jane' } });
    expect((await ask('bad')).body.status).toEqual({ authenticated: false });
    expect((await ask('')).body.status).toEqual({ authenticated: false, error: 'token is empty' });
  });

  it('converts objects, and refuses a converter that touches metadata', async () => {
    await start();
    server.register(
      '/convert',
      conversionWebhook((object, apiVersion) => ({
        ...object,
        apiVersion,
        metadata: apiVersion === 'ex.io/bad' ? { name: 'other' } : object.metadata,
      })),
    );
    const ask = (desiredAPIVersion: string): Promise<Answer> =>
      post('/convert', {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        request: { uid: 'c1', desiredAPIVersion, objects: [widget(1)] },
      });
    expect((await ask('ex.io/v2')).body.response).toMatchObject({
      uid: 'c1',
      result: { status: 'Success' },
      convertedObjects: [{ apiVersion: 'ex.io/v2' }],
    });
    expect((await ask('ex.io/bad')).body.response.result).toEqual({
      status: 'Failure',
      message: 'Widget a/w: the converter changed metadata other than labels and annotations',
    });
  });

  it('serves a new certificate as soon as the files change, without dropping the old one meanwhile', async () => {
    await start();
    const before = (await post('/', {})).serial;
    await writeCertificate();
    let serial = before;
    while (serial === before) serial = (await post('/', {})).serial;
    expect(serial).not.toBe(before);
  });

  it('asks for a client certificate where a CA is given', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.ca.certPem);
    await start({ clientCaName: 'ca.crt' });
    server.register(
      '/validate',
      admissionWebhook(() => allowed()),
    );
    await expect(post('/validate', review('CREATE', widget(1)))).rejects.toThrow();
    const client = await authority.issueClient({ commonName: 'kube-apiserver' });
    expect(
      (await post('/validate', review('CREATE', widget(1)), { cert: client.certPem, key: client.keyPem })).code,
    ).toBe(200);
  });

  it('knows the clients it knew after its certificate has changed', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.ca.certPem);
    await start({ clientCaName: 'ca.crt' });
    const { certPem: cert, keyPem: key } = await authority.issueClient({ commonName: 'kube-apiserver' });
    const before = (await post('/', {}, { cert, key })).serial;
    await writeCertificate();
    let serial = before;
    while (serial === before) serial = (await post('/', {}, { cert, key })).serial;
    expect(serial).not.toBe(before);
  });

  it('lets a request in flight finish before it stops', async () => {
    await start();
    let finish: (() => void) | undefined;
    const entered = new Promise<void>((enter) => {
      server.register(
        '/slow',
        admissionWebhook(
          () =>
            new Promise((resolve) => {
              finish = () => resolve(allowed());
              enter();
            }),
        ),
      );
    });
    const answer = post('/slow', review('CREATE', widget(1)));
    await entered;
    stop.abort();
    finish!();
    expect((await answer).body.response.allowed).toBe(true);
    await running;
    expect(server.port).toBeUndefined();
    expect(() => server.checkStarted()).toThrow('webhook server has not been started yet');
  });

  it('names the missing certificate instead of hanging', async () => {
    await rm(join(folder, 'tls.crt'));
    await expect(start()).rejects.toThrow(/tls\.crt/);
  });
});

it('leaves nothing on its signal where it cannot listen', async () => {
  await start();
  const twin = createWebhookServer({ host: '127.0.0.1', port: server.port ?? 0, certDir: folder });
  const { signal } = new AbortController();
  await expect(twin.run(signal)).rejects.toThrow('EADDRINUSE');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
