import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { isDeadlineExceeded } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Scale } from '@kctl/apimachinery/kinds/autoscaling/v1';
import { describeObject, mergePatch, strategicPatch, waitFor } from '../src/index.js';
import type { Client, NamespacedClient, WaitTarget } from '../src/index.js';
import { createMemoryClient } from './memory-client.js';

const key = { namespace: 'default', name: 'web-0' };

describe('waitFor, as kubectl wait has it', () => {
  const clock = new FakeClock();
  /** Whether a target holds of a status. */
  const holds = async (target: WaitTarget, status: object): Promise<boolean> => {
    const client = createMemoryClient();
    await client.create(Pod, { metadata: key, spec: { containers: [] } });
    await client.status(Pod).patch(key, { type: 'merge', body: { status } });
    const done = waitFor(client, Pod, key, { ...target, timeoutMs: 10, clock });
    const outcome = done.then(
      () => true,
      (error: unknown) => {
        if (!isDeadlineExceeded(error)) throw error;
        return false;
      },
    );
    for (let turn = 0; turn < 20; turn++) await clock.advance(10);
    return await outcome;
  };
  const condition = (type: string, status: string, observedGeneration?: number) => ({
    conditions: [{ type, status, ...(observedGeneration === undefined ? {} : { observedGeneration }) }],
  });

  it.each([
    [{ condition: 'Ready' }, condition('Ready', 'True'), true],
    [{ condition: 'ready' }, condition('Ready', 'True'), true],
    [{ condition: 'Ready' }, condition('Ready', 'False'), false],
    [{ condition: 'Ready=false' }, condition('Ready', 'False'), true],
    [{ condition: 'Ready' }, condition('Ready', 'True', 0), false],
    [{ condition: 'Ready' }, {}, false],
    [{ jsonPath: '{.status.phase}=Running' }, { phase: 'Running' }, true],
    [{ jsonPath: '.status.phase=Running' }, { phase: 'Running' }, true],
    [{ jsonPath: '{.status.phase}=Running' }, { phase: 'Pending' }, false],
    [{ jsonPath: '{.status.podIP}' }, { podIP: '10.0.0.1' }, true],
    [{ jsonPath: '{.status.podIP}' }, {}, false],
    [{ jsonPath: '{.status.conditions[?(@.type=="Ready")].status}=True' }, condition('Ready', 'True'), true],
    [{ jsonPath: '{.status.conditions[*].status}=True' }, {}, false],
    [{ jsonPath: '{.status}=x' }, { phase: 'Running' }, false],
    [{ jsonPath: '{.status}=[object Object]' }, { phase: 'Running' }, false],
    [{ jsonPath: '{.status.list}=a' }, { list: ['a'] }, false],
    [{ jsonPath: '{.status.list[*]}=a' }, { list: ['a', 'b'] }, false],
    [{ jsonPath: '{.status.list[*]}=a' }, { list: ['a'] }, true],
    [{ created: true }, {}, true],
    [{ deleted: true }, {}, false],
  ] as const)('%j of %j: %s', async (target, status, expected) => {
    expect(await holds(target, status)).toBe(expected);
  });

  it('says in its error what was waited for', async () => {
    for (const [target, shown] of [
      [{ condition: 'Ready' }, ' (condition Ready)'],
      [{ jsonPath: '{.a}=b' }, ' (jsonPath {.a}=b)'],
      [{ jsonPath: '{.a}' }, ' (jsonPath {.a})'],
      [{ created: true }, ' (created)'],
    ] as const) {
      const waiting = waitFor(createMemoryClient(), Pod, key, { ...target, timeoutMs: 5, clock });
      const failure = expect(waiting).rejects.toThrow(`Pod web-0 was not as wanted${shown} within 5 ms`);
      for (let turn = 0; turn < 20; turn++) await clock.advance(10);
      await failure;
    }
  });
});

describe('typed bodies', () => {
  it('of patches are checked against the kind, and sent as they are', () => {
    expect(mergePatch(ConfigMap, { data: { a: null } })).toEqual({ type: 'merge', body: { data: { a: null } } });
    expect(mergePatch({ any: 1 })).toEqual({ type: 'merge', body: { any: 1 } });
    const body = {
      spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' as const }] } } },
    };
    expect(strategicPatch(Deployment, body)).toEqual({ type: 'strategic', body });
    // @ts-expect-error: replicas is a number
    mergePatch(Deployment, { spec: { replicas: '3' } });
    // @ts-expect-error: there is no such directive
    strategicPatch(Deployment, { spec: { template: { spec: { containers: [{ name: 'a', $patch: 'remove' }] } } } });
  });

  it('of subresources follow from their names, and can be named', () => {
    const check = async (client: Client, namespaced: NamespacedClient): Promise<void> => {
      const scales = client.subResource(Deployment, 'scale');
      expectTypeOf(await scales.get(key)).toEqualTypeOf<Scale>();
      expectTypeOf(await namespaced.subResource(Deployment, 'scale').get({ name: 'web' })).toEqualTypeOf<Scale>();
      expectTypeOf(await client.subResource(Pod, 'ephemeralcontainers').get(key)).toHaveProperty('spec');
      expectTypeOf(await client.subResource<typeof Pod, { readonly own: 1 }>(Pod, 'own').get(key)).toEqualTypeOf<{
        readonly own: 1;
      }>();
      // @ts-expect-error: replicas is a number
      await scales.update(key, { metadata: key, spec: { replicas: '3' } });
    };
    expect(check).toBeTypeOf('function');
  });
});

describe('describeObject', () => {
  it('says in a few texts how an object is, and nothing of its spec', () => {
    const clock = new FakeClock({ now: Date.parse('2026-01-01T00:03:12Z') });
    const web: Deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        namespace: 'shop',
        name: 'web',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        finalizers: ['example.com/a'],
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: '1' },
          { apiVersion: 'example.com/v1', kind: 'Site', name: 's', uid: '2', controller: true },
          { apiVersion: 'v1', kind: 'Secret', name: 'd', uid: '3' },
        ],
      },
      spec: { replicas: 3, selector: {}, template: {} },
      status: {
        observedGeneration: 3,
        replicas: 3,
        updatedReplicas: 3,
        readyReplicas: 1,
        availableReplicas: 1,
        conditions: [
          { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' },
          { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' },
        ],
      },
    };
    expect(describeObject(web, { clock })).toEqual({
      kind: 'Deployment',
      key: 'shop/web',
      state: 'progressing',
      reason: 'ReplicasUnavailable: 1 of 3 replicas are available',
      replicas: '1/3',
      conditions: 'Available=False (MinimumReplicasUnavailable), Progressing=True',
      generation: '3',
      age: '3m12s',
      finalizers: 'example.com/a',
      owners: 'Site/s, ConfigMap/c, Secret/d',
    });
    const gone = { kind: 'Node', metadata: { name: 'n', deletionTimestamp: '2026-01-01T00:03:00Z' } };
    expect(describeObject(gone, { clock })).toMatchObject({ key: 'n', state: 'progressing', deleting: 'since 12s' });
    expect(describeObject({ metadata: {} })).toEqual({ kind: 'object', key: '', state: 'ready' });
  });
});
