import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it, onTestFinished } from 'vitest';
import { readClientConfig, type ServiceResolver, type WebhookClientConfig } from '../src/webhooks/client-config.js';
import { createWebhookCaller, type WebhookCaller } from '../src/outgoing/webhook-caller.js';
import { startHook, type HookServer } from './hook-server.js';

function caller(
  options: { clock?: FakeClock; resolveService?: ServiceResolver; maxAnswerBytes?: number } = {},
): WebhookCaller {
  const made = createWebhookCaller({ clock: systemClock, ...options });
  onTestFinished(() => made.close());
  return made;
}

function configOf(value: unknown): WebhookClientConfig {
  const config = readClientConfig(value);
  if (config === undefined) throw new TypeError('no client config');
  return config;
}

const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { uid: 'u' } };
const call = (made: WebhookCaller, hook: HookServer, timeoutMs = 5000): Promise<unknown> =>
  made.post(configOf(hook.client()), review, { timeoutMs });

async function problem(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error.message : 'no error';
}

it('posts a review with the headers and the timeout of the real server, and keeps the connection', async () => {
  const hook = await startHook();
  const made = caller();
  await call(made, hook, 1500);
  await call(made, hook);
  expect(hook.connections).toBe(1);
  const [request] = hook.requests;
  expect(request?.url).toBe('/hook?timeout=2s');
  expect(request?.headers).toMatchObject({
    accept: 'application/json, */*',
    'content-type': 'application/json',
    'user-agent': 'kube-apiserver-admission',
    host: `127.0.0.1:${hook.port}`,
  });
  expect(request?.review).toEqual(review);
});

it('opens a new connection where the kept one has been closed by the webhook', async () => {
  const hook = await startHook();
  const made = caller();
  await call(made, hook);
  hook.answer = () => (hook.requests.length === 2 ? 'cut' : { response: { allowed: true } });
  await expect(call(made, hook)).resolves.toMatchObject({ response: { allowed: true } });
  expect(hook.requests).toHaveLength(3);
});

it.each([
  [
    'an error',
    { status: 500, body: 'boom', headers: { 'content-type': 'text/plain' } },
    'an error on the server ("boom") has prevented the request from succeeding',
  ],
  ['a path that is not served', { status: 404, body: '' }, 'the server could not find the requested resource'],
  ['a Status', { status: 400, body: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"}' }, 'no'],
  ['no body', { body: '' }, '0-length response with status code: 200 and content type: application/json'],
  [
    'text',
    { body: 'hello' },
    "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct",
  ],
  [
    'a string',
    { body: '"hello"' },
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  [
    'a redirect',
    { status: 302, body: '', headers: { location: 'https://127.0.0.1/' } },
    'the server responded with the status code 302 but did not return more information',
  ],
  ['a file of 2 GiB', { body: 'x'.repeat(2000) }, 'the answer is larger than 1000 bytes'],
])('refuses %s', async (_name, answer, message) => {
  const hook = await startHook();
  hook.answer = () => answer;
  expect(await problem(call(caller({ maxAnswerBytes: 1000 }), hook))).toContain(message);
});

it('ends at the deadline, and with the request it is made for', async () => {
  const hook = await startHook();
  const clock = new FakeClock();
  const made = caller({ clock });
  const asked = Promise.withResolvers<undefined>();
  hook.answer = () => {
    asked.resolve(undefined);
    return 'hang';
  };
  const late = problem(call(made, hook, 1000));
  await asked.promise;
  await clock.advance(1000);
  expect(await late).toBe(`Post "${hook.url}?timeout=1s": context deadline exceeded`);
  const again = Promise.withResolvers<undefined>();
  hook.answer = () => {
    again.resolve(undefined);
    return 'hang';
  };
  const stop = new AbortController();
  const canceled = problem(made.post(configOf(hook.client()), review, { timeoutMs: 1000, signal: stop.signal }));
  await again.promise;
  stop.abort();
  expect(await canceled).toBe(`Post "${hook.url}?timeout=1s": context canceled`);
});

it('asks again as a busy webhook says, within the deadline', async () => {
  const hook = await startHook();
  hook.answer = () =>
    hook.requests.length === 1
      ? { status: 429, body: '', headers: { 'retry-after': '0' } }
      : { response: { allowed: true } };
  await call(caller(), hook);
  expect(hook.requests).toHaveLength(2);
});

it('trusts the certificates of the bundle and the names in them alone', async () => {
  const [hook, other] = await Promise.all([startHook(), startHook(['example.com'])]);
  const made = caller();
  const foreign = { url: hook.url, caBundle: other.client().caBundle };
  expect(await problem(made.post(configOf(foreign), review, { timeoutMs: 5000 }))).toBe(
    `Post "${hook.url}?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
  expect(await problem(call(made, other))).toBe(
    `Post "${other.url}?timeout=5s": tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  );
  const named = { ...other.client(), url: `https://localhost:${other.port}/hook` };
  expect(await problem(made.post(configOf(named), review, { timeoutMs: 5000 }))).toContain(
    'x509: certificate is valid for example.com, not localhost',
  );
});

it('trusts a certificate that is in the bundle itself, as Go does and envtest needs', async () => {
  const hook = await startHook();
  const bundle = { url: hook.url, caBundle: Buffer.from(hook.certificate).toString('base64') };
  await expect(caller().post(configOf(bundle), review, { timeoutMs: 5000 })).resolves.toMatchObject({
    response: { allowed: true },
  });
});

it('calls the Service of a configuration where the option says, by its name in the cluster', async () => {
  const hook = await startHook(['w.ns.svc']);
  const service = { namespace: 'ns', name: 'w', path: '/a/', port: 8443 };
  const config = configOf({ service, caBundle: hook.client().caBundle });
  const table = { 'ns/w': { host: '127.0.0.1', port: hook.port } };
  await caller({ resolveService: table }).post(config, review, { timeoutMs: 5000 });
  await caller({ resolveService: ({ port }) => ({ host: '127.0.0.1', port: port === 8443 ? hook.port : 1 }) }).post(
    config,
    review,
    { timeoutMs: 5000 },
  );
  expect(hook.requests.map(({ url, headers }) => `${headers.host}${url}`)).toEqual(
    Array.from({ length: 2 }, () => 'w.ns.svc:8443/a?timeout=5s'),
  );
  expect(await problem(caller().post(config, review, { timeoutMs: 5000 }))).toMatch(
    /^Post "https:\/\/w\.ns\.svc:8443\/a\?timeout=5s": service "w" not found: .* resolveService option$/,
  );
});

it('names a webhook that is down, and one that speaks plain HTTP', async () => {
  const hook = await startHook();
  await hook.close();
  expect(await problem(call(caller(), hook))).toBe(
    `Post "${hook.url}?timeout=5s": dial tcp 127.0.0.1:${hook.port}: connect: connection refused`,
  );
  const plain: Server = createServer((_, response) => response.end());
  onTestFinished(() => void plain.close());
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}/hook`;
  expect(await problem(caller().post(configOf({ url }), review, { timeoutMs: 5000 }))).toBe(
    `Post "${url}?timeout=5s": http: server gave HTTP response to HTTPS client`,
  );
});
