import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { isConditionTrue, type Condition } from '@kctl/apimachinery';
import { controllerManagedBy, createManager, dependents, ignoreNotFound, type RuntimeManager } from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions, World } from '@kctl/simulation';
import { namespace, Widget, widgetOperator } from '../broken/widget.js';

/** Three nodes in two waves: a set of as many parts as the size has, and a roof if it is odd. */
const childrenOfWidget = () =>
  dependents(Widget, { fieldOwner: 'children.example.com' })
    .child('base', ConfigMap, {
      initial: () => ({ data: { scale: '1' } }),
      desired: ({ spec }) => ({ data: { size: String(spec.size) } }),
    })
    .set('parts', ConfigMap, {
      each: ({ spec }) => new Map(partsOf(spec.size).map((id) => [id, id])),
      needs: ['base'],
      desired: ({ spec }, id) => ({ data: { id, size: String(spec.size) } }),
    })
    .child('roof', ConfigMap, {
      when: ({ spec }) => spec.size % 2 === 1,
      needsReady: ['parts'],
      desired: (_widget, { parts }) => ({ data: { parts: String(parts.size) } }),
    });

interface ReportedStatus {
  readonly conditions?: Condition[];
  readonly observedGeneration?: number;
}

const partsOf = (size: number): string[] => Array.from({ length: size % 4 }, (_, index) => `p${index}`);

/** What an operator with declared children does while users edit, delete and replace its objects. */
export function childrenOperator(): SimulateOptions {
  return {
    ...widgetOperator(() => ({})),
    replicas: 2,
    convergeWithinMs: 900_000,
    // The label of a child is the hash of its owner's uid, which is another in each run.
    except: ['differs-from-undisturbed'],
    operator: createChildren,
    workload: editWidgets,
    settled: async ({ client }) => {
      const { items: children } = await client.list(ConfigMap, { namespace });
      const { items: widgets } = await client.list(Widget, { namespace });
      const wanted = new Map<string, Readonly<Record<string, string>>>();
      for (const { metadata, spec, status } of widgets) {
        const { name } = metadata;
        const { conditions, observedGeneration } = (status ?? {}) as ReportedStatus;
        if (observedGeneration !== metadata.generation || !isConditionTrue(conditions ?? [], 'Ready'))
          throw new Error(`${name}: not ready: ${JSON.stringify(status)}`);
        wanted.set(`${name}-base`, { scale: '1', size: String(spec.size) });
        for (const id of partsOf(spec.size)) wanted.set(`${name}-parts-${id}`, { id, size: String(spec.size) });
        if (spec.size % 2 === 1) wanted.set(`${name}-roof`, { parts: String(spec.size % 4) });
      }
      for (const { metadata, data } of children) {
        if (metadata.labels?.['kctl.dev/part-of'] === undefined) continue;
        const expected = wanted.get(metadata.name);
        if (expected === undefined) throw new Error(`${metadata.name} is left over`);
        if (JSON.stringify(Object.entries(data ?? {}).sort()) !== JSON.stringify(Object.entries(expected).sort()))
          throw new Error(`${metadata.name} is ${JSON.stringify(data)}, expected ${JSON.stringify(expected)}`);
        const owner = widgets.find(({ metadata: { uid } }) => uid === metadata.ownerReferences?.[0]?.uid);
        if (owner === undefined) throw new Error(`${metadata.name} has no owner that exists`);
        wanted.delete(metadata.name);
      }
      if (wanted.size > 0) throw new Error(`missing: ${[...wanted.keys()].join(', ')}`);
    },
  };
}

async function createChildren({ options }: ReplicaWorld): Promise<RuntimeManager> {
  const manager = await createManager({
    ...options,
    leaderElection: { name: 'children', namespace: 'default' },
  });
  const children = childrenOfWidget();
  controllerManagedBy(manager)
    .named('children')
    .for(Widget)
    .dependents(children)
    .complete(children.reconciler({ events: manager.recorder('children') }));
  return manager;
}

async function editWidgets({ client, random, sleep: pause }: World): Promise<void> {
  for (let step = 0; step < 60; step++) {
    await pause(random() < 0.2 ? random() * 20 : random() * 20_000);
    const key = { namespace, name: `w${Math.floor(random() * 4)}` };
    const spec = { size: Math.floor(random() * 20) };
    const chance = random();
    if (chance < 0.2) await ignoreNotFound(client.delete(Widget, key));
    if (chance < 0.1) continue;
    if (chance > 0.9) {
      await ignoreNotFound(
        client.patch(
          ConfigMap,
          { namespace, name: `${key.name}-base` },
          { type: 'merge', body: { data: { size: 'x' } } },
        ),
      );
      continue;
    }
    const patched = await ignoreNotFound(client.patch(Widget, key, { type: 'merge', body: { spec } }));
    if (patched === undefined) await client.create(Widget, { metadata: key, spec });
  }
}
