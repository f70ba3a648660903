import type { UntypedObject } from '@kctl/apimachinery';
import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';
import { commitInternal } from '../handlers/commit.js';
import { plainDeletion } from '../handlers/delete-options.js';
import { deleteStored } from '../handlers/deletion.js';
import type { StoreEvent } from '../storage/table.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

const namespaces = '/namespaces';
/** Objects that one step deletes at most. */
const deletesPerStep = 100;

interface Remains {
  /** Plural and group → how many. */
  readonly resources: Map<string, number>;
  readonly finalizers: Map<string, number>;
}

interface Condition {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

function isTerminating(object: UntypedObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function printCounts(counts: ReadonlyMap<string, number>, verb: 'has' | 'in'): string {
  return [...counts].map(([name, count]) => `${name} ${verb} ${count} resource instances`).join(', ');
}

/** The conditions that kubectl shows of a namespace on its way out, worded as upstream words them. */
function conditionsOf({ resources, finalizers }: Remains): Condition[] {
  const remains = resources.size > 0;
  const held = finalizers.size > 0;
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      isTrue: false,
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      isTrue: false,
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      isTrue: false,
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    {
      type: 'NamespaceContentRemaining',
      isTrue: remains,
      reason: remains ? 'SomeResourcesRemain' : 'ContentRemoved',
      message: remains
        ? `Some resources are remaining: ${printCounts(resources, 'has')}`
        : 'All content successfully removed',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      isTrue: held,
      reason: held ? 'SomeFinalizersRemain' : 'ContentHasNoFinalizers',
      message: held
        ? `Some content in the namespace has finalizers remaining: ${printCounts(finalizers, 'in')}`
        : 'All content-preserving finalizers finished',
    },
  ];
}

/** Empties namespaces that are being deleted, then lets them go. */
class NamespaceController implements InnerController {
  readonly #backend: Backend;
  readonly #work = createWorkSet<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  observe({ table, key, type, current }: StoreEvent): void {
    if (table === namespaces) {
      if (type !== 'DELETED' && isTerminating(current.object)) this.#work.add(key);
      return;
    }
    const slash = key.indexOf('/');
    const namespace = slash < 0 ? '' : key.slice(0, slash);
    if (namespace === '') return;
    if (isTerminating(this.#backend.store.table(namespaces).get(namespace)?.object)) this.#work.add(namespace);
  }

  resync(): void {
    for (const [key, { object }] of this.#backend.store.table(namespaces).scan({}))
      if (isTerminating(object)) this.#work.add(key);
  }

  step(): boolean {
    const name = this.#work.take();
    if (name === undefined) return false;
    const present = this.#backend.store.table(namespaces).get(name);
    if (present === undefined || !isTerminating(present.object)) return true;
    const remains = this.#empty(name);
    if (remains === undefined) {
      this.#work.add(name);
      return true;
    }
    const next =
      remains.resources.size === 0 ? this.#released(present.object) : this.#described(present.object, remains);
    commitInternal(this.#backend, { table: namespaces, key: name }, { present, next });
    return true;
  }

  /** Deletes contents; what is left, or undefined when there is more to delete. */
  #empty(namespace: string): Remains | undefined {
    const remains: Remains = { resources: new Map(), finalizers: new Map() };
    const { store, registry } = this.#backend;
    let left = deletesPerStep;
    for (const table of [...store.tables()]) {
      const [definition] = registry.ofStorage(table.name);
      if (definition?.namespaced !== true) continue;
      for (const [key, version] of [...table.scan({ prefix: `${namespace}/` })]) {
        if (version.object.metadata.deletionTimestamp === undefined) {
          if (left-- === 0) return undefined;
          deleteStored(this.#backend, definition, {
            present: version,
            options: { ...plainDeletion, policy: 'Background' },
          });
        }
        const held = table.get(key);
        if (held === undefined) continue;
        increase(
          remains.resources,
          definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`,
        );
        for (const finalizer of held.object.metadata.finalizers ?? []) increase(remains.finalizers, finalizer);
      }
    }
    return remains;
  }

  #released(object: UntypedObject): UntypedObject {
    const { spec } = object;
    const finalizers: unknown =
      typeof spec === 'object' && spec !== null && 'finalizers' in spec ? spec.finalizers : [];
    const others = Array.isArray(finalizers) ? finalizers.filter((name: unknown) => name !== 'kubernetes') : [];
    return { ...object, spec: { ...(typeof spec === 'object' ? spec : {}), finalizers: others } };
  }

  #described(object: UntypedObject, remains: Remains): UntypedObject {
    const { status } = object;
    const known: unknown =
      typeof status === 'object' && status !== null && 'conditions' in status ? status.conditions : [];
    const now = formatTime(this.#backend.clock.now());
    const conditions = conditionsOf(remains).map(({ type, isTrue, reason, message }) => {
      const state = isTrue ? 'True' : 'False';
      const before: unknown = Array.isArray(known)
        ? known.find((each: unknown) => member(each, 'type') === type)
        : undefined;
      const since = member(before, 'status') === state ? member(before, 'lastTransitionTime') : now;
      return { type, status: state, lastTransitionTime: since, reason, message };
    });
    return { ...object, status: { ...(typeof status === 'object' ? status : {}), conditions } };
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function createNamespaceController(backend: Backend): InnerController {
  return new NamespaceController(backend);
}
