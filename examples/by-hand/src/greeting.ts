import { defineKind, setControllerReference, type KubeObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/client';

/** What the operator is about: a Greeting becomes a ConfigMap with a text. */
export interface Greeting extends KubeObject {
  spec: { name: string };
}

export const Greeting = defineKind<Greeting>()({
  group: 'demo.kctl.dev',
  version: 'v1',
  kind: 'Greeting',
  scope: 'Namespaced',
});

export const greetingCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${Greeting.plural}.${Greeting.group}` },
  spec: {
    group: Greeting.group,
    scope: 'Namespaced',
    names: { kind: Greeting.kind, listKind: 'GreetingList', plural: Greeting.plural, singular: 'greeting' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } },
            },
          },
        },
      },
    ],
  },
};

/** Writes into a draft what the ConfigMap of a Greeting contains. */
export function shapeText(greeting: ReadObject<typeof Greeting>, draft: ConfigMap): void {
  draft.data = { text: `Hello, ${greeting.spec.name}!` };
  setControllerReference(greeting, Greeting, draft);
}
