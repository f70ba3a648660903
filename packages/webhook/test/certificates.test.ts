import { X509Certificate } from 'node:crypto';
import { isNotFound } from '@kctl/apimachinery';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { Namespace, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { createConsoleLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  applyWebhookManifests,
  certificateRules,
  createSelfManagedCertificates,
  createWebhookServer,
  validatingWebhook,
  webhookConfigurations,
  type KeyPair,
  type SelfManagedCertificates,
  type SelfManagedCertificatesOptions,
} from '../src/index.js';
import { Widget } from './fixtures.js';
import { RecordedMetrics } from './recorded-metrics.js';

const minute = 60_000;
const key = { name: 'serving', namespace: 'default' };
let environment: TestEnvironment;
let client: ReturnType<typeof createHttpClient>;
let clock: FakeClock;
let stop: AbortController;
let logs: string[];

beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  client = createHttpClient({ connection: environment.connection });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await environment[Symbol.asyncDispose]();
});

beforeEach(async () => {
  clock = new FakeClock();
  stop = new AbortController();
  logs = [];
  await client.delete(Secret, key).catch(isNotFound);
  await applyWebhookManifests(
    client,
    webhookConfigurations([['/x', validatingWebhook(Widget, { validateCreate: () => undefined })]], {
      name: 'op',
      address: { service: { name: 'op', namespace: 'default' } },
    }),
    { fieldOwner: 'test' },
  );
  return () => stop.abort();
});

interface Replica {
  readonly certificates: SelfManagedCertificates;
  pair: KeyPair;
}

async function replica(options: Partial<SelfManagedCertificatesOptions> = {}): Promise<Replica> {
  const certificates = createSelfManagedCertificates({
    client,
    secret: key,
    service: { name: 'op', namespace: 'default' },
    inject: { validating: ['op-validating'] },
    authorityValidityMs: 120 * minute,
    servingValidityMs: 30 * minute,
    overlapMs: minute,
    clock,
    logger: createConsoleLogger({ level: 'trace', write: (line) => void logs.push(line) }),
    ...options,
  });
  const made: { certificates: SelfManagedCertificates; pair?: KeyPair } = { certificates };
  made.pair = await certificates.load((pair) => (made.pair = pair), stop.signal);
  return made as Replica;
}

/** Lets every replica look once: each of them waits again then. */
async function round(replicas: number, ms = 10_000): Promise<void> {
  clock.advanceSync(ms);
  while (clock.pendingTimers < replicas) await new Promise((resolve) => setImmediate(resolve));
}

async function injected(): Promise<string> {
  const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, { name: 'op-validating' });
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
}

const authoritiesIn = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? []).map((pem) => new X509Certificate(pem));

function isTrusted({ pair: { cert } }: Replica, bundle: string): boolean {
  const certificate = new X509Certificate(cert);
  return authoritiesIn(bundle).some((ca) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey));
}

const fingerprint = ({ pair }: Replica): string => new X509Certificate(pair.cert).fingerprint256;

describe('self-managed certificates', () => {
  it('are for addresses and wildcards, too, and are not made anew for them', async () => {
    const one = await replica({ dnsNames: ['10.0.0.7', 'fd00::7', '*.example.com'] });
    const certificate = new X509Certificate(one.pair.cert);
    const found = [
      certificate.checkIP('10.0.0.7'),
      certificate.checkIP('fd00::7'),
      certificate.checkHost('a.example.com'),
    ];
    expect(found).not.toContain(undefined);
    const before = fingerprint(one);
    await round(1);
    expect(fingerprint(one)).toBe(before);
  });

  it('are made, kept in the Secret, trusted by the configuration, and for the names of the Service', async () => {
    const metrics = new RecordedMetrics();
    const one = await replica({ metrics });
    await round(1);
    one.certificates.check();
    expect(await injected()).toBe(one.certificates.caBundle);
    expect(isTrusted(one, await injected())).toBe(true);
    const certificate = new X509Certificate(one.pair.cert);
    for (const name of ['op.default.svc', 'op.default.svc.cluster.local'])
      expect(certificate.checkHost(name)).toBe(name);
    const expiry = metrics.get('kctl_webhook_certificate_expiration_timestamp_seconds', { certificate: 'serving' });
    expect(expiry).toBe(certificate.validToDate.getTime() / 1000);
    const { data = {} } = await client.get(Secret, key);
    expect(Object.keys(data).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    expect(logs.join()).not.toMatch(/PRIVATE KEY/);
  });

  it('are the same for replicas that start at the same moment: one writes, the others take it', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    expect(new Set(replicas.map(fingerprint)).size).toBe(1);
    expect(logs.filter((line) => line.includes('wrote the certificate Secret'))).toHaveLength(1);
  });

  it('are asked for a few times in each look where the namespace is missing, which is told, and made once it is there', async () => {
    let writes = 0;
    const counting = {
      get: client.get.bind(client),
      update: client.update.bind(client),
      create: (...given: Parameters<typeof client.create>) => {
        writes++;
        return client.create(...given);
      },
    } as unknown as SelfManagedCertificatesOptions['client'];
    const namespace = 'not-there-yet';
    const certificates = createSelfManagedCertificates({
      client: counting,
      secret: { name: 'serving', namespace },
      dnsNames: ['op.example.com'],
      clock,
      logger: createConsoleLogger({ level: 'trace', write: (line) => void logs.push(line) }),
    });
    const loaded = certificates.load(() => undefined, stop.signal);
    while (clock.pendingTimers === 0 && writes < 20) await new Promise((resolve) => setImmediate(resolve));
    expect(writes).toBe(5);
    expect(logs.join()).toContain('cannot keep the certificate Secret');
    expect(() => certificates.check()).toThrow('namespaces "not-there-yet" not found');
    await client.create(Namespace, { metadata: { name: namespace } });
    clock.advanceSync(10_000);
    expect((await loaded).cert.length).toBeGreaterThan(0);
    certificates.check();
  });

  it('are looked at when they are loaded again: those of the earlier load may have expired', async () => {
    const { certificates, pair } = await replica();
    const first = stop;
    stop = new AbortController();
    first.abort();
    await clock.advance(60 * minute);
    const later = await certificates.load(() => undefined, stop.signal);
    expect(later.cert.equals(pair.cert)).toBe(false);
    expect(new X509Certificate(later.cert).validToDate.getTime()).toBeGreaterThan(clock.now());
  });

  it('come back from memory when the Secret is deleted or broken: nothing changes for the API server', async () => {
    const one = await replica();
    await round(1);
    const [before, bundle] = [fingerprint(one), await injected()];
    await client.delete(Secret, key);
    await round(1);
    expect([fingerprint(one), await injected()]).toEqual([before, bundle]);
    const secret = await client.get(Secret, key);
    for (const data of [
      {},
      { ...secret.data, 'tls.crt': 'AAAA' },
      { ...secret.data, 'ca.key': 'AAAA' },
      { ...secret.data, 'ca.crt': 'AAAA' },
    ]) {
      await client.update(Secret, { ...(await client.get(Secret, key)), data });
      await round(1);
      expect([fingerprint(one), await injected()]).toEqual([before, bundle]);
      expect((await client.get(Secret, key)).data).toEqual(secret.data);
    }
  });

  it('are made anew of a broken Secret where no replica remembers', async () => {
    await client.create(Secret, { metadata: { ...key, namespace: 'default' }, data: { 'tls.crt': 'AAAA' } });
    const one = await replica();
    await round(1);
    expect(isTrusted(one, await injected())).toBe(true);
  });

  it('are handed over again where the one that takes them failed', async () => {
    const certificates = createSelfManagedCertificates({
      client,
      secret: key,
      dnsNames: ['op'],
      authorityValidityMs: 120 * minute,
      servingValidityMs: 30 * minute,
      overlapMs: minute,
      clock,
    });
    const taken: KeyPair[] = [];
    let failures = 1;
    const first = await certificates.load((pair) => {
      if (failures-- > 0) throw new Error('cannot use it');
      taken.push(pair);
    }, stop.signal);
    await round(1, 25 * minute);
    expect([failures, taken]).toEqual([0, []]);
    await round(1);
    expect(taken).toHaveLength(1);
    expect(taken[0]?.cert.equals(first.cert)).toBe(false);
    await round(1);
    expect(taken).toHaveLength(1);
  });

  it('are ready only once the CA is in every configuration, and say which is missing', async () => {
    const one = await replica({ inject: { validating: ['op-validating', 'later-validating'] } });
    const server = createWebhookServer({ certificate: one.certificates, port: 0 });
    expect(() => server.checkStarted()).toThrow('webhook server has not been started yet');
    expect(() => one.certificates.check()).toThrow('ValidatingWebhookConfiguration later-validating does not exist');
    const configuration = await client.get(ValidatingWebhookConfiguration, { name: 'op-validating' });
    await client.create(ValidatingWebhookConfiguration, {
      metadata: { name: 'later-validating' },
      webhooks: (configuration.webhooks ?? []).map((webhook) => ({
        ...webhook,
        clientConfig: { url: 'https://x.example' },
      })),
    });
    await round(1);
    expect(() => one.certificates.check()).not.toThrow();
    await client.delete(ValidatingWebhookConfiguration, { name: 'later-validating' });
    await round(1);
    expect(() => one.certificates.check()).toThrow('later-validating does not exist');
  });

  it('put the CA back that was overwritten', async () => {
    const one = await replica();
    await round(1);
    const configuration = await client.get(ValidatingWebhookConfiguration, { name: 'op-validating' });
    const webhooks = (configuration.webhooks ?? []).map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: '' },
    }));
    await client.update(ValidatingWebhookConfiguration, { ...configuration, webhooks });
    await round(1);
    expect(await injected()).toBe(one.certificates.caBundle);
  });

  it('are trusted at every moment of hours of rotations, by an API server that is one look behind', {
    timeout: 300_000,
  }, async () => {
    const replicas = [await replica(), await replica()];
    await round(2);
    let random = 7;
    const below = (limit: number): number => (random = (random * 48_271) % 0x7fffffff) % limit;
    let behind = await injected();
    const [seen, authorities] = [new Set<string>(), new Set<string>()];
    for (let step = 0; step < 400; step++) {
      const harm = below(20);
      if (harm === 0) await client.delete(Secret, key);
      if (harm === 1) await client.update(Secret, { ...(await client.get(Secret, key)), data: {} });
      await round(2, 10_000 + below(50_000));
      const bundle = await injected();
      for (const one of replicas) {
        seen.add(fingerprint(one));
        expect(isTrusted(one, bundle), `step ${step}`).toBe(true);
        expect(isTrusted(one, behind), `step ${step}, behind`).toBe(true);
        expect(new X509Certificate(one.pair.cert).validToDate.getTime()).toBeGreaterThan(clock.now());
      }
      for (const ca of authoritiesIn(bundle)) authorities.add(ca.fingerprint256);
      expect(authoritiesIn(bundle).length).toBeLessThanOrEqual(2);
      behind = bundle;
    }
    // More than three hours: both were rotated more than once.
    expect(seen.size).toBeGreaterThan(6);
    expect(authorities.size).toBeGreaterThan(2);
  });

  it.each([
    [{ service: undefined }, 'there is no name for the certificate'],
    [{ overlapMs: 20 * minute }, 'overlapMs 1200000 is not valid'],
    [{ servingValidityMs: 0 }, 'servingValidityMs 0 is not valid'],
  ])('refuse the options %j', (options, message) => {
    const whole = {
      client,
      secret: key,
      service: { name: 'op', namespace: 'default' },
      servingValidityMs: 30 * minute,
      overlapMs: minute,
    };
    expect(() => createSelfManagedCertificates({ ...whole, ...options } as SelfManagedCertificatesOptions)).toThrow(
      message,
    );
  });

  it('need rights by name alone', () => {
    expect(
      certificateRules({ secret: key, inject: { validating: ['op-validating'], crds: ['widgets.ex.io'] } }),
    ).toEqual({
      role: [
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['serving'], verbs: ['get', 'update'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      ],
      clusterRole: [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations'],
          resourceNames: ['op-validating'],
          verbs: ['get', 'update'],
        },
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
          resourceNames: ['widgets.ex.io'],
          verbs: ['get', 'update'],
        },
      ],
    });
  });
});
