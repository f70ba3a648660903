import { describe, expect, it } from 'vitest';
import { describeObject, exists, hasCondition, isDeleted, isReady, readiness } from '../src/index.js';

const metadata = { namespace: 'shop', name: 'web', uid: 'u', generation: 2 };
const condition = (type: string, status = 'True', more: object = {}): object => ({ type, status, ...more });
const having = (...conditions: unknown[]): object => ({ metadata, status: { conditions } });

describe('readiness', () => {
  const counts = (status: object, replicas: number | undefined = 3): object => ({
    metadata,
    spec: { replicas },
    status,
  });
  const stale = { observedGeneration: 1 };
  const custom = (status: object) => ({ ...counts(status), apiVersion: 'example.com/v1' });
  it.each([
    ['no status', { metadata }, 'ready', 'Ready', ''],
    [
      'an object that is being deleted',
      { metadata: { ...metadata, deletionTimestamp: 'x' } },
      'progressing',
      'Terminating',
      'the object is being deleted',
    ],
    [
      'an older status',
      { metadata, status: stale },
      'progressing',
      'StaleStatus',
      'the status is of generation 1, not 2',
    ],
    ['a status without generation', { metadata: { name: 'x' }, status: stale }, 'ready', 'Ready', ''],
    ['a status of now', { metadata, status: { observedGeneration: 2 } }, 'ready', 'Ready', ''],
    ['no replicas yet', counts({}), 'progressing', 'ReplicasMissing', '0 of 3 replicas are available'],
    ['no status of replicas', { metadata, spec: { replicas: 3 } }, 'ready', 'Ready', ''],
    ['no replicas wanted', counts({}, 0), 'ready', 'Ready', ''],
    [
      'old replicas',
      counts({ updatedReplicas: 2, availableReplicas: 3 }),
      'progressing',
      'ReplicasOutdated',
      '2 of 3 replicas are up to date',
    ],
    [
      'surplus replicas',
      counts({ replicas: 5, updatedReplicas: 3, availableReplicas: 3 }),
      'progressing',
      'ReplicasSurplus',
      '2 old replicas are still there',
    ],
    [
      'replicas that are not available',
      counts({ updatedReplicas: 3 }),
      'progressing',
      'ReplicasUnavailable',
      '0 of 3 replicas are available',
    ],
    ['replicas that are ready', counts({ readyReplicas: 3 }), 'ready', 'Ready', ''],
    [
      'replicas of which some are ready',
      counts({ readyReplicas: 1 }),
      'progressing',
      'ReplicasUnavailable',
      '1 of 3 replicas are available',
    ],
    [
      'a DaemonSet without pods',
      { metadata, status: { desiredNumberScheduled: 2 } },
      'progressing',
      'ReplicasUnavailable',
      '0 of 2 replicas are available',
    ],
    [
      'an old DaemonSet',
      { metadata, status: { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 } },
      'progressing',
      'ReplicasOutdated',
      '1 of 2 replicas are up to date',
    ],
    [
      'a DaemonSet',
      { metadata, status: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, replicas: 9 } },
      'ready',
      'Ready',
      '',
    ],
    ['a custom resource by its condition', custom({ conditions: [condition('Ready')] }), 'ready', 'Ready', ''],
    [
      'a custom resource with conditions of which one is known',
      custom({ conditions: [condition('Synced'), condition('Ready')] }),
      'ready',
      'Ready',
      '',
    ],
    ['a custom resource that is available', custom({ conditions: [condition('Available')] }), 'ready', 'Ready', ''],
    [
      'a custom resource with counts',
      custom({ readyReplicas: 1, conditions: [condition('Ready')] }),
      'progressing',
      'ReplicasUnavailable',
      '1 of 3 replicas are available',
    ],
    [
      'a custom resource with another condition',
      custom({ conditions: [condition('Synced')] }),
      'progressing',
      'ReplicasMissing',
      '0 of 3 replicas are available',
    ],
    [
      'a built-in kind with a condition',
      { ...counts({ conditions: [condition('Available')] }), apiVersion: 'v1' },
      'progressing',
      'ReplicasMissing',
      '0 of 3 replicas are available',
    ],
    [
      'a failure',
      having(condition('Ready'), condition('Failed', 'True', { reason: 'Broken', message: 'no' })),
      'failed',
      'Broken',
      'no',
    ],
    ['a stalled object', having(condition('Stalled', 'True')), 'failed', 'Stalled', ''],
    ['replicas that fail', having(condition('ReplicaFailure', 'True', { reason: 5 })), 'failed', 'ReplicaFailure', ''],
    ['a failure that is over', having(condition('Failed', 'False')), 'ready', 'Ready', ''],
    ['a failure of an older generation', having(condition('Failed', 'True', stale)), 'ready', 'Ready', ''],
    [
      'an exceeded deadline',
      having(condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' })),
      'failed',
      'ProgressDeadlineExceeded',
      '',
    ],
    ['another end of progress', having(condition('Progressing', 'False', { reason: 'Done' })), 'ready', 'Ready', ''],
    [
      'progress',
      having(condition('Progressing', 'True', { reason: 'ProgressDeadlineExceeded' })),
      'ready',
      'Ready',
      '',
    ],
    [
      'an object that is reconciled',
      having(condition('Ready'), condition('Reconciling')),
      'progressing',
      'Reconciling',
      '',
    ],
    [
      'a phase of failure',
      { metadata, status: { phase: 'Failed', reason: 'Evicted', message: 'full' } },
      'failed',
      'Evicted',
      'full',
    ],
    ['a lost claim', { metadata, status: { phase: 'Lost' } }, 'failed', 'Failed', ''],
    [
      'a phase of waiting',
      { metadata, status: { phase: 'Pending' } },
      'progressing',
      'Pending',
      'the phase is Pending',
    ],
    [
      'the end',
      { metadata, status: { phase: 'Succeeded', conditions: [condition('Ready', 'False')] } },
      'ready',
      'Ready',
      '',
    ],
    [
      'a bound claim',
      { metadata, status: { phase: 'Bound', conditions: [condition('Ready', 'False')] } },
      'ready',
      'Ready',
      '',
    ],
    [
      'a running pod',
      {
        metadata,
        status: { phase: 'Running', conditions: [condition('Ready', 'False', { reason: 'Starting', message: 'm' })] },
      },
      'progressing',
      'Starting',
      'm',
    ],
    ['no Available', having(condition('Available', 'Unknown')), 'progressing', 'Available', ''],
    ['no Complete', having(condition('Complete', 'False')), 'progressing', 'Complete', ''],
    ['no Established', having(condition('Established', 'False')), 'progressing', 'Established', ''],
    ['a Ready of an older generation', having(condition('Ready', 'True', stale)), 'progressing', 'Ready', ''],
    ['conditions that are none', having(5, null, { type: 'Ready' }, { status: 'False' }), 'ready', 'Ready', ''],
    ['conditions that are no list', { metadata, status: { conditions: 5 } }, 'ready', 'Ready', ''],
    ['a status that is a string', { metadata, status: 'ok' }, 'ready', 'Ready', ''],
  ])('of %s', (...[, object, state, reason, message]) => {
    expect(readiness(object)).toEqual({ state, reason, message });
    expect(isReady()(object)).toBe(state === 'ready');
  });

  it('is not that of an object that does not exist', () => {
    expect(isReady()(undefined)).toBe(false);
    expect([exists()(undefined), exists()({})]).toEqual([false, true]);
    const gone = [undefined, { metadata }, { metadata: { uid: 'other' } }];
    expect(gone.map(isDeleted('u'))).toEqual([true, false, true]);
    expect(gone.map(isDeleted())).toEqual([true, false, false]);
  });
});

it.each([
  [having(condition('Ready')), true],
  [having(condition('Ready', 'False')), false],
  [having(condition('ready')), false],
  [having(condition('Ready', 'True', { observedGeneration: 1 })), false],
  [having(condition('Ready', 'True', { observedGeneration: 2 })), true],
  [{ metadata, status: { observedGeneration: 1, conditions: [condition('Ready')] } }, false],
  [{ metadata: {}, status: { observedGeneration: 1, conditions: [condition('Ready')] } }, true],
  [{ status: { conditions: [condition('Ready')] } }, false],
  [undefined, false],
])('hasCondition of %j: %s', (object, expected) => {
  expect(hasCondition('Ready')(object)).toBe(expected);
});

it.each([
  [{ metadata: { name: 'n' } }, { kind: 'object', key: 'n', state: 'ready' }],
  [
    { kind: 'DaemonSet', metadata, status: { observedGeneration: 1, desiredNumberScheduled: 2, numberReady: 1 } },
    {
      kind: 'DaemonSet',
      key: 'shop/web',
      state: 'progressing',
      reason: 'StaleStatus: the status is of generation 1, not 2',
      replicas: '1/2',
      generation: '2 (observed 1)',
    },
  ],
  [
    { metadata: { name: 'n', generation: 2 }, spec: { replicas: 1 }, status: { observedGeneration: 2 } },
    {
      kind: 'object',
      key: 'n',
      state: 'progressing',
      reason: 'ReplicasMissing: 0 of 1 replicas are available',
      replicas: '0/1',
      generation: '2',
    },
  ],
  [
    { metadata: { name: 'n' }, spec: { replicas: 1 } },
    { kind: 'object', key: 'n', state: 'ready' },
  ],
  [
    { metadata: { name: 'n', deletionTimestamp: 'odd', creationTimestamp: 'odd' }, status: { phase: '' } },
    {
      kind: 'object',
      key: 'n',
      state: 'progressing',
      reason: 'Terminating: the object is being deleted',
      deleting: 'since odd',
    },
  ],
  [
    having(
      condition('A', 'False', { reason: '' }),
      condition('B', 'True', { reason: 'x' }),
      condition('C', 'False', { reason: 5 }),
      condition('Stalled'),
    ),
    {
      kind: 'object',
      key: 'shop/web',
      state: 'failed',
      reason: 'Stalled',
      conditions: 'A=False, B=True, C=False, Stalled=True',
      generation: '2',
    },
  ],
  [
    {
      metadata: { name: 'n' },
      spec: { replicas: 1 },
      status: { phase: 5, readyReplicas: 'x', replicas: 1, availableReplicas: 1 },
    },
    { kind: 'object', key: 'n', state: 'ready' },
  ],
  [having({ type: 5, status: 'True' }), { kind: 'object', key: 'shop/web', state: 'ready', generation: '2' }],
  [
    { metadata: { name: 'n' }, status: { phase: 'Bound' } },
    { kind: 'object', key: 'n', state: 'ready', phase: 'Bound' },
  ],
])('describeObject shows of %j what there is', (object, expected) => {
  expect(describeObject(object as never)).toStrictEqual(expected);
});

it('describeObject names what does not fit', () => {
  expect(() => describeObject(undefined as never)).toThrow('describeObject: the object is');
  expect(() => describeObject({ metadata: {} }, 5 as never)).toThrow('describeObject: the options are');
  expect(() => describeObject({ metadata: {} }, { time: 5 } as never)).toThrow('"time"');
});
