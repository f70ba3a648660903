import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { at, objectsOf } from '@kctl/crd/internal/engine';
import { builtinKinds } from '../resource/builtin-table.js';
import { strategicMergePatch } from './strategic-merge.js';

function structOf(group: string, kind: string) {
  const found = builtinKinds().find((each) => each.group === group && each.kind === kind && each.version === 'v1');
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found.struct;
}

const pod = structOf('', 'Pod');
const deployment = structOf('apps', 'Deployment');
const service = structOf('', 'Service');
const node = structOf('', 'Node');

function withSpec(kind: string, apiVersion: string, spec: unknown, metadata: Record<string, unknown> = {}) {
  return { apiVersion, kind, metadata: { name: 'x', ...metadata }, spec };
}

const onePod = withSpec(
  'Pod',
  'v1',
  {
    containers: [
      { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }], ports: [{ containerPort: 80, protocol: 'TCP' }] },
      { name: 'b', image: 'b:1' },
    ],
    tolerations: [{ key: 'k', operator: 'Exists' }],
    nodeSelector: { disk: 'ssd' },
    volumes: [{ name: 'v', emptyDir: {} }],
  },
  { labels: { a: '1', b: '2' }, finalizers: ['k.io/a', 'k.io/b'], annotations: { x: 'y' } },
);
const oneDeployment = withSpec('Deployment', 'apps/v1', {
  replicas: 2,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
  selector: { matchLabels: { a: 'b' } },
  template: {
    metadata: { labels: { a: 'b' } },
    spec: {
      containers: [
        { name: 'c', image: 'i' },
        { name: 'd', image: 'j' },
      ],
    },
  },
});
const oneService = withSpec('Service', 'v1', {
  ports: [
    { port: 80, name: 'http', protocol: 'TCP' },
    { port: 443, name: 'https', protocol: 'TCP' },
  ],
  selector: { a: 'b' },
});
const oneNode = withSpec('Node', 'v1', { taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDRs: ['10.0.0.0/24'] });

/** Name, object, its struct, patch. */
const cases: [string, Record<string, unknown>, typeof pod, Record<string, unknown>][] = [
  ['changes a container by name', onePod, pod, { spec: { containers: [{ name: 'b', image: 'b:2' }] } }],
  ['puts a new container first', onePod, pod, { spec: { containers: [{ name: 'c', image: 'c:1' }] } }],
  [
    'adds several, in the order of the patch',
    onePod,
    pod,
    {
      spec: {
        containers: [
          { name: 'd', image: 'd' },
          { name: 'a', image: 'a:2' },
          { name: 'c', image: 'c' },
        ],
      },
    },
  ],
  ['deletes a container', onePod, pod, { spec: { containers: [{ name: 'a', $patch: 'delete' }] } }],
  ['replaces the list', onePod, pod, { spec: { containers: [{ $patch: 'replace' }, { name: 'z', image: 'z' }] } }],
  ['replaces a map', onePod, pod, { metadata: { labels: { $patch: 'replace', c: '3' } } }],
  ['deletes a map', onePod, pod, { metadata: { labels: { $patch: 'delete' } } }],
  [
    'deletes by null',
    onePod,
    pod,
    { metadata: { labels: { a: null }, annotations: null }, spec: { nodeSelector: null } },
  ],
  [
    'drops nulls of what is new',
    onePod,
    pod,
    { metadata: { annotations: { y: null, z: '1' } }, spec: { affinity: { nodeAffinity: null } } },
  ],
  ['merges finalizers', onePod, pod, { metadata: { finalizers: ['k.io/c'] } }],
  ['deletes from a list of strings', onePod, pod, { metadata: { '$deleteFromPrimitiveList/finalizers': ['k.io/a'] } }],
  [
    'orders a list of strings',
    onePod,
    pod,
    { metadata: { '$setElementOrder/finalizers': ['k.io/b', 'k.io/a', 'k.io/c'], finalizers: ['k.io/c'] } },
  ],
  [
    'orders containers',
    onePod,
    pod,
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
        containers: [{ name: 'a', image: 'a:9' }],
      },
    },
  ],
  [
    'orders containers with a new one and one that the patch does not know',
    onePod,
    pod,
    {
      spec: { '$setElementOrder/containers': [{ name: 'n' }, { name: 'b' }], containers: [{ name: 'n', image: 'n' }] },
    },
  ],
  ['orders without a list', onePod, pod, { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } }],
  [
    'deletes and orders',
    onePod,
    pod,
    { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a', $patch: 'delete' }] } },
  ],
  ['replaces an atomic list', onePod, pod, { spec: { tolerations: [{ key: 'z', operator: 'Exists' }] } }],
  [
    'merges below a merged item',
    onePod,
    pod,
    {
      spec: {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', $patch: 'delete' },
            ],
            ports: [{ containerPort: 81 }],
          },
        ],
      },
    },
  ],
  [
    'keeps only retained keys',
    oneDeployment,
    deployment,
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
  ],
  [
    'changes the volume source with retained keys',
    onePod,
    pod,
    { spec: { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] } },
  ],
  [
    'changes an image as kubectl does',
    oneDeployment,
    deployment,
    {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'c' }, { name: 'd' }],
            containers: [{ name: 'd', image: 'j:2' }],
          },
        },
      },
    },
  ],
  [
    'merges service ports by port',
    oneService,
    service,
    {
      spec: {
        ports: [
          { port: 443, name: 'tls' },
          { port: 8080, name: 'alt' },
        ],
      },
    },
  ],
  [
    'merges podCIDRs',
    oneNode,
    node,
    { spec: { podCIDRs: ['10.0.1.0/24'], taints: [{ key: 'b', effect: 'NoExecute' }] } },
  ],
  ['takes an empty list', onePod, pod, { spec: { containers: [], tolerations: [] } }],
  ['takes an empty patch', onePod, pod, {}],
];

/** `kubectl patch --local` is upstream's own implementation: the oracle where it is installed. */
function kubectlPatch(object: unknown, patch: unknown): unknown {
  const args = ['patch', '--local', '-f', '-', '--type', 'strategic', '-p', JSON.stringify(patch), '-o', 'json'];
  return JSON.parse(execFileSync('kubectl', args, { input: JSON.stringify(object), encoding: 'utf8' }));
}

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
/** kubectl prints typed objects: zero values of the type appear that are nowhere in the patch. */
const zeros: ReadonlySet<string> = new Set(['status', 'strategy', 'resources', 'targetPort', 'creationTimestamp']);

function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, entry]) => {
    if (!zeros.has(name)) return entry !== null;
    return entry !== null && entry !== 0 && JSON.stringify(withoutZeros(entry)) !== '{}';
  });
  const kept = entries.map(([name, entry]) => [name, withoutZeros(entry)] as const);
  return Object.fromEntries(
    kept.filter(([, entry]) => JSON.stringify(entry) !== '{}' && JSON.stringify(entry) !== '[]'),
  );
}

describe('strategicMergePatch §2.8-49', () => {
  it('puts new list items before existing ones', () => {
    const result = strategicMergePatch(
      oneDeployment,
      { spec: { template: { spec: { containers: [{ name: 'c2', image: 'i' }] } } } },
      deployment,
    );
    const containers = objectsOf(at(result, 'spec', 'template', 'spec', 'containers'));
    expect(containers.map(({ name }) => name)).toEqual(['c2', 'c', 'd']);
  });
  it('refuses a patch against the retained keys with 422', () => {
    expect(() =>
      strategicMergePatch(
        oneDeployment,
        { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } },
        deployment,
      ),
    ).toThrow('the server rejected our request');
  });
  it('names an unknown directive, without a reason', () => {
    expect(() => strategicMergePatch(onePod, { spec: { containers: [{ $patch: 'bogus', name: 'a' }] } }, pod)).toThrow(
      'unknown patch type: bogus in map: map[$patch:bogus name:a]',
    );
  });
  it('says what does not fit the type as the converter does', () => {
    expect(() => strategicMergePatch(onePod, { metadata: { labels: { a: 1 } } }, pod)).toThrow(
      ' "" is invalid: patch: Invalid value: "map[metadata:map[labels:map[a:1]]]": cannot convert int64 to string',
    );
    expect(() => strategicMergePatch(onePod, { metadata: { finalizers: 'x' } }, pod)).toThrow(
      'cannot restore slice from string',
    );
  });
  it('leaves the object as it was', () => {
    const before = structuredClone(onePod);
    for (const [, object, struct, patch] of cases) strategicMergePatch(object, patch, struct);
    expect(onePod).toEqual(before);
  });
  it.runIf(hasKubectl).each(cases)('%s, as kubectl patch --local does', (_name, object, struct, patch) => {
    const ours = strategicMergePatch(object, patch, struct);
    expect(withoutZeros(ours)).toEqual(withoutZeros(kubectlPatch(object, patch)));
  });
});
