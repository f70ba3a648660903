// What kubectl does to nodes and workloads, against an API server. There are no controllers: the test plays them.
import { isNotFound } from '@kctl/apimachinery';
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace, Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { PodDisruptionBudget } from '@kctl/apimachinery/kinds/policy/v1';
import type { Client } from '@kctl/client';
import { intercept } from '@kctl/client';
import {
  childrenOf,
  cordon,
  drain,
  evict,
  getScale,
  isDrainRefused,
  isRolloutStalled,
  ownersOf,
  pauseRollout,
  restartRollout,
  resumeRollout,
  scale,
  uncordon,
  undoRollout,
  waitForRollout,
} from '@kctl/client/operations';
import type { DrainProgress } from '@kctl/client/operations';
import { createRestMapper } from '@kctl/client-http';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let environment: TestEnvironment;
let client: Client;
let namespace: string;
beforeAll(async () => {
  environment = await createEnvironment({
    embedded: { controllers: { garbageCollection: false } },
    controllerManager: false,
  });
  client = environment.client;
  namespace = await environment.createNamespace('operations');
  // The embedded server's garbage collector takes what names owners that are not there.
  const { metadata } = await client.create(ReplicaSet, {
    metadata: { namespace, name: 'owner' },
    spec: {
      selector: { matchLabels: { app: 'owner' } },
      template: { metadata: { labels: { app: 'owner' } }, spec: { containers: [{ name: 'main', image: 'web' }] } },
    },
  });
  ownerUid = metadata.uid;
});
let ownerUid: string;
afterAll(() => environment.stop());

let serial = 0;
const node = async (): Promise<string> => {
  const name = `node-${++serial}`;
  await client.create(Node, { metadata: { name } });
  return name;
};
type PodObject = Parameters<typeof client.create<typeof Pod>>[1];
const pod = async (nodeName: string, more: Partial<PodObject['metadata']> = {}, spec: object = {}) => {
  const created = await client.create(Pod, {
    metadata: { namespace, name: `pod-${++serial}`, labels: { app: 'web' }, ...more },
    spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'web' }], ...spec },
  });
  return created;
};
const ownedBy = (kind: string, name = 'owner', uid = ownerUid) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});
const exists = (name: string): Promise<boolean> =>
  client.get(Pod, { namespace, name }).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
const quick = { retryMs: 5, pollMs: 5 };

describe('cordon and drain', () => {
  it('cordons and uncordons once', async () => {
    const name = await node();
    const changes = [await cordon(client, name), await cordon(client, name)];
    expect((await client.get(Node, { name })).spec?.unschedulable).toBe(true);
    changes.push(await cordon(client, name, { dryRun: true }), await uncordon(client, name));
    changes.push(await uncordon(client, name));
    expect(changes).toEqual([true, false, false, true, false]);
    expect((await client.get(Node, { name })).spec?.unschedulable).toBeUndefined();
    await expect(cordon(client, 'no-such-node')).rejects.toSatisfy(isNotFound);
  });

  it('evicts what a controller makes anew, and leaves what belongs to the node', async () => {
    const name = await node();
    const other = await node();
    const web = await pod(name, ownedBy('ReplicaSet'));
    const mirror = await pod(name, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    const agent = await client.create(DaemonSet, {
      metadata: { namespace, name: 'agent' },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const daemon = await pod(name, ownedBy('DaemonSet', 'agent', agent.metadata.uid));
    const elsewhere = await pod(other, ownedBy('ReplicaSet'));
    const progress: DrainProgress[] = [];
    const drained = await drain(client, name, {
      ignoreDaemonSets: true,
      onProgress: (step) => progress.push(step),
      ...quick,
    });
    expect(drained.toSorted((a, b) => a.outcome.localeCompare(b.outcome) || a.name.localeCompare(b.name))).toEqual(
      [
        { namespace, name: web.metadata.name, outcome: 'gone' },
        { namespace, name: mirror.metadata.name, outcome: 'skipped', reason: 'mirror pod' },
        { namespace, name: daemon.metadata.name, outcome: 'skipped', reason: 'managed by a DaemonSet' },
      ].toSorted((a, b) => a.outcome.localeCompare(b.outcome) || a.name.localeCompare(b.name)),
    );
    expect(progress.map(({ type }) => type)).toEqual(['cordoned', 'evicting', 'gone']);
    expect((await client.get(Node, { name })).spec?.unschedulable).toBe(true);
    expect([await exists(web.metadata.name), await exists(elsewhere.metadata.name)]).toEqual([false, true]);
  });

  it('refuses what would be lost, names it with the option, and changes nothing', async () => {
    const name = await node();
    const alone = await pod(name);
    const local = await pod(name, ownedBy('ReplicaSet'), { volumes: [{ name: 'scratch', emptyDir: {} }] });
    const orphan = await pod(name, ownedBy('DaemonSet', 'no-such-set'));
    const web = await pod(name, ownedBy('ReplicaSet'));
    const failure: unknown = await drain(client, name, quick).catch((error: unknown) => error);
    if (!isDrainRefused(failure)) throw new Error('not refused', { cause: failure });
    expect(Object.fromEntries(failure.pods.map((refused) => [refused.name, refused.reason]))).toEqual({
      [alone.metadata.name]: 'has no controller that makes it anew: set force to evict it',
      [local.metadata.name]: 'has emptyDir data, which are lost: set deleteEmptyDirData to evict it',
      [orphan.metadata.name]: 'its DaemonSet does not exist: set force to evict it',
    });
    expect((await client.get(Node, { name })).spec?.unschedulable).toBeUndefined();
    expect(await exists(web.metadata.name)).toBe(true);
    await drain(client, name, { force: true, deleteEmptyDirData: true, ...quick });
    expect(await exists(alone.metadata.name)).toBe(false);
  });

  it('takes only pods that match', async () => {
    const name = await node();
    const web = await pod(name, ownedBy('ReplicaSet'));
    const shop = await pod(name, { ...ownedBy('ReplicaSet'), labels: { app: 'shop' } });
    await drain(client, name, { podSelector: 'app=shop', ...quick });
    expect([await exists(web.metadata.name), await exists(shop.metadata.name)]).toEqual([true, false]);
  });

  it('waits while a PodDisruptionBudget refuses, at most until its timeout', async () => {
    const name = await node();
    const guarded = await pod(name, { ...ownedBy('ReplicaSet'), labels: { app: 'guarded' } });
    await client.create(PodDisruptionBudget, {
      metadata: { namespace, name: 'guarded' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    });
    // The parts of the kubelet and of the disruption controller.
    const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.status(Pod).patch(guarded, { type: 'merge', body: { status: running } });
    const counts = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    await client
      .status(PodDisruptionBudget)
      .patch({ namespace, name: 'guarded' }, { type: 'merge', body: { status: counts } });
    const progress: string[] = [];
    const onProgress = ({ type }: DrainProgress): void => void progress.push(type);
    const clock = new FakeClock();
    const refused = expect(drain(client, name, { ...quick, clock, timeoutMs: 100, onProgress })).rejects.toThrow(
      `node ${name} was not drained within 100 ms; it stays cordoned`,
    );
    await eventually(() => expect(progress).toContain('refused'));
    await clock.advance(100);
    await refused;
    expect(await exists(guarded.metadata.name)).toBe(true);
    await expect(evict(client, guarded)).rejects.toMatchObject({
      status: {
        code: 429,
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget guarded needs 1 healthy pods and has 1 currently',
            },
          ],
        },
      },
    });
    const draining = drain(client, name, quick);
    const body = { status: { disruptionsAllowed: 1 } };
    await client.status(PodDisruptionBudget).patch({ namespace, name: 'guarded' }, { type: 'merge', body });
    expect(await draining).toMatchObject([{ outcome: 'gone' }]);
    const { status } = await client.get(PodDisruptionBudget, { namespace, name: 'guarded' });
    expect([status?.disruptionsAllowed, Object.keys(status?.disruptedPods ?? {})]).toEqual([
      0,
      [guarded.metadata.name],
    ]);
  });

  it('evicts the pod that was read, and no later one of its name', async () => {
    const first = await pod(await node());
    await client.delete(Pod, first);
    const { metadata } = await pod('', { name: first.metadata.name });
    await expect(evict(client, first)).rejects.toThrow();
    expect(await exists(metadata.name)).toBe(true);
    await evict(client, metadata, { dryRun: true });
    expect(await exists(metadata.name)).toBe(true);
    await evict(client, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 });
    expect(await exists(metadata.name)).toBe(false);
  });

  it('refuses options that are not valid', async () => {
    await expect(drain(client, 'x', { ignoreDaemonsets: true } as never)).rejects.toThrow(
      'did you mean "ignoreDaemonSets"?',
    );
    await expect(drain(client, 'x', { retryMs: Number.NaN })).rejects.toThrow('retryMs NaN is not valid');
  });
});

const template = (image: string) => ({
  metadata: { labels: { app: 'rolled' } },
  spec: { containers: [{ name: 'main', image }] },
});
const deployment = (name: string, image = 'web:2') =>
  client.create(Deployment, {
    metadata: { namespace, name },
    spec: { replicas: 2, selector: { matchLabels: { app: 'rolled' } }, template: template(image) },
  });

describe('rollouts', () => {
  it('waits for the rollout of what it was told, and shows each step once', async () => {
    await deployment('waited');
    const messages: string[] = [];
    const waiting = waitForRollout(
      client,
      Deployment,
      { namespace, name: 'waited' },
      {
        intervalMs: 5,
        onProgress: ({ message }) => messages.push(message),
      },
    );
    const write = (status: object) =>
      client.status(Deployment).patch({ namespace, name: 'waited' }, { type: 'merge', body: { status } });
    await eventually(() => {
      expect(messages).toHaveLength(1);
    });
    await write({ observedGeneration: 1, replicas: 2, updatedReplicas: 1 });
    await eventually(() => {
      expect(messages).toHaveLength(2);
    });
    await write({ observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 });
    expect((await waiting).metadata.name).toBe('waited');
    expect(messages).toEqual([
      'Waiting for deployment spec update to be observed...',
      'Waiting for deployment "waited" rollout to finish: 1 out of 2 new replicas have been updated...',
      'deployment "waited" successfully rolled out',
    ]);
  });

  it('rejects when the deadline is exceeded or the object does not exist', async () => {
    await deployment('stalled');
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    await client
      .status(Deployment)
      .patch(
        { namespace, name: 'stalled' },
        { type: 'merge', body: { status: { observedGeneration: 1, conditions } } },
      );
    await expect(waitForRollout(client, Deployment, { namespace, name: 'stalled' })).rejects.toSatisfy(
      isRolloutStalled,
    );
    await expect(waitForRollout(client, Deployment, { namespace, name: 'absent' })).rejects.toThrow('does not exist');
  });

  it('restarts, pauses and resumes', async () => {
    const { metadata } = await deployment('restarted');
    const key = { namespace, name: metadata.name };
    await restartRollout(client, Deployment, key, { fieldOwner: 'tester' });
    const { spec } = await client.get(Deployment, key);
    expect(spec?.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt']).toMatch(/^2\d{3}-.*\dZ$/);
    await pauseRollout(client, key);
    expect((await client.get(Deployment, key)).spec?.paused).toBe(true);
    await expect(undoRollout(client, Deployment, key)).rejects.toThrow('is paused');
    await resumeRollout(client, key);
    expect((await client.get(Deployment, key)).spec?.paused).toBeUndefined();
  });

  it('undoes a rollout of a Deployment, to the one before or to a revision', async () => {
    const { metadata } = await deployment('undone', 'web:3');
    const key = { namespace, name: 'undone' };
    for (const [revision, image] of [
      [1, 'web:1'],
      [3, 'web:3'],
      [2, 'web:2'],
    ] as const)
      await client.create(ReplicaSet, {
        metadata: {
          namespace,
          name: `undone-${revision}`,
          annotations: { 'deployment.kubernetes.io/revision': String(revision) },
          ...ownedBy('Deployment', 'undone', metadata.uid),
        },
        spec: {
          selector: { matchLabels: { app: 'rolled', 'pod-template-hash': `h${revision}` } },
          template: {
            ...template(image),
            metadata: { labels: { app: 'rolled', 'pod-template-hash': `h${revision}` } },
          },
        },
      });
    const image = async () => (await client.get(Deployment, key)).spec?.template.spec?.containers[0]?.image;
    expect(await undoRollout(client, Deployment, key)).toBe(2);
    expect(await image()).toBe('web:2');
    expect(await undoRollout(client, Deployment, key, { toRevision: 1 })).toBe(1);
    expect(await image()).toBe('web:1');
    expect((await client.get(Deployment, key)).spec?.template.metadata?.labels).toEqual({ app: 'rolled' });
    expect(await undoRollout(client, Deployment, key, { toRevision: 3 })).toBe(0);
    await expect(undoRollout(client, Deployment, key, { toRevision: 9 })).rejects.toThrow(
      'no revision 9: it has 1, 2, 3',
    );
    await deployment('fresh');
    await expect(undoRollout(client, Deployment, { namespace, name: 'fresh' })).rejects.toThrow('no earlier revision');
  });

  it('undoes a rollout of a StatefulSet by its ControllerRevisions', async () => {
    const key = { namespace, name: 'stateful' };
    const { metadata } = await client.create(StatefulSet, {
      metadata: key,
      spec: { serviceName: 's', selector: { matchLabels: { app: 'rolled' } }, template: template('db:2') },
    });
    for (const revision of [1, 2])
      await client.create(ControllerRevision, {
        metadata: { namespace, name: `stateful-${revision}`, ...ownedBy('StatefulSet', 'stateful', metadata.uid) },
        revision,
        data: { spec: { template: { ...template(`db:${revision}`), $patch: 'replace' } } },
      });
    expect(await undoRollout(client, StatefulSet, key)).toBe(1);
    expect((await client.get(StatefulSet, key)).spec?.template.spec?.containers[0]?.image).toBe('db:1');
  });
});

describe('scale', () => {
  it('reads and writes replicas through the subresource', async () => {
    await deployment('scaled');
    const key = { namespace, name: 'scaled' };
    expect(await getScale(client, Deployment, key)).toEqual({ replicas: 2, current: 0, selector: 'app=rolled' });
    expect(await scale(client, Deployment, key, { replicas: 5 })).toMatchObject({ replicas: 5 });
    expect((await client.get(Deployment, key)).spec?.replicas).toBe(5);
    await expect(scale(client, Deployment, key, { replicas: -1 })).rejects.toThrow('replicas -1 is not valid');
    await expect(scale(client, ConfigMap, key, { replicas: 1 })).rejects.toThrow();
  });
});

describe('owners and children', () => {
  it('are found by uid', async () => {
    const top = await deployment('top');
    const set = await client.create(ReplicaSet, {
      metadata: { namespace, name: 'top-1', ...ownedBy('Deployment', 'top', top.metadata.uid) },
      spec: { selector: { matchLabels: { app: 'rolled' } }, template: template('web') },
    });
    const leaf = await pod('', ownedBy('ReplicaSet', 'top-1', set.metadata.uid));
    const map = await client.create(ConfigMap, {
      metadata: {
        namespace,
        name: 'also',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'top', uid: top.metadata.uid }],
      },
    });
    const resolver = createRestMapper({ transport: environment.client.transport });
    const owners = await ownersOf(client, leaf, { resolver });
    expect(owners.map(({ kind, object }) => `${kind.kind} ${object.metadata.name}`)).toEqual([
      'ReplicaSet top-1',
      'Deployment top',
    ]);
    expect((await childrenOf(client, top, [ReplicaSet, ConfigMap])).map(({ metadata }) => metadata.name)).toEqual([
      'top-1',
    ]);
    const all = await childrenOf(client, top, [ReplicaSet, ConfigMap], { everyOwner: true });
    expect(all.map(({ metadata }) => metadata.name)).toEqual(['top-1', map.metadata.name]);
    await client.delete(ReplicaSet, set, { propagationPolicy: 'Background' });
    expect(await ownersOf(client, leaf, { resolver })).toEqual([]);
    const imposter = await pod('', ownedBy('Deployment', 'top', 'another-uid'));
    expect(await ownersOf(client, imposter, { resolver })).toEqual([]);
    await expect(childrenOf(client, { metadata: { name: 'x' } }, [Pod])).rejects.toThrow('has no uid');
  });

  it('of cluster-scoped owners are looked for everywhere', async () => {
    const owner = await client.create(Namespace, { metadata: { name: `${namespace}-owner` } });
    const child = await client.create(ConfigMap, {
      metadata: {
        namespace,
        name: 'of-namespace',
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Namespace', name: owner.metadata.name, uid: owner.metadata.uid, controller: true },
        ],
      },
    });
    const namespaces: unknown[] = [];
    const watching = intercept(client, (next) => ({
      list: (kind, options) => {
        namespaces.push(options?.namespace);
        return next.list(kind, options);
      },
    }));
    expect((await childrenOf(watching, owner, [ConfigMap])).map(({ metadata }) => metadata.uid)).toEqual([
      child.metadata.uid,
    ]);
    expect(namespaces).toEqual([undefined]);
  });
});
