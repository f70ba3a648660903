import { request } from 'node:https';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger, webhookConfigurations } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { ChaosPod, chaosPodCrd } from '../src/chaos-pod.js';
import { createChaos } from '../src/reconciler.js';

const annotation = 'example-mutating-admission-webhook';
const service = { name: 'chaos', namespace: 'default' };

function post(
  url: string,
  ca: string,
  body: object,
): Promise<{ response: { allowed: boolean; patch?: string; status: { message?: string } } }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', ca, servername: 'chaos.default.svc', headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(JSON.parse(text)));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

it('annotates ChaosPods and refuses those without annotation, with a certificate that it made itself', async () => {
  await using environment = await createEnvironment({ crds: [chaosPodCrd] });
  const { client, connection } = environment;
  const stop = new AbortController();
  const manager = await createChaos(
    {
      connection,
      logger: noopLogger,
      webhook: {
        host: '127.0.0.1',
        port: 0,
        selfManagedCertificates: { secret: { name: 'chaos-tls', namespace: 'default' }, service },
      },
    },
    { random: () => 0, periodMs: 60_000 },
  );
  const running = manager.run(stop.signal);
  try {
    const port = await eventually(() => {
      manager.webhookServer.checkStarted();
      return Promise.resolve(manager.webhookServer.port);
    });
    const { data = {} } = await client.get(Secret, { namespace: 'default', name: 'chaos-tls' });
    const ca = Buffer.from(data['ca.crt'] ?? '', 'base64').toString();
    const [mutating, validating] = webhookConfigurations(manager.webhookServer.webhooks ?? [], {
      name: 'chaos',
      address: { service },
      caBundle: ca,
    });
    const review = (annotations: Record<string, string>) => ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u1',
        kind: { group: ChaosPod.group, version: ChaosPod.version, kind: ChaosPod.kind },
        resource: { group: ChaosPod.group, version: ChaosPod.version, resource: ChaosPod.plural },
        operation: 'CREATE',
        userInfo: {},
        object: {
          apiVersion: ChaosPod.apiVersion,
          kind: ChaosPod.kind,
          metadata: { name: 'victim', annotations },
          spec: { template: {} },
        },
      },
    });
    const call = (configuration: typeof mutating, annotations: Record<string, string> = {}) =>
      post(
        `https://127.0.0.1:${port}${configuration?.webhooks?.[0]?.clientConfig.service?.path}`,
        ca,
        review(annotations),
      );
    const { patch = '' } = (await call(mutating)).response;
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toEqual([
      { op: 'add', path: `/metadata/annotations/${annotation}`, value: 'foo' },
    ]);
    expect((await call(validating)).response).toMatchObject({
      allowed: false,
      status: { message: `missing annotation ${annotation}` },
    });
    expect((await call(validating, { [annotation]: 'bar' })).response.status.message).toContain(
      'did not have value "foo"',
    );
    expect((await call(validating, { [annotation]: 'foo' })).response.allowed).toBe(true);
  } finally {
    stop.abort();
    await running;
  }
});
