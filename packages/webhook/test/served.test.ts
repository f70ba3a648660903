/** Webhooks as an API server calls them: on the embedded server, and (KCTL_TEST_SERVER=real) on a real one. */
import { isInvalid, isStatusError } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  applyWebhookManifests,
  createSelfManagedCertificates,
  createWebhookServer,
  defaultingWebhook,
  invalidError,
  invalidField,
  validatingWebhook,
  webhookConfigurations,
  type SelfManagedCertificates,
  type WebhookServer,
} from '../src/index.js';
import { Widget } from './fixtures.js';

const crd: CustomResourceDefinition = {
  metadata: { name: `widgets.${Widget.group}` },
  spec: {
    group: Widget.group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      {
        name: Widget.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

let environment: TestEnvironment;
let namespace: string;
let stop: AbortController;
let running: Promise<void>[];

beforeAll(async () => {
  environment = await createEnvironment({ crds: [crd] });
  namespace = await environment.createNamespace('served');
});

afterAll(() => environment[Symbol.asyncDispose]());

afterEach(async () => {
  stop.abort();
  await Promise.all(running);
});

async function start(server: WebhookServer): Promise<void> {
  running.push(server.run(stop.signal));
  await eventually(() => {
    expect(server.port).toBeTypeOf('number');
  });
}

const widget = (name: string, size?: number) => ({
  metadata: { name, namespace },
  spec: size === undefined ? {} : { size },
});

const defaulter = defaultingWebhook(Widget, (object) => {
  object.spec.size ??= 3;
});
const validator = validatingWebhook(Widget, {
  validateCreate: ({ metadata: { name = '' }, spec }, { warn }) => {
    const { size = 0 } = spec;
    if (size > 4) warn('size 5 is the limit');
    if (size > 5) throw invalidError(Widget, name, [invalidField('spec.size', size, 'must not exceed 5')]);
    return undefined;
  },
});

describe('webhooks that an API server calls', () => {
  it('default, deny with causes and warnings, and see dry runs', async () => {
    stop = new AbortController();
    running = [];
    const serving = await environment.prepareWebhooks();
    const server = createWebhookServer({ host: serving.host, port: serving.port, certDir: serving.certDir });
    server.register('/default', defaulter);
    server.register('/validate', validator);
    await start(server);
    const address = { service: { name: 'operator', namespace: 'operators' } };
    await environment.installWebhooks(webhookConfigurations(server.webhooks ?? [], { name: 'served', address }));
    const { client } = environment;
    const made = await client.create(Widget, widget('a'));
    expect(made.spec.size).toBe(3);
    const denied: unknown = await client.create(Widget, widget('b', 6)).catch((error: unknown) => error);
    expect(isInvalid(denied)).toBe(true);
    expect(isStatusError(denied) && denied.status.details?.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: 6: must not exceed 5', field: 'spec.size' },
    ]);
    expect((await client.create(Widget, widget('c'), { dryRun: true })).spec.size).toBe(3);
    await client.delete(MutatingWebhookConfiguration, { name: 'served-mutating' });
    await client.delete(ValidatingWebhookConfiguration, { name: 'served-validating' });
  });

  it('are trusted by a Secret that replicas race for, and that is restored after it was deleted', async () => {
    stop = new AbortController();
    running = [];
    const { client } = environment;
    const secret = { name: 'serving', namespace };
    const certificatesOf = (): SelfManagedCertificates =>
      createSelfManagedCertificates({
        client,
        secret,
        dnsNames: ['localhost'],
        inject: { validating: ['raced-validating'] },
        checkIntervalMs: 50,
      });
    const replicas = [certificatesOf(), certificatesOf()].map((certificate) => {
      const server = createWebhookServer({ host: 'localhost', port: 0, certificate });
      server.register('/validate', validator);
      return { certificate, server };
    });
    const [first, second] = replicas;
    if (first === undefined || second === undefined) throw new TypeError('two replicas');
    const pointTo = async ({ server }: typeof first): Promise<void> => {
      const address = { url: `https://localhost:${String(server.port)}` };
      const manifests = webhookConfigurations(server.webhooks ?? [], {
        name: 'raced',
        address,
        operatorNamespace: 'operators',
      });
      await applyWebhookManifests(client, manifests, { fieldOwner: 'test' });
    };
    const isDenied = async (): Promise<void> => {
      const denied: unknown = await client.create(Widget, widget('d', 6), { dryRun: true }).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(isInvalid(denied), String(denied)).toBe(true);
    };
    // The configuration has to be there before the authority can be written into it; until then the servers wait.
    const manifests = webhookConfigurations(first.server.webhooks ?? [], {
      name: 'raced',
      address: { url: 'https://localhost:1' },
      operatorNamespace: 'operators',
    });
    await applyWebhookManifests(client, manifests, { fieldOwner: 'test' });
    await Promise.all(replicas.map(({ server }) => start(server)));
    await eventually(() => {
      expect(first.certificate.caBundle).toBeDefined();
      expect(second.certificate.caBundle).toBe(first.certificate.caBundle);
    });
    await pointTo(first);
    await eventually(isDenied);
    await pointTo(second);
    await eventually(isDenied);
    await client.delete(Secret, secret);
    await eventually(async () => {
      const restored = await client.get(Secret, secret, { live: true });
      expect(restored.data).toBeDefined();
    });
    await eventually(isDenied);
    if (environment.embedded !== undefined) {
      await environment.embedded.stop();
      await environment.embedded.start();
      await eventually(isDenied);
    }
    await client.delete(ValidatingWebhookConfiguration, { name: 'raced-validating' });
  });
});
