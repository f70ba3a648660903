import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { loadYaml } from '@kubernetes/client-node';
import type { V1ConfigMap, V1CustomResourceDefinition, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { jsonOf } from './json-of.js';

it('takes members of the name constructor, which users may choose', () => {
  const map: V1ConfigMap = { metadata: { name: 'a', labels: { constructor: 'b' } }, data: { constructor: 'c' } };
  expect(jsonOf(ConfigMap, map)).toEqual(map);
});

const users = { constructor: {}, _from: { type: 'string' }, x_kubernetes_list_type: { type: 'string' } };
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    versions: [
      {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            'x-kubernetes-list-type': 'map',
            default: { _default: 1, at: ['2026-01-02T03:04:05Z', { _enum: 2 }] },
            enum: [{ _int: 1 }],
            properties: { ...users, a: { default: 'b', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};

it('leaves names that users have chosen as they are, in a literal and in a model that was read', () => {
  const read = loadYaml<V1CustomResourceDefinition>(JSON.stringify(crd));
  const schema = read.spec.versions[0]?.schema?.openAPIV3Schema;
  expect(schema?._default).toEqual(crd.spec.versions[0]?.schema.openAPIV3Schema.default);
  expect(JSON.parse(JSON.stringify(jsonOf(CustomResourceDefinition, read)))).toEqual(crd);
  const plain = structuredClone(read);
  expect(Object.getPrototypeOf(plain.spec)).toBe(Object.prototype);
  expect(JSON.parse(JSON.stringify(jsonOf(CustomResourceDefinition, plain)))).toEqual(crd);

  const pod: V1Pod = {
    metadata: { name: 'a', labels: { x_kubernetes_zone: 'b' } },
    spec: { containers: [], nodeSelector: { x_kubernetes_zone: 'b' } },
  };
  expect(jsonOf(Pod, pod)).toEqual(pod);
});
