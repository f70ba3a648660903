import { isNotFound } from '@kctl/apimachinery';
import { Pod, ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { beforeAll, describe, expect } from 'vitest';
import { strategicPatch } from '../patch.js';
import { needs } from './case.js';
import type { SkipReasons } from './case.js';
import type { ConformanceContext } from './context.js';

/** Subresources that act on their object, and are answered with something else than it. */
export function subresourceCases(context: ConformanceContext, reasons: SkipReasons): void {
  const { namespace } = context;
  const its = needs(reasons, 'actions');
  const serviceAccountName = context.name();

  const createPod = async (): Promise<string> => {
    const name = context.name();
    await context.client.create(Pod, {
      metadata: { namespace, name },
      spec: {
        serviceAccountName,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'example.com/image:1' }],
      },
    });
    return name;
  };

  describe('subresources that act', () => {
    beforeAll(async () => {
      if (reasons.actions !== undefined && reasons.token !== undefined) return;
      await context.client.create(ServiceAccount, { metadata: { namespace, name: serviceAccountName } });
    });

    needs(reasons, 'token')('token: issues one, and stores nothing', async () => {
      const tokens = context.client.subResource(ServiceAccount, 'token');
      const key = { namespace, name: serviceAccountName };
      const { status } = await tokens.create(key, {
        metadata: {},
        spec: { audiences: ['conformance'], expirationSeconds: 600 },
      });
      expect(status?.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(Date.parse(status?.expirationTimestamp ?? '')).toBeGreaterThan(0);
      const missing = { namespace, name: context.name() };
      await expect(tokens.create(missing, { metadata: {}, spec: { audiences: [] } })).rejects.toSatisfy(isNotFound);
    });

    its('binding: puts a pod on a node, once', async () => {
      const name = await createPod();
      const bindings = context.client.subResource(Pod, 'binding');
      const binding = { metadata: { name, namespace }, target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' } };
      await bindings.create({ namespace, name }, binding);
      expect((await context.client.get(Pod, { namespace, name }, { live: true })).spec?.nodeName).toBe('node-1');
      const other = { ...binding, target: { ...binding.target, name: 'node-2' } };
      await expect(bindings.create({ namespace, name }, other)).rejects.toMatchObject({ httpCode: 409 });
    });

    its('eviction: removes a pod', async () => {
      const name = await createPod();
      const evictions = context.client.subResource(Pod, 'eviction');
      await evictions.create({ namespace, name }, { metadata: { namespace, name } });
      await expect(context.client.get(Pod, { namespace, name }, { live: true })).rejects.toSatisfy(isNotFound);
    });

    its('ephemeralcontainers: adds one to a pod', async () => {
      const name = await createPod();
      const added = await context.client
        .subResource(Pod, 'ephemeralcontainers')
        .patch(
          { namespace, name },
          strategicPatch({ spec: { ephemeralContainers: [{ name: 'debug', image: 'example.com/debug:1' }] } }),
        );
      expect(added.spec?.ephemeralContainers).toMatchObject([{ name: 'debug' }]);
    });
  });
}
