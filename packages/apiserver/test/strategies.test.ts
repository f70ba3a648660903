import type { UntypedObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { formatFieldErrors, type FieldError } from '@kctl/crd/internal/engine';
import { builtInDefinitions } from '../src/registry/builtins.js';
import { createRegistry } from '../src/crd/create-registry.js';
import type { WriteContext } from '../src/resource/resource.js';

const registry = createRegistry({ definitions: builtInDefinitions() });

function messageOf(errors: readonly FieldError[]): string {
  return errors.length === 0 ? '' : formatFieldErrors(errors);
}

function contextOf(objects: Record<string, UntypedObject[]> = {}): WriteContext {
  return {
    now: '2026-11-21T00:50:17Z',
    random: () => 0,
    objects: (key) => objects[key] ?? [],
    warn: () => undefined,
    dryRun: false,
  };
}

function definitionOf(path: string) {
  const [group = '', version = '', plural = ''] = path.split('/');
  const found = registry.find(group, version, plural);
  if (found === undefined) throw new Error(`no ${path}`);
  return found;
}

function create(path: string, body: Record<string, unknown>, context = contextOf()) {
  const definition = definitionOf(path);
  const { object } = definition.decode({ value: structuredClone({ metadata: { name: 'x' }, ...body }) });
  if (definition.namespaced) object.metadata.namespace = 'default';
  const uid = object.metadata.name === 'x' ? 'u-1' : `u-${object.metadata.name ?? ''}`;
  Object.assign(object.metadata, { uid, creationTimestamp: context.now });
  definition.admit?.(object, undefined, context);
  definition.prepareForCreate(object, context);
  return { object, message: messageOf(definition.validateCreate(object, context)) };
}

/** Changes an object as a merge of its top-level parts does. */
function update(
  path: string,
  old: UntypedObject,
  change: (object: Record<string, never>) => void,
  context = contextOf(),
) {
  const definition = definitionOf(path);
  const draft = structuredClone(old);
  draft.metadata.resourceVersion = '1';
  change(draft as never);
  const { object } = definition.decode({ value: draft });
  definition.admit?.(object, old, context);
  definition.prepareForUpdate(object, old, context);
  return { object, message: messageOf(definition.validateUpdate(object, old, context)) };
}

const container = { name: 'c', image: 'i' };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const selector = { matchLabels: { a: 'b' } };

// Expectations recorded from kube-apiserver 1.36.3.
describe('strategies, by the answers of a real server', () => {
  it.each([
    [
      'batch/v1/jobs',
      { spec: {} },
      '[spec.template.spec.containers: Required value, spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"]',
    ],
    [
      'apps/v1/daemonsets',
      { spec: {} },
      '[spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`, spec.template.spec.containers: Required value]',
    ],
    [
      'apps/v1/controllerrevisions',
      { revision: -1 },
      '[revision: Invalid value: -1: must be greater than or equal to 0, data: Required value: data is mandatory]',
    ],
    [
      'autoscaling/v2/horizontalpodautoscalers',
      { spec: {} },
      '[spec.maxReplicas: Required value: must be set and greater than 0, spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`, spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required value, spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group]',
    ],
    [
      'networking.k8s.io/v1/ingresses',
      { spec: {} },
      'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified',
    ],
    [
      '/v1/persistentvolumes',
      { spec: {} },
      '[spec.accessModes: Required value, spec.capacity: Required value, spec.capacity: Unsupported value: null: supported values: "storage", spec: Required value: must specify a volume type]',
    ],
    [
      '/v1/services',
      { spec: { ports: [{ port: 80, nodePort: 5 }], type: 'NodePort' } },
      'spec.ports[0].nodePort: Invalid value: 5: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
    [
      'coordination.k8s.io/v1/leases',
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      '[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]',
    ],
    [
      '/v1/configmaps',
      { metadata: { name: 'x', finalizers: ['noslash'] } },
      'metadata.finalizers[0]: Invalid value: "noslash": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ])('§2.5-36 %s', (path, body, message) => {
    expect(create(path, body).message).toBe(message);
  });
  it('§2.6-42 a Service keeps its address, and may not change it', () => {
    const { object } = create('/v1/services', { spec: { ports: [{ port: 80 }] } });
    const kept = update('/v1/services', object, (draft) => {
      Object.assign(draft, { spec: { ports: [{ port: 81 }] } });
    });
    expect(kept.message).toBe('');
    expect(kept.object['spec']).toMatchObject({ clusterIP: '10.0.0.16', clusterIPs: ['10.0.0.16'] });
    const changed = update('/v1/services', object, (draft) => {
      Object.assign(draft['spec'] ?? {}, { clusterIP: '10.0.0.254' });
    });
    expect(changed.message).toContain('spec.clusterIPs[0]: Invalid value: ["10.0.0.254"]: may not change once set');
  });
  it('gives no two Services the same address or node port', () => {
    const first = create('/v1/services', { spec: { ports: [{ port: 80 }], type: 'NodePort' } }).object;
    const second = create(
      '/v1/services',
      { metadata: { name: 'y' }, spec: { ports: [{ port: 80 }, { port: 81, name: 'a' }], type: 'NodePort' } },
      contextOf({ '/services': [first] }),
    ).object;
    expect(first['spec']).toMatchObject({ clusterIP: '10.0.0.16', ports: [{ nodePort: 30000 }] });
    expect(second['spec']).toMatchObject({ clusterIP: '10.0.0.17', ports: [{ nodePort: 30001 }, { nodePort: 30002 }] });
  });
  it('refuses a node port that another Service has, and lets a Service keep its own', () => {
    const spec = { ports: [{ port: 80, nodePort: 30080 }], type: 'NodePort' };
    const first = create('/v1/services', { spec }).object;
    const context = contextOf({ '/services': [first] });
    expect(create('/v1/services', { metadata: { name: 'y' }, spec }, context).message).toBe(
      'spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
    const changed = update('/v1/services', first, (draft) => {
      Object.assign(draft['spec'] ?? {}, { selector: { a: 'b' } });
    });
    expect(changed.message).toBe('');
    // A webhook has renamed it: what it holds is still its own.
    const renamed = update(
      '/v1/services',
      first,
      (draft) => Object.assign(draft['metadata'] ?? {}, { name: 'z' }),
      context,
    );
    expect(renamed.message).not.toContain('allocated');
  });
  it('§2.6-42 Pod, Deployment, ConfigMap and Secret: what may not change', () => {
    const pod = create('/v1/pods', { spec: { containers: [container] } }).object;
    expect(
      update('/v1/pods', pod, (draft) => Object.assign(draft['spec'] ?? {}, { restartPolicy: 'Never' })).message,
    ).toMatch(/^spec: Forbidden: pod updates may not change fields other than/);
    expect(update('/v1/pods', pod, (draft) => Object.assign(draft['spec'] ?? {}, { tolerations: [] })).message).toBe(
      '',
    );
    const deployment = create('apps/v1/deployments', { spec: { selector, template } }).object;
    expect(
      update('apps/v1/deployments', deployment, (draft) =>
        Object.assign(draft['spec'] ?? {}, { selector: { matchLabels: { a: 'c' } } }),
      ).message,
    ).toContain('spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable');
    const map = create('/v1/configmaps', { immutable: true, data: { a: '1' } }).object;
    expect(update('/v1/configmaps', map, (draft) => Object.assign(draft, { data: { a: '2' } })).message).toBe(
      'data: Forbidden: field is immutable when `immutable` is set',
    );
    const secret = create('/v1/secrets', {}).object;
    expect(update('/v1/secrets', secret, (draft) => Object.assign(draft, { type: 'other' })).message).toBe(
      'type: Invalid value: "other": field is immutable',
    );
  });
  it('§2.6-42 a Pod is replaced by its own manifest: what admission and defaults added is kept', () => {
    const manifest = { spec: { containers: [container], terminationGracePeriodSeconds: -1 } };
    const pod = create('/v1/pods', manifest).object;
    const replaced = update('/v1/pods', pod, (draft) => Object.assign(draft, structuredClone(manifest)));
    expect(replaced.message).toBe('');
    expect(replaced.object['spec']).toEqual(pod['spec']);
    expect(replaced.object.metadata.generation).toBe(1);
    const ranked = update('/v1/pods', pod, (draft) => Object.assign(draft['spec'] ?? {}, { priority: 7 }));
    expect(ranked.message).toMatch(/^spec: Forbidden: pod updates may not change fields other than/);
  });
  it('§2.6-42 a toleration of a Pod may change how long it lasts, and nothing else', () => {
    const toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 };
    const pod = create('/v1/pods', { spec: { containers: [container], tolerations: [toleration] } }).object;
    const tolerate = (change: Record<string, unknown>) =>
      update('/v1/pods', pod, (draft) =>
        Object.assign(draft['spec'] ?? {}, { tolerations: [{ ...toleration, ...change }] }),
      ).message;
    expect(tolerate({ tolerationSeconds: 20 })).toBe('');
    expect(tolerate({ key: 'other' })).toBe(
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    );
  });
  it('§2.6-42 a gated Pod loses gates and narrows where it may run', () => {
    const terms = (...names: string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: names.map((key) => ({ key, operator: 'Exists' })) }],
        },
      },
    });
    const spec = {
      containers: [container],
      schedulingGates: [{ name: 'k.io/a' }],
      nodeSelector: { a: 'b' },
      affinity: terms('x'),
    };
    const pod = create('/v1/pods', { spec }).object;
    const change = (fields: Record<string, unknown>) =>
      update('/v1/pods', pod, (draft) => Object.assign(draft['spec'] ?? {}, fields)).message;
    expect(change({ schedulingGates: [] })).toBe('');
    expect(change({ schedulingGates: [{ name: 'k.io/a' }, { name: 'k.io/b' }] })).toBe(
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'k.io/b'",
    );
    expect(change({ nodeSelector: { a: 'b', c: 'd' } })).toBe('');
    expect(change({ nodeSelector: { a: 'c' } })).toBe(
      'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    );
    expect(change({ affinity: terms('x', 'y') })).toBe('');
    expect(change({ affinity: terms('y') })).toMatch(
      /^spec\.affinity\.nodeAffinity\.requiredDuringSchedulingIgnoredDuringExecution\.nodeSelectorTerms\[0\]: Invalid value: .*: only additions are allowed \(no mutations or deletions\)$/,
    );
    expect(
      change({
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z' }] },
          ...terms('x'),
        },
      }),
    ).toMatch(/^spec: Forbidden/);
    const open = create('/v1/pods', { spec: { containers: [container] } }).object;
    expect(
      update('/v1/pods', open, (draft) => Object.assign(draft['spec'] ?? {}, { nodeSelector: { a: 'b' } })).message,
    ).toMatch(/^spec: Forbidden: pod updates may not change/);
  });
  it('§2.6-41 counts generations as each kind does', () => {
    const deployment = create('apps/v1/deployments', { spec: { selector, template } }).object;
    const annotate = (draft: Record<string, never>): void => {
      Object.assign(draft['metadata'] ?? {}, { annotations: { a: 'b' } });
    };
    expect(update('apps/v1/deployments', deployment, annotate).object.metadata.generation).toBe(2);
    const daemonSet = create('apps/v1/daemonsets', { spec: { selector, template } }).object;
    const changed = update('apps/v1/daemonsets', daemonSet, (draft) =>
      Object.assign(draft['spec'] ?? {}, {
        template: { ...template, spec: { containers: [container], hostNetwork: true } },
      }),
    );
    expect(changed.object.metadata).toMatchObject({
      generation: 2,
      annotations: { 'deprecated.daemonset.template.generation': '2' },
    });
    expect(create('/v1/configmaps', {}).object.metadata.generation).toBeUndefined();
  });
  it('makes a Job select its pods by its uid', () => {
    const { object, message } = create('batch/v1/jobs', {
      spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } },
    });
    expect(message).toBe('');
    expect(object['spec']).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
    });
    expect(object.metadata.labels).toEqual({
      'job-name': 'x',
      'batch.kubernetes.io/job-name': 'x',
      'controller-uid': 'u-1',
      'batch.kubernetes.io/controller-uid': 'u-1',
    });
  });
  it('§2.12-73 shows one event in both groups', () => {
    const core = definitionOf('/v1/events');
    const events = definitionOf('events.k8s.io/v1/events');
    expect(events.storageKey).toBe(core.storageKey);
    const { object, message } = create('events.k8s.io/v1/events', {
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      note: 'm',
      type: 'Normal',
      action: 'A',
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'k.io/x',
      reportingInstance: 'i',
    });
    expect(message).toBe('');
    const stored = events.toStorage(object);
    expect(stored).toMatchObject({
      apiVersion: 'v1',
      involvedObject: { name: 'p' },
      message: 'm',
      reportingComponent: 'k.io/x',
    });
    expect(events.fromStorage(stored)).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'p' },
      note: 'm',
    });
    expect(core.fromStorage(stored)).toBe(stored);
  });
  it('§2.9-58 gives a scheduled Pod its grace, any other none', () => {
    const pods = definitionOf('/v1/pods');
    const { object } = create('/v1/pods', { spec: { containers: [container] } });
    expect(pods.gracePeriodSeconds(object)).toBe(0);
    Object.assign(object['spec'] ?? {}, { nodeName: 'n' });
    expect(pods.gracePeriodSeconds(object)).toBe(30);
  });
});
