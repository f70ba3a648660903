import { StatusError } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { installCrds, type CrdClient } from './install-crds.js';

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const established = {
  metadata: { name: 'widgets.example.com', resourceVersion: '1' },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};
const there = new StatusError({ code: 409, reason: 'AlreadyExists' });
const conflict = new StatusError({ code: 409, reason: 'Conflict' });

/** A server that has the definition, and refuses that many updates with a conflict. */
function serverWith(conflicts: number, create: CrdClient['create']): { client: CrdClient; updates: () => number } {
  let updates = 0;
  const client = {
    create,
    get: () => Promise.resolve(established),
    update: () => (++updates > conflicts ? Promise.resolve(established) : Promise.reject(conflict)),
  };
  return { client: client as never, updates: () => updates };
}

describe('installCrds', () => {
  it('waits for a create that is slow, and reports no change by others', async () => {
    const clock = new FakeClock();
    const slow = async (): Promise<never> => {
      await new Promise<void>((resolve) => void clock.setTimer(resolve, 45_000));
      throw there;
    };
    const { client, updates } = serverWith(0, slow);
    const installed = installCrds(client, crd as never, { clock });
    await clock.advance(45_000);
    await installed;
    expect(updates()).toBe(1);
  });

  it('tries again after conflicts, and names the definition that keeps changing', async () => {
    const clock = new FakeClock();
    const some = serverWith(19, () => Promise.reject(there));
    const installed = installCrds(some.client, crd as never, { clock });
    await clock.advance(60_000);
    await installed;
    const many = serverWith(Infinity, () => Promise.reject(there));
    const refused = expect(installCrds(many.client, crd as never, { clock })).rejects.toThrow(
      'CustomResourceDefinition widgets.example.com keeps changing: 20 updates were refused with a conflict',
    );
    await clock.advance(60_000);
    await refused;
    expect([some.updates(), many.updates()]).toEqual([20, 20]);
  });
});
