// Cases after k8s.io/kubectl/pkg/polymorphichelpers/rollout_status_test.go.
import { DaemonSet, Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { describe, expect, it } from 'vitest';
import { rolloutStatus } from '../src/operations/index.js';

const metadata = { name: 'foo', namespace: 'bar', uid: 'u', resourceVersion: '1', generation: 1 };

const onDelete = 'rollout status is only available for RollingUpdate strategy type';

describe('rolloutStatus', () => {
  it.each([
    [{ observedGeneration: 0 }, 10, 'Waiting for deployment spec update to be observed...', false],
    [
      { replicas: 10, updatedReplicas: 0, availableReplicas: 0 },
      10,
      'Waiting for deployment "foo" rollout to finish: 0 out of 10 new replicas have been updated...',
      false,
    ],
    [
      { replicas: 10, updatedReplicas: 2, availableReplicas: 2 },
      2,
      'Waiting for deployment "foo" rollout to finish: 8 old replicas are pending termination...',
      false,
    ],
    [
      { replicas: 2, updatedReplicas: 2, availableReplicas: 1 },
      2,
      'Waiting for deployment "foo" rollout to finish: 1 of 2 updated replicas are available...',
      false,
    ],
    [{ replicas: 2, updatedReplicas: 2, availableReplicas: 2 }, 2, 'deployment "foo" successfully rolled out', true],
    [{ replicas: 0 }, 0, 'deployment "foo" successfully rolled out', true],
    [
      { conditions: [{ type: 'Available', reason: 'ProgressDeadlineExceeded' }] },
      0,
      'deployment "foo" successfully rolled out',
      true,
    ],
  ])('of a Deployment with %j of %j', (status, replicas, message, isDone) => {
    const spec = { replicas, selector: {}, template: {} };
    const object = { metadata, spec, status: { observedGeneration: 1, ...status } };
    expect(rolloutStatus(Deployment, object as never)).toEqual({ isDone, isStalled: false, message });
  });

  it.each([
    [Deployment, 'Waiting for deployment spec update to be observed...'],
    [StatefulSet, 'Waiting for statefulset spec update to be observed...'],
    [DaemonSet, 'Waiting for daemon set spec update to be observed...'],
  ])('of a $kind that its controller has not seen, or not as it is now', (kind, message) => {
    for (const more of [{}, { spec: {} }, { status: {} }, { spec: {}, status: { observedGeneration: 1 } }]) {
      const object = { metadata: { ...metadata, generation: 2 }, ...more };
      expect(rolloutStatus(kind as typeof Deployment, object as never)).toEqual({
        isDone: false,
        isStalled: false,
        message,
      });
    }
  });

  it('of a spec without replicas, which wants one', () => {
    const status = { observedGeneration: 1 };
    const messages = [{}, { spec: {} }, { spec: { updateStrategy: {} } }].flatMap((more) =>
      [Deployment, StatefulSet].map(
        (kind) => rolloutStatus(kind as typeof Deployment, { metadata, status, ...more } as never).message,
      ),
    );
    const deployment = 'Waiting for deployment "foo" rollout to finish: 0 out of 1 new replicas have been updated...';
    const statefulSet = 'Waiting for 1 pods to be ready...';
    expect(messages).toEqual([deployment, statefulSet, deployment, statefulSet, deployment, statefulSet]);
  });

  it('of a StatefulSet without a partition, and without counts', () => {
    for (const spec of [undefined, {}, { updateStrategy: {} }, { updateStrategy: { rollingUpdate: {} } }])
      expect(
        rolloutStatus(StatefulSet, { metadata, spec, status: { observedGeneration: 1, readyReplicas: 1 } } as never),
      ).toMatchObject({ isDone: true, message: 'statefulset rolling update complete 0 pods at revision ...' });
  });

  it('of a DaemonSet that nothing is wanted of, and of one that is replaced by hand', () => {
    for (const spec of [undefined, {}, { updateStrategy: {} }])
      expect(rolloutStatus(DaemonSet, { metadata, spec, status: { observedGeneration: 1 } } as never)).toMatchObject({
        isDone: true,
        message: 'daemon set "foo" successfully rolled out',
      });
    const byHand = { metadata, spec: { updateStrategy: { type: 'OnDelete' } }, status: {} };
    expect(rolloutStatus(DaemonSet, byHand as never)).toMatchObject({ isDone: true, message: onDelete });
  });

  it('of an object without a generation whose StatefulSet no controller has seen', () => {
    const object = { metadata: { name: 'foo' }, status: { readyReplicas: 1 } };
    expect(rolloutStatus(StatefulSet, object as never)).toMatchObject({ isDone: false });
  });

  it('of a Deployment whose progress deadline is exceeded', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    const object = { metadata, spec: {}, status: { observedGeneration: 1, conditions } };
    expect(rolloutStatus(Deployment, object as never)).toEqual({
      isDone: false,
      isStalled: true,
      message: 'deployment "foo" exceeded its progress deadline',
    });
  });

  const rolling = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} } };
  it.each([
    [
      { replicas: 2, ...rolling },
      { observedGeneration: 0 },
      'Waiting for statefulset spec update to be observed...',
      false,
    ],
    [{ replicas: 2, ...rolling }, { readyReplicas: 1 }, 'Waiting for 1 pods to be ready...', false],
    [
      { replicas: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
      { readyReplicas: 2, updatedReplicas: 1 },
      'partitioned roll out complete: 1 new pods have been updated...',
      true,
    ],
    [
      { replicas: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
      { readyReplicas: 2, updatedReplicas: 0 },
      'Waiting for partitioned roll out to finish: 0 out of 1 new pods have been updated...',
      false,
    ],
    [
      { replicas: 2, ...rolling },
      { readyReplicas: 2, updatedReplicas: 1, updateRevision: 'b', currentRevision: 'a' },
      'waiting for statefulset rolling update to complete 1 pods at revision b...',
      false,
    ],
    [
      { replicas: 2, ...rolling },
      { readyReplicas: 2, currentReplicas: 2, updateRevision: 'b', currentRevision: 'b' },
      'statefulset rolling update complete 2 pods at revision b...',
      true,
    ],
    [
      { updateStrategy: { type: 'OnDelete' } },
      {},
      'rollout status is only available for RollingUpdate strategy type',
      true,
    ],
  ])('of a StatefulSet %j with %j', (spec, status, message, isDone) => {
    const object = { metadata, spec, status: { observedGeneration: 1, ...status } };
    expect(rolloutStatus(StatefulSet, object as never)).toEqual({ isDone, isStalled: false, message });
  });

  it.each([
    [{ observedGeneration: 0 }, 'Waiting for daemon set spec update to be observed...', false],
    [
      { updatedNumberScheduled: 0, desiredNumberScheduled: 1 },
      'Waiting for daemon set "foo" rollout to finish: 0 out of 1 new pods have been updated...',
      false,
    ],
    [
      { updatedNumberScheduled: 2, desiredNumberScheduled: 2, numberAvailable: 1 },
      'Waiting for daemon set "foo" rollout to finish: 1 of 2 updated pods are available...',
      false,
    ],
    [
      { updatedNumberScheduled: 2, desiredNumberScheduled: 2, numberAvailable: 2 },
      'daemon set "foo" successfully rolled out',
      true,
    ],
  ])('of a DaemonSet with %j', (status, message, isDone) => {
    const object = { metadata, spec: rolling, status: { observedGeneration: 1, ...status } };
    expect(rolloutStatus(DaemonSet, object as never)).toEqual({ isDone, isStalled: false, message });
  });
});
