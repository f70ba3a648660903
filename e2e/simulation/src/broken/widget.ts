import { defineKind, isNotFound, type KubeObject, type NamespacedKey } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, createManager, type ReconcileFunction, type RuntimeManager } from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions, World } from '@kctl/simulation';

export interface Widget extends KubeObject {
  spec: { size: number };
  status?: { size?: number; checkedAt?: string; runs?: number };
}

/** What the broken reconcilers are about: each is to have a ConfigMap. */
export const Widget = defineKind<Widget>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  scope: 'Namespaced',
});

const widgetCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

export const namespace = 'demo';

/** Makes the reconcilers of one replica, by the names of their controllers. */
export type Reconcilers = (
  manager: RuntimeManager,
  world: ReplicaWorld,
) => Readonly<Record<string, ReconcileFunction<NamespacedKey>>>;

/** An operator over Widgets with these reconcilers, and users of it. */
export function widgetOperator(reconcilers: Reconcilers, more: Partial<SimulateOptions> = {}): SimulateOptions {
  return {
    replicas: 1,
    simulatedMinutes: 10,
    seeds: 20,
    resources: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, widgetCrd],
    operator: async (world) => {
      const manager = await createManager(world.options);
      for (const [name, reconciler] of Object.entries(reconcilers(manager, world)))
        controllerManagedBy(manager).named(name).for(Widget).owns(ConfigMap).complete(reconciler);
      return manager;
    },
    workload: useWidgets,
    ...more,
  };
}

async function useWidgets({ client, random, sleep }: World): Promise<void> {
  for (const name of ['a', 'b', 'c']) {
    await sleep(random() * 30_000);
    await client.create(Widget, { metadata: { namespace, name }, spec: { size: Math.floor(random() * 10) } });
  }
  for (const name of ['a', 'b']) {
    await sleep(60_000 + random() * 30_000);
    await client.patch(Widget, { namespace, name }, { type: 'merge', body: { spec: { size: 11 } } });
  }
  await sleep(60_000);
  await client.delete(Widget, { namespace, name: 'c' }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
