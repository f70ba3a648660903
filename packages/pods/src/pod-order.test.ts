import { expect, it } from 'vitest';
import { podOrder } from './pod-order.js';
import type { PodUse } from './pod-order.js';
import type { ReadPod } from './read-pod.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

interface Traits {
  readonly nodeName?: string;
  readonly phase?: string;
  readonly ready?: string;
  readonly deleted?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly created?: string;
}

function pod({
  nodeName = 'n',
  phase = 'Running',
  ready,
  deleted,
  restarts = 0,
  sidecarRestarts = 0,
  created = early,
}: Traits): ReadPod {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ready }];
  const state = { image: '', imageID: '', ready: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'd',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: created,
      ...(deleted === undefined ? {} : { deletionTimestamp: deleted }),
    },
    spec: { nodeName, containers: [], initContainers: [{ name: 'side', restartPolicy: 'Always' }] },
    status: {
      phase,
      conditions,
      containerStatuses: [{ name: 'app', restartCount: restarts, ...state }],
      initContainerStatuses: [
        { name: 'init', restartCount: 9, ...state },
        { name: 'side', restartCount: sidecarRestarts, ...state },
      ],
    },
  };
}

const both: readonly PodUse[] = ['logs', 'connection'];

it.each<[string, Traits, Traits, readonly PodUse[]]>([
  ['a pod on a node', { phase: 'Pending' }, { nodeName: '' }, both],
  ['what runs', {}, { phase: 'Unknown' }, both],
  ['what is not known to be pending', { phase: 'Unknown' }, { phase: 'Pending' }, both],
  ['what has ended over what is pending', { phase: 'Failed' }, { phase: 'Pending' }, ['logs']],
  ['what is not known to have ended', { phase: 'Unknown' }, { phase: 'Succeeded' }, ['connection']],
  ['what is ready', { ready: late }, {}, both],
  ['what is not being deleted', {}, { deleted: early }, ['connection']],
  ['what is deleted last', { deleted: late }, { deleted: early }, ['connection']],
  ['what is ready for longer', { ready: early }, { ready: late }, both],
  ['more restarts', { restarts: 2 }, { restarts: 1 }, ['logs']],
  ['fewer restarts', { restarts: 1 }, { restarts: 2 }, ['connection']],
  ['more restarts of a sidecar', { sidecarRestarts: 2 }, { sidecarRestarts: 1 }, ['logs']],
  ['fewer restarts of a sidecar', { sidecarRestarts: 1 }, { sidecarRestarts: 2 }, ['connection']],
  ['what is older', { created: early }, { created: late }, both],
])('prefers %s', (_, better, worse, uses) => {
  for (const use of uses) {
    expect(podOrder(use)(pod(better), pod(worse))).toBeLessThan(0);
    expect(podOrder(use)(pod(worse), pod(better))).toBeGreaterThan(0);
  }
});

it('prefers no pod for its logs because another one is being deleted', () => {
  expect(podOrder('logs')(pod({}), pod({ deleted: early }))).toBe(0);
});
