import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import { createCertificateAuthority, createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { createManager, noopLogger, webhookManagedBy } from '../src/index.js';

interface Widget extends KubeObject {
  spec: { size: number; color?: string };
}
const Widget = defineKind<Widget>()({ group: 'ex.io', version: 'v1', kind: 'Widget', scope: 'Namespaced' });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it('serves the webhooks of webhookManagedBy over TLS and calls the manager ready only then', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const certDir = await mkdtemp(join(tmpdir(), 'kctl-runtime-webhook-'));
  const authority = await createCertificateAuthority('test-ca', Date.now());
  const { certPem, keyPem } = await authority.issueServing({
    commonName: 'webhook',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  await writeFile(join(certDir, 'tls.crt'), certPem);
  await writeFile(join(certDir, 'tls.key'), keyPem);
  const [port, health] = [await freePort(), await freePort()];
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    webhook: { host: '127.0.0.1', port, certDir },
    health: { host: '127.0.0.1', port: health },
  });
  webhookManagedBy(manager, Widget)
    .withDefaulter((draft) => void (draft.spec.color ??= 'red'))
    .withValidator({
      validateCreate: (widget) => {
        if (widget.spec.size > 5) throw new Error('size must not exceed 5');
        return undefined;
      },
    })
    .complete();
  const stop = new AbortController();
  const running = manager.run(stop.signal);

  const review = (
    path: string,
    size: number,
  ): Promise<{ response: { allowed: boolean; patch?: string; status: { message?: string } } }> =>
    new Promise((resolve, reject) => {
      const request = httpsRequest(
        {
          host: '127.0.0.1',
          port,
          path,
          method: 'POST',
          ca: authority.ca.certPem,
          agent: false,
          headers: { 'content-type': 'application/json' },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve(JSON.parse(text)));
        },
      );
      request.on('error', reject);
      const object = {
        apiVersion: 'ex.io/v1',
        kind: 'Widget',
        metadata: { name: 'w', namespace: 'a' },
        spec: { size },
      };
      const body = {
        uid: 'u1',
        kind: { group: 'ex.io', version: 'v1', kind: 'Widget' },
        resource: { group: 'ex.io', version: 'v1', resource: 'widgets' },
        operation: 'CREATE',
        userInfo: {},
        object,
      };
      request.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: body }));
    });
  try {
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200));
    const mutated = await review('/mutate-ex-io-v1-widget', 1);
    expect(JSON.parse(Buffer.from(mutated.response.patch ?? '', 'base64').toString())).toEqual([
      { op: 'add', path: '/spec/color', value: 'red' },
    ]);
    expect((await review('/validate-ex-io-v1-widget', 1)).response.allowed).toBe(true);
    expect((await review('/validate-ex-io-v1-widget', 6)).response).toMatchObject({
      allowed: false,
      status: { message: 'size must not exceed 5' },
    });
  } finally {
    stop.abort();
    await running;
    await rm(certDir, { recursive: true, force: true });
  }
});
