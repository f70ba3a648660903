import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { harness, type Harness } from './harness.js';

const core = '/api/v1/namespaces/default';
const claims = `${core}/persistentvolumeclaims`;
const pods = `${core}/pods`;
const volumes = '/api/v1/persistentvolumes';

const claim = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const pod = (name: string, nodeName: string | undefined, volume: object) => ({
  metadata: { name },
  spec: { ...(nodeName !== undefined && { nodeName }), containers: [{ name: 'c', image: 'i' }], volumes: [volume] },
});
const of = (claimName: string) => ({ name: 'v', persistentVolumeClaim: { claimName } });

async function made(h: Harness, path: string, body: unknown): Promise<any> {
  const answer = await h.post(path, body);
  expect(answer.status).toBe(201);
  return answer.body;
}

/** Deletes an object, and returns the finalizers that it has once the controllers had their turn; undefined if it is gone. */
async function heldBy(h: Harness, path: string): Promise<string[] | undefined> {
  await h.delete(path);
  return finalizersOf(h, path);
}

async function finalizersOf(h: Harness, path: string): Promise<string[] | undefined> {
  for (let turn = 0; turn < 5; turn++) await settle();
  const { status, body } = await h.get(path);
  return status === 404 ? undefined : (body.metadata.finalizers ?? []);
}

const protectedClaim = ['kubernetes.io/pvc-protection'];

describe('the protection of volumes', () => {
  it('lets a claim go at once that nothing uses', async () => {
    const h = await harness();
    expect((await made(h, claims, claim('a'))).metadata.finalizers).toEqual(protectedClaim);
    expect(await heldBy(h, `${claims}/a`)).toBeUndefined();
  });

  it('keeps a claim while a pod on a node uses it, finished or not, and lets it go with the pod', async () => {
    const h = await harness();
    await made(h, claims, claim('a'));
    await made(h, pods, pod('p', 'node', of('a')));
    expect(await heldBy(h, `${claims}/a`)).toEqual(protectedClaim);
    await h.merge(`${pods}/p/status`, { status: { phase: 'Succeeded' } });
    expect(await finalizersOf(h, `${claims}/a`)).toEqual(protectedClaim);
    await h.delete(`${pods}/p`, { gracePeriodSeconds: 0 });
    expect(await finalizersOf(h, `${claims}/a`)).toBeUndefined();
  });

  it('does not keep a claim for a pod that is on no node, or uses another one', async () => {
    const h = await harness();
    await made(h, claims, claim('a'));
    await made(h, pods, pod('pending', undefined, of('a')));
    await made(h, pods, pod('other', 'node', of('b')));
    expect(await heldBy(h, `${claims}/a`)).toBeUndefined();
  });

  it('keeps the claim of an ephemeral volume for its pod alone', async () => {
    const h = await harness();
    const template = { spec: claim('').spec };
    const ephemeral = { name: 'v', ephemeral: { volumeClaimTemplate: template } };
    const { uid } = (await made(h, pods, pod('p', 'node', ephemeral))).metadata;
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true };
    await made(h, claims, claim('p-v', { ownerReferences: [{ ...owner, uid }] }));
    expect(await heldBy(h, `${claims}/p-v`)).toEqual(protectedClaim);
    await h.delete(`${pods}/p`, { gracePeriodSeconds: 0 });
    expect(await finalizersOf(h, `${claims}/p-v`)).toBeUndefined();
    await made(h, pods, pod('q', 'node', ephemeral));
    await made(h, claims, claim('q-v'));
    expect(await heldBy(h, `${claims}/q-v`)).toBeUndefined();
  });

  it('keeps other finalizers of a claim', async () => {
    const h = await harness();
    await made(h, claims, claim('a', { finalizers: ['kctl.test/f'] }));
    expect(await heldBy(h, `${claims}/a`)).toEqual(['kctl.test/f']);
  });

  it('keeps a volume while it is bound', async () => {
    const h = await harness();
    const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } };
    const { metadata } = await made(h, volumes, { metadata: { name: 'v' }, spec });
    expect(metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await h.merge(`${volumes}/v/status`, { status: { phase: 'Bound' } });
    expect(await heldBy(h, `${volumes}/v`)).toEqual(['kubernetes.io/pv-protection']);
    await h.merge(`${volumes}/v/status`, { status: { phase: 'Released' } });
    expect(await finalizersOf(h, `${volumes}/v`)).toBeUndefined();
  });

  it('is not there without its controller', async () => {
    const h = await harness({ controllers: { volumeProtection: false } });
    await made(h, claims, claim('a'));
    expect(await heldBy(h, `${claims}/a`)).toEqual(protectedClaim);
  });
});
