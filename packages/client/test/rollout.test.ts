import { StatusError } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { DaemonSet, Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { Client } from '../src/index.js';
import {
  isRolloutStalled,
  pauseRollout,
  restartRollout,
  resumeRollout,
  RolloutStalledError,
  undoRollout,
  waitForRollout,
} from '../src/operations/index.js';
import type { RolloutStatus } from '../src/operations/index.js';

const key = { namespace: 'shop', name: 'web' };
const metadata = { ...key, uid: 'u', resourceVersion: '1', generation: 1 };

/** A client with one workload and what records its past, and the calls that it had. */
function workload({
  object = { metadata, spec: {} },
  past = [],
}: {
  readonly object?: object;
  readonly past?: readonly object[];
} = {}) {
  const calls: unknown[][] = [];
  const stub = {
    get: async (kind: Kind, named: object, options: object) => {
      calls.push(['get', kind.kind, named, options]);
      return object;
    },
    list: async (kind: Kind, options: object) => {
      calls.push(['list', kind.kind, options]);
      return { metadata: {}, items: past };
    },
    patch: async (kind: Kind, named: object, patch: object, options: object) => {
      calls.push(['patch', kind.kind, named, patch, options]);
      return object;
    },
  };
  const patches = () => calls.filter(([verb]) => verb === 'patch').map(([, , , patch]) => patch);
  return { client: stub as unknown as Client, calls, patches };
}
const owner = (uid = 'u', controller: boolean | undefined = true): object => ({ uid, controller, name: 'web' });

describe('undoRollout of a Deployment', () => {
  const template = (image: string, labels: object = {}): object => ({
    metadata: { labels: { app: 'web', ...labels }, annotations: { note: image } },
    spec: { containers: [{ name: 'main', image }] },
  });
  const replicaSet = (revision: string | undefined, image: string, ownerReferences: unknown = [owner()]): object => ({
    metadata: {
      namespace: 'shop',
      name: `web-${image}`,
      ownerReferences,
      ...(revision === undefined ? {} : { annotations: { 'deployment.kubernetes.io/revision': revision } }),
    },
    spec: { template: template(image, { 'pod-template-hash': image }) },
  });
  /** Revisions sort as numbers, and only sets that the Deployment controls are its own. */
  const past = [
    replicaSet('10', 'now'),
    replicaSet('9', 'before'),
    replicaSet('2', 'old'),
    replicaSet('12', 'other', [owner('other')]),
    replicaSet('13', 'unowned', []),
    replicaSet('14', 'held', [owner('u', false)]),
    replicaSet('8', 'shared', [owner('x', false), owner()]),
  ];
  const back = (image: string): object => ({
    type: 'json',
    operations: [{ op: 'add', path: '/spec/template', value: template(image) }],
  });

  it.each([
    ['the revision before the present one', {}, 9, 'before'],
    ['the one before, for 0 as for kubectl', { toRevision: 0 }, 9, 'before'],
    ['a revision by its number', { toRevision: 2 }, 2, 'old'],
    ['a revision with several owners', { toRevision: 8 }, 8, 'shared'],
  ])('goes back to %s', async (_what, options, revision, image) => {
    const { client, calls, patches } = workload({ past });
    const { signal } = new AbortController();
    const given = { fieldOwner: 'me', signal };
    expect(await undoRollout(client, Deployment, key, { ...options, ...given })).toBe(revision);
    expect(patches()).toEqual([back(image)]);
    expect(calls).toEqual([
      ['get', 'Deployment', key, { live: true, signal }],
      ['list', 'ReplicaSet', { namespace: 'shop', live: true, signal }],
      ['patch', 'Deployment', key, back(image), given],
    ]);
  });

  it('reads without a signal if there is none', async () => {
    const { client, calls } = workload({ past });
    await undoRollout(client, Deployment, key);
    expect(calls.slice(0, 2)).toStrictEqual([
      ['get', 'Deployment', key, { live: true }],
      ['list', 'ReplicaSet', { namespace: 'shop', live: true }],
    ]);
  });

  it.each([
    ['a revision that it has not', past, { toRevision: 7 }, 'Deployment web has no revision 7: it has 2, 8, 9, 10'],
    ['any revision without a past', [], { toRevision: 1 }, 'Deployment web has no revision 1: it has none'],
    ['the one before the first', [replicaSet('1', 'now')], {}, 'Deployment web has no earlier revision'],
    ['the same for 0', [replicaSet('1', 'now')], { toRevision: 0 }, 'Deployment web has no earlier revision'],
  ])('refuses %s', async (_what, known, options, message) => {
    const { client, patches } = workload({ past: known });
    const undo = undoRollout(client, Deployment, key, options);
    await expect(undo).rejects.toThrow(`undoRollout: ${message}`);
    await expect(undo).rejects.toBeInstanceOf(RangeError);
    expect(patches()).toEqual([]);
  });

  it('changes nothing if the revision is the present one, or the Deployment is paused', async () => {
    const present = workload({ past });
    expect(await undoRollout(present.client, Deployment, key, { toRevision: 10 })).toBe(0);
    const paused = workload({ past, object: { metadata, spec: { paused: true } } });
    await expect(undoRollout(paused.client, Deployment, key)).rejects.toThrow('Deployment web is paused: resume it');
    expect([...present.patches(), ...paused.patches()]).toEqual([]);
  });

  it('counts a set without a number as the oldest, also without a template', async () => {
    const { client, patches } = workload({
      past: [{ metadata: { ownerReferences: [owner()] } }, replicaSet('1', 'now')],
    });
    expect(await undoRollout(client, Deployment, key)).toBe(0);
    expect(patches()).toEqual([
      { type: 'json', operations: [{ op: 'add', path: '/spec/template', value: { metadata: { labels: {} } } }] },
    ]);
  });

  it('takes a template without metadata for one without labels', async () => {
    const { client, patches } = workload({
      past: [{ metadata: { ownerReferences: [owner()] }, spec: { template: { spec: {} } } }, replicaSet('1', 'now')],
    });
    expect(await undoRollout(client, Deployment, key)).toBe(0);
    expect(patches()).toMatchObject([{ operations: [{ value: { metadata: { labels: {} }, spec: {} } }] }]);
  });
});

it.each([StatefulSet, DaemonSet])('undoRollout of a $kind applies what its ControllerRevision holds', async (kind) => {
  const data = { spec: { template: { $patch: 'replace', spec: {} } } };
  const past = [
    { metadata: { ownerReferences: [owner()] }, revision: 3, data: {} },
    { metadata: { ownerReferences: [owner()] }, revision: 2, data },
    { metadata: { ownerReferences: [owner()] }, data: 'no object' },
    { metadata: { ownerReferences: [owner('other')] }, revision: 4, data: {} },
  ];
  const { client, calls, patches } = workload({ past });
  expect(await undoRollout(client, kind, key)).toBe(2);
  expect(await undoRollout(client, kind, key, { toRevision: 2 })).toBe(2);
  expect(patches()).toEqual([
    { type: 'strategic', body: data },
    { type: 'strategic', body: data },
  ]);
  expect(calls[1]).toEqual(['list', 'ControllerRevision', { namespace: 'shop', live: true }]);
  await expect(undoRollout(client, kind, key, { toRevision: 4 })).rejects.toThrow('it has 0, 2, 3');
});

it('restarts, pauses and resumes as kubectl does', async () => {
  const { client, calls } = workload();
  const clock = new FakeClock({ now: Date.parse('2026-02-03T04:05:06.789Z') });
  const { signal } = new AbortController();
  await restartRollout(client, DaemonSet, key, { clock, fieldOwner: 'me', signal });
  await pauseRollout(client, key, { signal });
  await resumeRollout(client, key, { signal });
  const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-02-03T04:05:06Z' };
  const merge = (spec: object): object => ({ type: 'merge', body: { spec } });
  expect(calls).toEqual([
    ['patch', 'DaemonSet', key, merge({ template: { metadata: { annotations } } }), { fieldOwner: 'me', signal }],
    ['patch', 'Deployment', key, merge({ paused: true }), { signal }],
    ['patch', 'Deployment', key, merge({ paused: null }), { signal }],
  ]);
});

describe('waitForRollout', () => {
  const rollout = (updatedReplicas: number, more: object = {}): object => ({
    metadata,
    spec: { replicas: 2 },
    status: { observedGeneration: 1, replicas: 2, updatedReplicas, availableReplicas: updatedReplicas, ...more },
  });
  const states = (...all: (object | undefined)[]): Client => {
    const get = async () => {
      const state = all.length > 1 ? all.shift() : all[0];
      if (state === undefined) throw new StatusError({ code: 404, reason: 'NotFound', message: 'gone' });
      return state;
    };
    return { get } as unknown as Client;
  };
  const run = async (client: Client, options: object = {}) => {
    const clock = new FakeClock();
    const outcome = waitForRollout(client, Deployment, key, { clock, ...options }).then(
      (value) => value,
      (error: unknown) => error,
    );
    for (let turn = 0; turn < 5; turn++) {
      await settle();
      await clock.advance(1_000);
    }
    return await outcome;
  };

  it('reports each status once and returns the object of the last', async () => {
    const steps: RolloutStatus[] = [];
    const last = rollout(2);
    const client = states(rollout(0), rollout(1), rollout(1), last);
    expect(await run(client, { onProgress: (status: RolloutStatus) => steps.push(status) })).toBe(last);
    const under = (count: number) => ({
      isDone: false,
      isStalled: false,
      message: `Waiting for deployment "web" rollout to finish: ${count} out of 2 new replicas have been updated...`,
    });
    const done = { isDone: true, isStalled: false, message: 'deployment "web" successfully rolled out' };
    expect(steps).toEqual([under(0), under(1), done]);
    expect(await run(states(rollout(0), last))).toBe(last);
  });

  const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  const deleting = { ...rollout(2), metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  it.each([
    ['it is stalled', states(rollout(1, { conditions })), 'deployment "web" exceeded its progress deadline'],
    ['it does not exist', states(undefined), 'Deployment web does not exist, or is being deleted'],
    ['it is being deleted', states(deleting), 'Deployment web does not exist, or is being deleted'],
    ['it is deleted meanwhile', states(rollout(1), undefined), 'Deployment web does not exist, or is being deleted'],
  ])('rejects if %s', async (_what, client, message) => {
    const error = await run(client);
    expect(error).toMatchObject({ name: 'RolloutStalledError', code: 'KCTL_ROLLOUT_STALLED', message });
    expect(isRolloutStalled(error)).toBe(true);
  });

  it('rejects with an error that is recognized, also from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { code: 'KCTL_ROLLOUT_STALLED' });
    expect([new RolloutStalledError('x'), foreign].map(isRolloutStalled)).toEqual([true, true]);
    const others = [
      new Error('x'),
      Object.assign(new Error('x'), { code: 'E' }),
      { code: 'KCTL_ROLLOUT_STALLED' },
      null,
    ];
    expect(others.map(isRolloutStalled)).toEqual([false, false, false, false]);
  });
});
