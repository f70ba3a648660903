// Certificates change under load: serving certificate and authority, while the embedded API server has every write
// reviewed by the webhook. Hours of certificates pass on a clock of their own; reviews, TLS and writes are real.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createSelfManagedCertificates, createWebhookServer, validatingWebhook } from '../src/index.js';

const minuteMs = 60_000;
const service = { namespace: 'default', name: 'webhook' };

it('refuses no write while serving certificate and authority are renewed under load', async () => {
  let port = 0;
  await using environment = await createEnvironment({
    server: 'embedded',
    embedded: { resolveService: () => ({ host: '127.0.0.1', port }) },
  });
  const { client } = environment;
  // At most an hour ahead of the time of TLS: certificates are valid from an hour before they are issued.
  const clock = new FakeClock({ now: Date.now() });
  const certificate = createSelfManagedCertificates({
    client,
    clock,
    secret: { name: 'tls', namespace: 'default' },
    service,
    inject: { validating: ['load'] },
    servingValidityMs: 36 * minuteMs,
    authorityValidityMs: 54 * minuteMs,
    overlapMs: 4 * minuteMs,
    checkIntervalMs: minuteMs / 2,
  });
  const server = createWebhookServer({ host: '127.0.0.1', port: 0, certificate });
  let reviews = 0;
  server.register(
    '/validate',
    validatingWebhook(ConfigMap, {
      validateCreate: () => {
        reviews++;
        return undefined;
      },
    }),
  );
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: 'load' },
    webhooks: [
      {
        name: 'load.ex.io',
        clientConfig: { service: { ...service, path: '/validate' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  const bundle = async (): Promise<string> => {
    const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, { name: 'load' });
    return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  };
  try {
    await eventually(async () => {
      server.checkStarted();
      expect(await bundle()).toContain('CERTIFICATE');
    });
    port = server.port ?? 0;
    const bundles = new Set<string>();
    const served = new Set<string>();
    const failures: unknown[] = [];
    let created = 0;
    for (let minute = 0; minute < 56; minute++) {
      await clock.advance(minuteMs);
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const metadata = { namespace: 'default', name: `m${created++}` };
          await client.create(ConfigMap, { metadata }).catch((error: unknown) => failures.push(error));
        }),
      );
      const ca = await bundle();
      bundles.add(ca);
      served.add(await handshake(port, ca));
    }
    expect(failures).toEqual([]);
    expect(reviews).toBe(created);
    const authorities = [...bundles].map((ca) => ca.split('BEGIN CERTIFICATE').length - 1);
    expect(authorities).toContain(2);
    expect(served.size).toBeGreaterThan(1);
    expect(new Set([...bundles].flatMap((ca) => ca.match(/-----BEGIN[^]*?END CERTIFICATE-----/g) ?? [])).size).toBe(2);
  } finally {
    stop.abort();
    await running;
  }
});

/** A handshake as a new API server would make it. @returns what the certificate is known by */
async function handshake(port: number, ca: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: `${service.name}.${service.namespace}.svc` });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}
