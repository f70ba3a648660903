import type { UntypedObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { builtInDefinitions } from '../src/registry/builtins.js';
import { createRegistry } from '../src/crd/create-registry.js';
import type { ResourceDefinition, WriteContext } from '../src/resource/resource.js';

const registry = createRegistry({ definitions: builtInDefinitions() });

function context(objects: Record<string, UntypedObject[]> = {}): WriteContext & { warnings: string[] } {
  const warnings: string[] = [];
  return {
    now: '2026-11-21T00:50:17Z',
    random: () => 0.5,
    objects: (key) => objects[key] ?? [],
    warn: (text) => warnings.push(text),
    dryRun: false,
    warnings,
  };
}

function find(group: string, version: string, plural: string): ResourceDefinition {
  const found = registry.find(group, version, plural);
  if (found === undefined) throw new Error(`${group}/${version}/${plural} is not there`);
  return found;
}

function create(definition: ResourceDefinition, value: unknown) {
  const { object, problems } = definition.decode({ value });
  object.metadata.namespace ??= definition.namespaced ? 'default' : (undefined as never);
  if (!definition.namespaced) delete object.metadata.namespace;
  object.metadata.uid = 'u-1';
  object.metadata.creationTimestamp = '2026-11-21T00:50:17Z';
  definition.admit?.(object, undefined, context());
  definition.prepareForCreate(object, context());
  return { object, problems, errors: definition.validateCreate(object, context()) };
}

describe('built-in kinds', () => {
  it('§2.5-35 gives a Deployment the defaults of the real server', () => {
    const { object, errors } = create(find('apps', 'v1', 'deployments'), {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'd1' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    expect(errors).toEqual([]);
    expect(object).toEqual({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: {
        name: 'd1',
        namespace: 'default',
        uid: 'u-1',
        creationTimestamp: '2026-11-21T00:50:17Z',
        generation: 1,
      },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [
              {
                name: 'c',
                image: 'i',
                resources: {},
                terminationMessagePath: '/dev/termination-log',
                terminationMessagePolicy: 'File',
                imagePullPolicy: 'Always',
              },
            ],
            restartPolicy: 'Always',
            terminationGracePeriodSeconds: 30,
            dnsPolicy: 'ClusterFirst',
            securityContext: {},
            schedulerName: 'default-scheduler',
          },
        },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: {},
    });
  });
  it('§2.5-35 makes a Pod pending, with its quality of service and tolerations', () => {
    const { object, errors } = create(find('', 'v1', 'pods'), {
      metadata: { name: 'p1' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    expect(errors).toEqual([]);
    expect(object['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(Object.keys(object['spec'] as object).sort()).toEqual(
      [
        'containers',
        'restartPolicy',
        'terminationGracePeriodSeconds',
        'dnsPolicy',
        'securityContext',
        'schedulerName',
        'tolerations',
        'priority',
        'enableServiceLinks',
        'preemptionPolicy',
      ].sort(),
    );
  });
  it('§2.5-35 folds stringData of a Secret and gives a Service an address', () => {
    const secret = create(find('', 'v1', 'secrets'), { metadata: { name: 's' }, stringData: { a: 'x' } }).object;
    expect([secret['type'], secret['data'], secret['stringData']]).toEqual(['Opaque', { a: 'eA==' }, undefined]);
    const service = create(find('', 'v1', 'services'), {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }], selector: { a: 'b' } },
    });
    expect(service.errors).toEqual([]);
    expect(service.object['spec']).toMatchObject({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: expect.stringMatching(/^10\.0\.\d+\.\d+$/) as string,
    });
  });
  it('§2.5-36 names what is missing in a Deployment, in the order of the real server', () => {
    const { errors } = create(find('apps', 'v1', 'deployments'), { metadata: { name: 'd1' }, spec: { template: {} } });
    expect(errors.map(({ reason, field }) => [reason, field])).toEqual([
      ['FieldValueRequired', 'spec.selector'],
      ['FieldValueInvalid', 'spec.template.metadata.labels'],
      ['FieldValueRequired', 'spec.template.spec.containers'],
    ]);
  });
  it('§2.2-10 refuses wrong kinds, versions and types of a built-in with 400', () => {
    const configMaps = find('', 'v1', 'configmaps');
    const decode = (value: unknown) => () => configMaps.decode({ value });
    expect(decode({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } })).toThrow(
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    );
    expect(decode({ apiVersion: 'v9' })).toThrow(
      'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v9"',
    );
    const autoscalers = find('autoscaling', 'v2', 'horizontalpodautoscalers');
    expect(() =>
      autoscalers.decode({ value: { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1' } }),
    ).toThrow('the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)');
    expect(decode({ metadata: { name: 'a' }, data: { a: 1 } })).toThrow(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
  });
  it('§2.11-70 reports unknown fields with their paths', () => {
    const { problems } = create(find('', 'v1', 'pods'), {
      metadata: { name: 'p', bogus: 1 },
      spec: { containers: [{ name: 'c', image: 'i', zap: true }], foo: 1 },
    });
    expect(problems).toEqual([
      'unknown field "metadata.bogus"',
      'unknown field "spec.containers[0].zap"',
      'unknown field "spec.foo"',
    ]);
  });
  it('takes an empty body of every stored kind without breaking', () => {
    for (const definition of registry.list().filter(({ isStored }) => isStored)) {
      const { object, errors } = create(definition, { metadata: { name: 'x' } });
      expect(object.kind).toBe(definition.kind);
      expect(Array.isArray(errors)).toBe(true);
      expect(definition.fromStorage(definition.toStorage(object)).apiVersion).toBe(definition.apiVersion);
      expect(definition.cells(object, 0)).toHaveLength(definition.columns.length);
    }
  });
});
