import { access } from 'node:fs/promises';
import { isInvalid } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createEnvironment } from './environment.js';
import { eventually } from './eventually.js';

const crd: CustomResourceDefinition = {
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('createEnvironment', () => {
  it('starts a server, makes namespaces, and leaves nothing behind', async () => {
    const environment = await createEnvironment({ server: 'embedded' });
    const namespace = await environment.createNamespace('suite');
    expect(namespace).toMatch(/^suite-/);
    await environment.client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    expect((await environment.client.list(ConfigMap, { namespace })).items).toHaveLength(1);
    await environment.stop();
    await environment.stop();
    await expect(access(environment.kubeconfigPath)).rejects.toThrow();
  });

  it('installs CRDs, also over older ones, and waits until they are established', async () => {
    await using environment = await createEnvironment({ server: 'embedded', crds: [crd] });
    await environment.installCrds([{ ...crd, metadata: { ...crd.metadata, labels: { again: 'yes' } } }]);
    const installed = await environment.client.get(CustomResourceDefinition, { name: 'widgets.ex.io' });
    expect(installed.metadata.labels).toEqual({ again: 'yes' });
    expect(installed.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Established', status: 'True' }),
    );
  });

  it('stops what it started when a CRD is refused', async () => {
    const wrong = { ...crd, metadata: { name: 'wrong' } };
    const failure = await createEnvironment({ server: 'embedded', crds: [wrong] }).catch((error: unknown) => error);
    expect(isInvalid(failure)).toBe(true);
  });

  it('refuses an unknown server by name', async () => {
    const before = process.env['KCTL_TEST_SERVER'];
    process.env['KCTL_TEST_SERVER'] = 'imaginary';
    try {
      await expect(createEnvironment()).rejects.toThrow(
        'KCTL_TEST_SERVER "imaginary" is not known: use embedded, real or existing',
      );
    } finally {
      if (before === undefined) delete process.env['KCTL_TEST_SERVER'];
      else process.env['KCTL_TEST_SERVER'] = before;
    }
  });
});

describe('eventually', () => {
  it('returns what the assertion returns once it holds', async () => {
    let tries = 0;
    const value = await eventually(() => {
      if (++tries < 3) throw new Error('not yet');
      return tries;
    });
    expect(value).toBe(3);
  });

  it('fails with the last error and how long was waited', async () => {
    const clock = new FakeClock();
    const failing = eventually(() => expect(1).toBe(2), { clock, timeoutMs: 100, intervalMs: 50 }).catch(
      (error: unknown) => error,
    );
    await clock.advance(200);
    expect(String(await failing)).toContain('after 100 ms: expected 1 to be 2');
    expect(clock.pendingTimers).toBe(0);
  });
});
