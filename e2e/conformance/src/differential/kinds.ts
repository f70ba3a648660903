/** The kinds that random calls are made about, and how to draft and change their objects. */
import type { Draft, Json } from '../harness/doc.js';
import type { WidgetApi } from '../harness/widgets.js';
import type { Random } from './random.js';

export interface RandomKind {
  readonly kind: string;
  readonly apiVersion: string;
  path(namespace: string, name?: string, subresource?: string): string;
  readonly hasStatus: boolean;
  readonly hasScale: boolean;
  readonly isCustom: boolean;
  /** Spec, data, … of a new object. */
  fields(random: Random): Record<string, unknown>;
  /** A part of an object, as a merge or strategic patch. */
  change(random: Random): Record<string, unknown>;
  status(random: Random): Record<string, unknown>;
  /** Paths for JSON patches, with a value that fits most of the time. */
  operations(random: Random): Record<string, unknown>;
  readonly fieldSelectors: readonly string[];
}

const KEYS = ['a', 'b', 'c.d', 'e_f'];
const maybe = (random: Random, probability: number, fields: () => Record<string, unknown>): Record<string, unknown> =>
  random.chance(probability) ? fields() : {};

function stringMap(random: Random): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  for (const key of KEYS) if (random.chance(0.4)) map[key] = String(random.below(4));
  if (random.chance(0.04)) map['bad key'] = 'x';
  if (random.chance(0.04)) map[random.pick(KEYS)] = random.pick([1, true, null, { x: 1 }, ['y']]);
  return map;
}

function container(random: Random): Record<string, unknown> {
  return {
    name: random.pick(['c1', 'c2', 'c3']),
    image: random.pick(['i', 'i:1', 'i:latest', 'r/i@sha256:aaaa']),
    ...maybe(random, 0.3, () => ({ env: [{ name: random.pick(['A', 'B']), value: String(random.below(3)) }] })),
    ...maybe(random, 0.2, () => ({ args: random.pick([['x'], ['x', 'y'], []]) })),
    ...maybe(random, 0.2, () => ({ ports: [{ containerPort: random.pick([80, 81, 0, 70000]) }] })),
    ...maybe(random, 0.2, () => ({ resources: { limits: { cpu: random.pick(['1', '500m', '0.5', 'x']) } } })),
    ...maybe(random, 0.03, () => ({ bogus: 1 })),
  };
}

function distinctContainers(random: Random): Record<string, unknown>[] {
  const made = Array.from({ length: 1 + random.below(2) }, () => container(random));
  if (random.chance(0.04))
    return random.pick([[], [made[0] as Record<string, unknown>, made[0] as Record<string, unknown>]]);
  return made.filter((one, index) => made.findIndex((other) => other['name'] === one['name']) === index);
}

const podSpec = (random: Random): Record<string, unknown> => ({
  containers: distinctContainers(random),
  ...maybe(random, 0.1, () => ({ restartPolicy: random.pick(['Always', 'Never', 'Sometimes']) })),
  ...maybe(random, 0.1, () => ({ terminationGracePeriodSeconds: random.pick([0, 5, -1]) })),
  ...maybe(random, 0.1, () => ({ nodeSelector: { a: 'b' } })),
});

const servicePort = (random: Random): Record<string, unknown> => ({
  port: random.pick([80, 81, 82, 0]),
  ...maybe(random, 0.5, () => ({ name: random.pick(['p', 'q', 'P']) })),
  ...maybe(random, 0.3, () => ({ targetPort: random.pick([8080, 'http', 0]) })),
  ...maybe(random, 0.2, () => ({ protocol: random.pick(['TCP', 'UDP', 'ICMP']) })),
});

function widgetSpec(random: Random): Record<string, unknown> {
  return {
    ...maybe(random, 0.9, () => ({ size: random.pick([0, 1, 2, 3, 7, -1, 1.5, '4']) })),
    ...maybe(random, 0.4, () => ({ color: random.pick(['red', 'green', 'blue', 'pink', null]) })),
    ...maybe(random, 0.3, () => ({ note: random.pick(['n', '', 'Upper', 'far too long for this field']) })),
    ...maybe(random, 0.2, () => ({ ratio: random.pick([1, 1.5, 'x']) })),
    ...maybe(random, 0.2, () => ({ enabled: random.pick([true, false, 'yes', null]) })),
    ...maybe(random, 0.2, () => ({ maybe: random.pick(['m', null, 3]) })),
    ...maybe(random, 0.2, () => ({ replicas: random.below(4) })),
    ...maybe(random, 0.4, () => ({
      parts: Array.from({ length: random.below(3) }, () => ({
        ...maybe(random, 0.95, () => ({ name: random.pick(['x', 'y', 'z']) })),
        ...maybe(random, 0.5, () => ({ value: random.below(3) })),
        ...maybe(random, 0.1, () => ({ extra: 1 })),
      })),
    })),
    ...maybe(random, 0.3, () => ({
      tags: Array.from({ length: random.below(3) }, () => random.pick(['t', 'u', 'v'])),
    })),
    ...maybe(random, 0.3, () => ({ map: stringMap(random) })),
    ...maybe(random, 0.2, () => ({ port: random.pick([80, 'http', true]) })),
    ...maybe(random, 0.2, () => ({ any: { [random.pick(KEYS)]: random.pick([1, { deep: [1] }, null]) } })),
    ...maybe(random, 0.1, () => ({ when: random.pick(['2026-01-01T00:00:00Z', 'today']) })),
    ...maybe(random, 0.1, () => ({ list: random.pick([[1], [1, 2, 3, 4], ['x'], []]) })),
    ...maybe(random, 0.1, () => ({ unknown: random.pick([1, { x: 1 }]) })),
  };
}

const namespaced = (prefix: string, plural: string) => (namespace: string, name?: string, subresource?: string) =>
  [`${prefix}/namespaces/${namespace}/${plural}`, name, subresource].filter((part) => part !== undefined).join('/');

const none = (): Record<string, unknown> => ({});

export function randomKinds(widgets: WidgetApi): readonly (readonly [weight: number, kind: RandomKind])[] {
  const configMap: RandomKind = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    path: namespaced('/api/v1', 'configmaps'),
    hasStatus: false,
    hasScale: false,
    isCustom: false,
    fields: (random) => ({
      ...maybe(random, 0.9, () => ({ data: stringMap(random) })),
      ...maybe(random, 0.1, () => ({ binaryData: random.pick([{ z: 'YQ==' }, { z: '!' }, { a: 'YQ==' }]) })),
      ...maybe(random, 0.08, () => ({ immutable: random.chance(0.5) })),
      ...maybe(random, 0.05, () => ({ bogus: { x: 1 } })),
    }),
    change: (random) => ({ data: random.chance(0.05) ? random.pick([null, 'x', []]) : stringMap(random) }),
    status: none,
    operations: (random) => ({
      path: `/data/${random.pick([...KEYS, 'bad key', '-', '0'])}`,
      value: random.pick(['1', '2', 3, null]),
    }),
    fieldSelectors: ['data.a=1', 'metadata.labels=x'],
  };
  const secret: RandomKind = {
    ...configMap,
    kind: 'Secret',
    path: namespaced('/api/v1', 'secrets'),
    fields: (random) => ({
      ...maybe(random, 0.6, () => ({
        data: Object.fromEntries(
          KEYS.filter(() => random.chance(0.4)).map((key) => [key, random.pick(['YQ==', 'Yg==', '', '!!', 5])]),
        ),
      })),
      ...maybe(random, 0.5, () => ({ stringData: stringMap(random) })),
      ...maybe(random, 0.3, () => ({
        type: random.pick(['Opaque', 'kctl.test/x', 'kubernetes.io/tls', 'kubernetes.io/basic-auth']),
      })),
    }),
    change: (random) =>
      random.pick([
        { stringData: stringMap(random) },
        { data: { [random.pick(KEYS)]: random.pick(['Yw==', null, '?']) } },
        { type: 'kctl.test/y' },
      ]),
    operations: (random) => ({ path: `/data/${random.pick(KEYS)}`, value: random.pick(['YQ==', '!', null]) }),
    fieldSelectors: ['type=Opaque', 'type!=Opaque', 'data.a=1'],
  };
  const service: RandomKind = {
    ...configMap,
    kind: 'Service',
    path: namespaced('/api/v1', 'services'),
    hasStatus: true,
    fields: (random) => ({
      spec: {
        ports: Array.from({ length: random.chance(0.8) ? 1 : random.below(3) }, () => servicePort(random)),
        ...maybe(random, 0.6, () => ({ selector: { a: 'b' } })),
        ...maybe(random, 0.2, () => ({
          type: random.pick(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'Zip']),
        })),
        ...maybe(random, 0.2, () => ({ clusterIP: random.pick(['None', '']) })),
        ...maybe(random, 0.1, () => ({ sessionAffinity: random.pick(['None', 'ClientIP', 'x']) })),
      },
    }),
    change: (random) => ({
      spec: random.pick<Record<string, unknown>>([
        { selector: { a: random.pick(['b', 'c', null]) } },
        { ports: [servicePort(random)] },
        { sessionAffinity: random.pick(['None', 'ClientIP']) },
        { type: random.pick(['ClusterIP', 'NodePort']) },
      ]),
    }),
    status: (random) => ({
      loadBalancer: random.pick([{}, { ingress: [{ ip: '1.2.3.4' }] }, { ingress: [{ ip: 'x' }] }]),
    }),
    operations: (random) => ({
      path: random.pick(['/spec/ports/0/port', '/spec/selector/a', '/spec/sessionAffinity', '/spec/ports/-']),
      value: random.pick([80, 'x', { port: 99 }, 'None']),
    }),
    fieldSelectors: ['spec.type=ClusterIP', 'spec.clusterIP=None'],
  };
  const deployment: RandomKind = {
    ...configMap,
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    path: namespaced('/apis/apps/v1', 'deployments'),
    hasStatus: true,
    hasScale: true,
    fields: (random) => ({
      spec: {
        ...maybe(random, 0.97, () => ({ selector: { matchLabels: { app: 'x' } } })),
        template: { metadata: { labels: { app: random.chance(0.97) ? 'x' : 'y' } }, spec: podSpec(random) },
        ...maybe(random, 0.4, () => ({ replicas: random.pick([0, 1, 2, 3, -1]) })),
        ...maybe(random, 0.2, () => ({
          strategy: random.pick([
            { type: 'Recreate' },
            { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
            { type: 'Zip' },
            { rollingUpdate: { maxUnavailable: '10%' } },
            { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
          ]),
        })),
        ...maybe(random, 0.1, () => ({ paused: true })),
        ...maybe(random, 0.1, () => ({ minReadySeconds: random.pick([0, 5, -1]) })),
        ...maybe(random, 0.1, () => ({ revisionHistoryLimit: random.pick([0, 5, -2]) })),
      },
    }),
    change: (random) => ({
      spec: random.pick<Record<string, unknown>>([
        { replicas: random.pick([0, 2, 5, -1, null]) },
        { template: { spec: { containers: [container(random)] } } },
        { template: { metadata: { annotations: { a: String(random.below(3)) } } } },
        { paused: random.pick([true, null]) },
        { selector: { matchLabels: { app: 'z' } } },
        {
          strategy: random.pick([
            { type: 'Recreate', rollingUpdate: null },
            { rollingUpdate: { maxSurge: 2 } },
            { type: 'Recreate' },
          ]),
        },
      ]),
    }),
    status: (random) => ({
      replicas: random.pick([0, 1, 2, -1]),
      ...maybe(random, 0.5, () => ({ observedGeneration: random.below(3) })),
      ...maybe(random, 0.4, () => ({
        conditions: [{ type: random.pick(['Available', 'Progressing']), status: random.pick(['True', 'False']) }],
      })),
    }),
    operations: (random) => ({
      path: random.pick([
        '/spec/replicas',
        '/spec/template/spec/containers/0/image',
        '/spec/template/spec/containers/-',
        '/spec/paused',
        '/spec/strategy/type',
      ]),
      value: random.pick([1, 2, 'i', { name: 'n', image: 'j' }, true]),
    }),
    fieldSelectors: ['spec.replicas=1'],
  };
  const pod: RandomKind = {
    ...configMap,
    kind: 'Pod',
    path: namespaced('/api/v1', 'pods'),
    hasStatus: true,
    fields: (random) => ({
      spec: { ...podSpec(random), ...maybe(random, 0.3, () => ({ nodeName: random.pick(['n1', 'n2']) })) },
    }),
    change: (random) => ({
      spec: random.pick<Record<string, unknown>>([
        { containers: [{ name: 'c1', image: random.pick(['j', 'k']) }] },
        { activeDeadlineSeconds: random.pick([10, 5, -1]) },
        { restartPolicy: 'Never' },
        { nodeName: 'n3' },
      ]),
    }),
    status: (random) => ({
      phase: random.pick(['Pending', 'Running', 'Succeeded', 'Failed']),
      ...maybe(random, 0.3, () => ({ conditions: [{ type: 'Ready', status: random.pick(['True', 'False']) }] })),
    }),
    operations: (random) => ({
      path: random.pick(['/spec/containers/0/image', '/spec/nodeName', '/spec/tolerations/-']),
      value: random.pick(['j', 'k', 7, { key: 'k', operator: 'Exists' }]),
    }),
    fieldSelectors: ['status.phase=Running', 'spec.nodeName=n1', 'spec.nodeName!=n1', 'spec.image=i'],
  };
  const lease: RandomKind = {
    ...configMap,
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    path: namespaced('/apis/coordination.k8s.io/v1', 'leases'),
    fields: (random) => ({
      spec: {
        ...maybe(random, 0.8, () => ({ holderIdentity: random.pick(['a', 'b', '']) })),
        ...maybe(random, 0.6, () => ({ leaseDurationSeconds: random.pick([15, 10, 0, -1]) })),
        ...maybe(random, 0.5, () => ({
          renewTime: random.pick([
            '2026-01-01T00:00:00.000000Z',
            '2026-01-01T00:00:00.123456Z',
            '2026-01-01T00:00:00Z',
            'x',
          ]),
        })),
        ...maybe(random, 0.3, () => ({ leaseTransitions: random.pick([0, 1, -1]) })),
      },
    }),
    change: (random) => ({
      spec: {
        holderIdentity: random.pick(['a', 'b', null]),
        ...maybe(random, 0.3, () => ({ leaseTransitions: random.below(3) })),
      },
    }),
    operations: (random) => ({
      path: random.pick(['/spec/holderIdentity', '/spec/leaseTransitions']),
      value: random.pick(['a', 'b', 3]),
    }),
    fieldSelectors: ['spec.holderIdentity=a'],
  };
  const widget: RandomKind = {
    kind: 'Widget',
    apiVersion: widgets.apiVersion,
    path: widgets.path,
    hasStatus: true,
    hasScale: true,
    isCustom: true,
    fields: (random) => ({
      ...maybe(random, 0.97, () => ({ spec: widgetSpec(random) })),
      ...maybe(random, 0.1, () => ({ status: { ready: true } })),
      ...maybe(random, 0.03, () => ({ bogus: 1 })),
    }),
    change: (random) => ({ spec: widgetSpec(random) }),
    status: (random) => ({
      ...maybe(random, 0.7, () => ({ ready: random.pick([true, false, 'x']) })),
      ...maybe(random, 0.5, () => ({ replicas: random.below(4) })),
      ...maybe(random, 0.3, () => ({ selector: 'a=b' })),
      ...maybe(random, 0.1, () => ({ bogus: 1 })),
    }),
    operations: (random) => ({
      path: random.pick([
        '/spec/size',
        '/spec/parts/-',
        '/spec/parts/0',
        '/spec/map/a',
        '/spec/color',
        '/spec/tags/-',
        '/spec/none/deep',
        '/spec/any/x',
      ]),
      value: random.pick([1, 2, 'red', 't', { name: 'w' }, null]),
    }),
    fieldSelectors: ['spec.color=blue', 'spec.color!=blue', 'spec.size=1', 'spec.note=n'],
  };
  return [
    [5, configMap],
    [3, secret],
    [2, service],
    [4, deployment],
    [3, pod],
    [2, lease],
    [7, widget],
  ];
}

/** Metadata of a new object, mostly good. */
export function randomMetadata(random: Random): Draft {
  return {
    ...maybe(random, 0.5, () => ({
      labels: {
        ...maybe(random, 0.7, () => ({ l: random.pick(['a', 'b']) })),
        ...maybe(random, 0.3, () => ({ 'kctl.test/tier': random.pick(['front', '']) })),
        ...maybe(random, 0.03, () => ({ 'bad key': 'x' })),
        ...maybe(random, 0.03, () => ({ l: 'bad value!' })),
        ...maybe(random, 0.02, () => ({ n: 1 })),
      },
    })),
    ...maybe(random, 0.3, () => ({
      annotations: { a: String(random.below(3)), ...maybe(random, 0.03, () => ({ 'not ok': 'x' })) },
    })),
    ...maybe(random, 0.2, () => ({
      finalizers: random.pick([
        ['kctl.test/f'],
        ['kctl.test/f', 'kctl.test/g'],
        ['nodomain'],
        ['kctl.test/f', 'kctl.test/f'],
        ['bad one/x'],
      ]),
    })),
    ...maybe(random, 0.08, () => ({
      ownerReferences: random.pick<Json>([
        [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }],
        [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o' }],
        [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true },
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: 'v', controller: true },
        ],
      ]),
    })),
    ...maybe(random, 0.03, () => ({ generation: 7, uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' })),
    ...maybe(random, 0.02, () => ({ bogus: 1 })),
  };
}
