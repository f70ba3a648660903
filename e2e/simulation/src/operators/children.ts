import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { hasControllerReference, isConditionTrue, type Condition, type NamespacedKey } from '@kctl/apimachinery';
import {
  controllerManagedBy,
  createDelegatingClient,
  createManager,
  dependents,
  ignoreAlreadyExists,
  ignoreNotFound,
  type Client,
  type RuntimeManager,
} from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions, World } from '@kctl/simulation';
import { namespace, Widget, widgetOperator } from '../broken/widget.js';
import { ChildrenRules } from './children-rules.js';

/** The label of objects that others made, beside the labels of a child that they copied. */
const foreignLabel = 'children.example.com/foreign';
const fieldOwner = 'children.example.com';

/** Three nodes in two waves: a set of as many parts as the size has, and a roof if it is odd. */
const childrenOfWidget = () =>
  dependents(Widget, { fieldOwner })
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

/** The data of the children of a Widget, by name. */
function dataOf(name: string, size: number): Map<string, Readonly<Record<string, string>>> {
  const wanted = new Map<string, Readonly<Record<string, string>>>();
  wanted.set(`${name}-base`, { scale: '1', size: String(size) });
  for (const id of partsOf(size)) wanted.set(`${name}-parts-${id}`, { id, size: String(size) });
  if (size % 2 === 1) wanted.set(`${name}-roof`, { parts: String(size % 4) });
  return wanted;
}

/** What an operator with declared children does while users edit, delete and replace its objects. */
export function childrenOperator(): SimulateOptions {
  let rules: ChildrenRules | undefined;
  return {
    ...widgetOperator(() => ({})),
    replicas: 2,
    convergeWithinMs: 900_000,
    // The label of a child is the hash of its owner's uid, which is another in each run.
    except: ['differs-from-undisturbed'],
    operator: (world) => createChildren(world, (uid) => rules?.deleting(uid)),
    workload: async (world) => {
      rules = new ChildrenRules(world, dataOf, isForeign);
      await editWidgets(world);
    },
    settled: async ({ client }) => {
      const { items: children } = await client.list(ConfigMap, { namespace });
      const { items: widgets } = await client.list(Widget, { namespace });
      const wanted = new Map<string, Readonly<Record<string, string>>>();
      for (const { metadata, spec, status } of widgets) {
        const { name } = metadata;
        const { conditions, observedGeneration } = (status ?? {}) as ReportedStatus;
        if (observedGeneration !== metadata.generation || !isConditionTrue(conditions ?? [], 'Ready'))
          throw new Error(`${name}: not ready: ${JSON.stringify(status)}`);
        for (const [child, data] of dataOf(name, spec.size)) wanted.set(child, data);
      }
      for (const { metadata, data } of children) {
        if (metadata.labels?.['kctl.dev/part-of'] === undefined || isForeign(metadata)) continue;
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

async function createChildren(
  { options }: ReplicaWorld,
  onDelete: (uid: string | undefined) => void,
): Promise<RuntimeManager> {
  const manager = await createManager({
    ...options,
    leaderElection: { name: 'children', namespace: 'default' },
    newClient: (parts) => observeDeletes(createDelegatingClient(parts), onDelete),
  });
  const children = childrenOfWidget();
  controllerManagedBy(manager)
    .named('children')
    .for(Widget)
    .dependents(children)
    .complete(children.reconciler({ events: manager.recorder('children') }));
  return manager;
}

function observeDeletes<C extends Pick<Client, 'delete'>>(client: C, onDelete: (uid: string | undefined) => void): C {
  const send: Client['delete'] = client.delete.bind(client);
  const observed: Client['delete'] = async (kind, key, given) => {
    onDelete(given?.preconditions?.uid);
    return await send(kind, key, given);
  };
  return Object.assign(client, { delete: observed });
}

interface Labelled {
  readonly labels?: Readonly<Record<string, string>>;
}

function isForeign({ labels }: Labelled): boolean {
  return labels?.[foreignLabel] !== undefined;
}

/**
 * Others, whose objects have the labels of a child and no owner: beside it, or under its name in its place. The rule
 * `foreign-object` is that the operator neither writes nor deletes them.
 */
class Others {
  readonly #world: World;
  /** Uids of objects that their makers delete. */
  readonly #deleted = new Set<string>();
  readonly #terminating = new Set<string>();
  readonly #inPlace: NamespacedKey[] = [];
  #copies = 0;

  constructor(world: World) {
    this.#world = world;
    // It stays until the world ends. Of the faults, other-deletes takes objects with a controller alone, and
    // namespace-deleted everything: what else deletes one of these objects is the operator.
    world.server.onCommit(({ resource, name, change, object, previous = object }) => {
      const isOnItsWay = object.metadata.deletionTimestamp !== undefined || change === 'DELETED';
      if (resource === '/namespaces') this.#terminating[isOnItsWay && change !== 'DELETED' ? 'add' : 'delete'](name);
      if (resource !== '/configmaps' || change === 'ADDED' || !isForeign(previous.metadata)) return;
      const { uid = '', managedFields = [] } = object.metadata;
      if (managedFields.some(({ manager = '' }) => manager.startsWith(fieldOwner)))
        world.violate('foreign-object', `${name} of others was written by ${fieldOwner}`, `configmaps ${name}`);
      if (isOnItsWay && !this.#deleted.has(uid) && !this.#terminating.has(namespace))
        world.violate('foreign-object', `${name} of others was deleted by the operator`, `configmaps ${name}`);
    });
  }

  /** Makes one. */
  async intrude(): Promise<void> {
    const { client, random } = this.#world;
    const { items } = await client.list(ConfigMap, { namespace });
    const children = items.filter(({ metadata }) => hasControllerReference({ metadata }));
    const child = children[Math.floor(random() * children.length)];
    if (child === undefined) return;
    const labels = { ...child.metadata.labels, [foreignLabel]: 'true' };
    const key = { namespace, name: child.metadata.name };
    const data = { size: 'foreign' };
    if (random() < 0.3) {
      const copy = { namespace, name: `copy-${this.#copies++}`, labels };
      await ignoreAlreadyExists(client.create(ConfigMap, { metadata: copy, data }));
      return;
    }
    this.#inPlace.push(key);
    await ignoreNotFound(client.delete(ConfigMap, key));
    await ignoreAlreadyExists(client.create(ConfigMap, { metadata: { ...key, labels }, data }));
    // Caches may have the owner's change before that of the child.
    const [owner = ''] = key.name.split('-');
    const spec = { size: 1 + 2 * Math.floor(random() * 10) };
    await ignoreNotFound(client.patch(Widget, { namespace, name: owner }, { type: 'merge', body: { spec } }));
  }

  /** Deletes those that are in the place of a child. */
  async makeWay(): Promise<void> {
    const { client } = this.#world;
    for (const key of this.#inPlace.splice(0)) {
      const found = await ignoreNotFound(client.get(ConfigMap, key));
      if (found === undefined || !isForeign(found.metadata)) continue;
      const { uid } = found.metadata;
      this.#deleted.add(uid);
      await ignoreNotFound(client.delete(ConfigMap, key, { preconditions: { uid } }));
    }
  }
}

async function editWidgets(world: World): Promise<void> {
  const { client, random, sleep: pause } = world;
  const others = new Others(world);
  for (let step = 0; step < 60; step++) {
    await pause(random() < 0.2 ? random() * 20 : random() * 20_000);
    if (random() < 0.3) await others.makeWay();
    if (random() < 0.2) await others.intrude();
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
  await others.makeWay();
}
