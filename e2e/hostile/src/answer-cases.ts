/** Answers about long objects in forms that look into them. */
import type { HostileCase, HostileRequest } from './cases.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'hostile.kctl.test';
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const protobuf = 'application/vnd.kubernetes.protobuf';

function post(path: string, value: unknown): HostileRequest {
  return { method: 'POST', path, body: JSON.stringify(value) };
}

/** As long as etcd takes them. */
const longMaps = numbers(3).map((index) =>
  post(configMaps, {
    metadata: { name: `long${index}` },
    data: Object.fromEntries(numbers(60_000).map((key) => [`key${key}`, 'v'])),
  }),
);

const open = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: { kind: { type: 'string' }, size: { type: 'integer' } },
};

function definition(plural: string, more: object = {}, names: readonly string[] = ['v1']): HostileRequest {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  return post(crds, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: names.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open } } },
        ...more,
      })),
    },
  });
}

const objects = (plural: string, version = 'v1'): string => `/apis/${group}/${version}/namespaces/default/${plural}`;

function longObjects(plural: string): HostileRequest[] {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  return numbers(3).map((index) =>
    post(objects(plural), {
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name: `long${index}`, finalizers: index === 2 ? ['kctl.test/kept'] : [] },
      spec: { size: index, any: numbers(70_000).map((each) => ({ a: each, b: 'x' })) },
    }),
  );
}

const columns = { additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] };
const selectable = { selectableFields: [{ jsonPath: '.spec.kind' }] };

/** Cases about answers. */
export const answerCases: readonly HostileCase[] = [
  ...(
    [
      ['a Table', table],
      ['protobuf', protobuf],
    ] as const
  ).flatMap(([form, accept]): HostileCase[] => [
    {
      name: `watch of ConfigMaps with 60,000 keys each, as ${form}`,
      setUp: longMaps,
      request: { method: 'GET', path: `${configMaps}?watch=true&timeoutSeconds=1`, accept },
      statuses: [200],
    },
    {
      name: `list of ConfigMaps with 60,000 keys each, as ${form}`,
      setUp: longMaps,
      request: { method: 'GET', path: configMaps, accept },
      statuses: [200],
    },
    {
      name: `ConfigMap with 60,000 keys, as ${form}`,
      setUp: longMaps,
      request: { method: 'GET', path: `${configMaps}/long1`, accept },
      statuses: [200],
    },
  ]),
  {
    name: 'list of custom resources of 1.4 MB each, as a Table with a column',
    setUp: [definition('printed', columns), ...longObjects('printed')],
    request: { method: 'GET', path: objects('printed'), accept: table },
    statuses: [200],
  },
  {
    name: 'watch of custom resources of 1.4 MB each, as a Table with a column',
    setUp: [definition('followed', columns), ...longObjects('followed')],
    request: { method: 'GET', path: `${objects('followed')}?watch=true&timeoutSeconds=1`, accept: table },
    statuses: [200],
  },
  {
    name: 'list of custom resources of 1.4 MB each, by a field',
    setUp: [definition('selected', selectable), ...longObjects('selected')],
    request: { method: 'GET', path: `${objects('selected')}?fieldSelector=spec.kind%3Da` },
    statuses: [200],
  },
  {
    name: 'list of custom resources of 1.4 MB each, in another version',
    setUp: [definition('versioned', {}, ['v1', 'v2']), ...longObjects('versioned')],
    request: { method: 'GET', path: objects('versioned', 'v2') },
    statuses: [200],
  },
  {
    name: 'deletion of a custom resource of 1.4 MB that a finalizer holds',
    setUp: [definition('held'), ...longObjects('held')],
    request: { method: 'DELETE', path: `${objects('held')}/long2` },
    statuses: [200],
  },
  {
    name: 'deletion of all custom resources of 1.4 MB each',
    setUp: [definition('purged'), ...longObjects('purged')],
    request: { method: 'DELETE', path: objects('purged') },
    statuses: [200],
  },
  {
    name: 'deletion of a definition with custom resources of 1.4 MB each',
    setUp: [definition('dropped'), ...longObjects('dropped')],
    request: { method: 'DELETE', path: `${crds}/dropped.${group}` },
    statuses: [200],
  },
];
