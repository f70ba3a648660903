// What plain JavaScript may leave out, or give as something else: found at the call, not in the first reconcile or event.
import { describe, expect, it } from 'vitest';
import {
  asReconciler,
  createWebhookReceiver,
  cronSource,
  enqueueRequestForOwner,
  finalizing,
  projectionChanged,
  withLowPriorityWhenUnchanged,
} from '../src/index.js';
import { Pod } from './fakes.js';

type Make = (part: never) => unknown;

const none = async (): Promise<undefined> => undefined;
const client = { get: none, patch: none } as never;
const parts: Readonly<Record<string, readonly [make: Make, problem: string]>> = {
  'asReconciler: reconcile': [
    (reconcile) => asReconciler({ client, kind: Pod, reconcile }),
    'asReconciler: reconcile is not valid',
  ],
  'asReconciler: kind': [(kind) => asReconciler({ client, kind, reconcile: none }), 'asReconciler'],
  'finalizing: apply': [
    (apply) => finalizing({ client, kind: Pod, finalizers: [], apply }),
    'finalizing: apply is not valid',
  ],
  'finalizing: kind': [(kind) => finalizing({ client, kind, finalizers: [], apply: none }), 'finalizing'],
  'createWebhookReceiver: read': [
    (read) => createWebhookReceiver({ path: '/push', read }),
    'createWebhookReceiver: read is not valid',
  ],
  'createWebhookReceiver: path': [(path) => createWebhookReceiver({ path, read: () => [] }), 'createWebhookReceiver: '],
  'cronSource: name': [
    (name) => cronSource({ name, schedule: '@daily', requests: () => [] }),
    'cronSource: the name is',
  ],
  projectionChanged: [(project) => projectionChanged(project), 'projectionChanged: project is not valid'],
  withLowPriorityWhenUnchanged: [
    (handler) => withLowPriorityWhenUnchanged(handler),
    'withLowPriorityWhenUnchanged: handler is not valid',
  ],
};
const optional: Readonly<Record<string, readonly [make: Make, problem: string]>> = {
  'asReconciler: client': [(given) => asReconciler({ client: given, kind: Pod, reconcile: none }), 'client'],
  'asReconciler: onMissing': [
    (onMissing) => asReconciler({ client, kind: Pod, reconcile: none, onMissing }),
    'onMissing',
  ],
  'finalizing: client': [(given) => finalizing({ client: given, kind: Pod, finalizers: [], apply: none }), 'client'],
  'finalizing: onStuck': [
    (onStuck) => finalizing({ client, kind: Pod, finalizers: [], apply: none, onStuck }),
    'onStuck',
  ],
  'finalizing: stuckAfterMs': [
    (stuckAfterMs) => finalizing({ client, kind: Pod, finalizers: [], apply: none, stuckAfterMs }),
    'stuckAfterMs',
  ],
  'createWebhookReceiver: identify': [
    (identify) => createWebhookReceiver({ path: '/push', read: () => [], identify }),
    'identify',
  ],
  'enqueueRequestForOwner: onlyControllerOwner': [
    (onlyControllerOwner) => enqueueRequestForOwner(Pod, { onlyControllerOwner }),
    'onlyControllerOwner',
  ],
};

describe('a part that is needed', () => {
  it.each(Object.entries(parts))('%s is refused where it is something else', (_name, [make, problem]) => {
    for (const given of [undefined, null, 5, {}, '']) expect(() => make(given as never)).toThrow(problem);
  });
});

describe('a part that may be left out', () => {
  it.each(Object.entries(optional))('%s is refused where it is something else', (_name, [make, problem]) => {
    for (const given of ['x', {}, []]) expect(() => make(given as never)).toThrow(problem);
  });
});
