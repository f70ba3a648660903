import { parseApiVersion, type OwnerReference, type UntypedObject } from '@kctl/apimachinery';
import { storageKeyOf, type Backend } from '../handlers/call.js';
import { commitInternal } from '../handlers/commit.js';
import { plainDeletion } from '../handlers/delete-options.js';
import { deleteStored } from '../handlers/deletion.js';
import type { StoreEvent } from '../storage/table.js';
import type { ObjectVersion } from '../storage/version.js';
import { withMetadata } from '../storage/long-object.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';
/** Events have no dependents, and they are many. */
const ignoredTables = new Set(['/events', 'events.k8s.io/events']);

interface Place {
  readonly table: string;
  readonly key: string;
}

interface Node extends Place {
  readonly uid: string;
  readonly owners: readonly string[];
}

type OwnerState = 'solid' | 'dangling' | 'waiting';

function isWaitingForDependents(object: UntypedObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.includes(foreground);
}

function withoutFinalizer(object: UntypedObject, finalizer: string): UntypedObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return withMetadata(object, { ...object.metadata, finalizers });
}

function withOwners(object: UntypedObject, owners: readonly OwnerReference[]): UntypedObject {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return withMetadata(object, owners.length === 0 ? metadata : { ...metadata, ownerReferences: [...owners] });
}

/**
 * Collects objects that have lost all their owners, like kube-controller-manager's garbage collector, but on the store
 * itself.
 */
/** Dependents that one step sets free. */
const maxOrphans = 100;

class GarbageCollector implements InnerController {
  readonly #backend: Backend;
  readonly #nodes = new Map<string, Node>();
  /** uids of those that name an owner, by its uid. */
  readonly #dependents = new Map<string, Set<string>>();
  readonly #work = createWorkSet<string>();
  /** Objects whose owner is of a kind that is not served; checked again when kinds come. */
  readonly #undecided = new Set<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  observe({ table, key, type, current }: StoreEvent): void {
    if (ignoredTables.has(table)) return;
    const { uid } = current.object.metadata;
    if (uid === undefined) return;
    const before = this.#nodes.get(uid);
    if (type === 'DELETED') {
      this.#forget(uid);
      for (const dependent of this.#dependents.get(uid) ?? []) this.#work.add(dependent);
      for (const owner of before?.owners ?? []) this.#work.add(owner);
      return;
    }
    this.#remember({
      uid,
      table,
      key,
      owners: (current.object.metadata.ownerReferences ?? []).map((owner) => owner.uid),
    });
    const { deletionTimestamp, ownerReferences = [] } = current.object.metadata;
    if (deletionTimestamp !== undefined || ownerReferences.length > 0) this.#work.add(uid);
    // An owner that waits for this dependent may be waiting no longer.
    for (const owner of before?.owners ?? []) this.#work.add(owner);
  }

  kindsChanged(): void {
    for (const uid of this.#undecided) this.#work.add(uid);
    this.#undecided.clear();
  }

  resync(): void {
    this.#nodes.clear();
    this.#undecided.clear();
    this.#dependents.clear();
    this.#work.clear();
    for (const table of this.#backend.store.tables()) {
      if (ignoredTables.has(table.name)) continue;
      for (const [key, { object }] of table.scan({})) {
        const { uid, ownerReferences = [], deletionTimestamp } = object.metadata;
        if (uid === undefined) continue;
        this.#remember({ uid, table: table.name, key, owners: ownerReferences.map((owner) => owner.uid) });
        if (ownerReferences.length > 0 || deletionTimestamp !== undefined) this.#work.add(uid);
      }
    }
  }

  step(): boolean {
    const uid = this.#work.take();
    if (uid === undefined) return false;
    const node = this.#nodes.get(uid);
    const present = node === undefined ? undefined : this.#present(node);
    if (node !== undefined && present !== undefined) this.#process(node, present);
    return true;
  }

  #present(node: Node): ObjectVersion | undefined {
    const version = this.#backend.store.table(node.table).get(node.key);
    return version?.object.metadata.uid === node.uid ? version : undefined;
  }

  #process(node: Node, present: ObjectVersion): void {
    const { deletionTimestamp, finalizers = [] } = present.object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(orphan)) this.#orphanDependents(node, present);
      else if (finalizers.includes(foreground)) this.#deleteDependentsFirst(node, present);
      return;
    }
    this.#collectIfAbandoned(node, present);
  }

  #orphanDependents(node: Node, present: ObjectVersion): void {
    let room = maxOrphans;
    for (const [dependent, version] of this.#dependentsOf(node.uid)) {
      const left = (version.object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== node.uid);
      commitInternal(this.#backend, dependent, { present: version, next: withOwners(version.object, left) });
      room -= 1;
      if (room > 0) continue;
      // The others have their turn with the next step.
      this.#work.add(node.uid);
      return;
    }
    commitInternal(this.#backend, node, { present, next: withoutFinalizer(present.object, orphan) });
  }

  #deleteDependentsFirst(node: Node, present: ObjectVersion): void {
    let isBlocked = false;
    for (const [dependent, { object }] of this.#dependentsOf(node.uid)) {
      const reference = object.metadata.ownerReferences?.find((owner) => owner.uid === node.uid);
      if (reference?.blockOwnerDeletion === true) isBlocked = true;
      if (object.metadata.deletionTimestamp === undefined) this.#work.add(dependent.uid);
    }
    if (!isBlocked)
      commitInternal(this.#backend, node, { present, next: withoutFinalizer(present.object, foreground) });
  }

  #collectIfAbandoned(node: Node, present: ObjectVersion): void {
    const references = present.object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const states = references.map((reference) => this.#stateOf(reference, present.object));
    if (states.includes('solid')) {
      const left = references.filter((_, index) => states[index] === 'solid');
      if (left.length < references.length)
        commitInternal(this.#backend, node, { present, next: withOwners(present.object, left) });
      return;
    }
    const isOwner = (this.#dependents.get(node.uid)?.size ?? 0) > 0;
    const policy = states.includes('waiting') && isOwner ? 'Foreground' : ownPolicy(present.object);
    const [definition] = this.#backend.registry.ofStorage(node.table);
    if (definition === undefined) return;
    deleteStored(this.#backend, definition, { present, options: { ...plainDeletion, policy } });
  }

  /**
   * Whether an owner exists. One that cannot be looked up (an unknown kind, a namespaced owner of a cluster-scoped
   * object) counts as existing, so that nothing is deleted on a guess.
   */
  #stateOf(reference: OwnerReference, dependent: UntypedObject): OwnerState {
    const { group, version } = parseApiVersion(reference.apiVersion);
    const definition = this.#backend.registry.findKind(group, version, reference.kind);
    const { namespace = '' } = dependent.metadata;
    if (definition === undefined && dependent.metadata.uid !== undefined) this.#undecided.add(dependent.metadata.uid);
    if (definition === undefined || (definition.namespaced && namespace === '')) return 'solid';
    const key = storageKeyOf(definition.namespaced ? namespace : '', reference.name);
    const owner = this.#backend.store.table(definition.storageKey).get(key);
    if (owner?.object.metadata.uid !== reference.uid) return 'dangling';
    return isWaitingForDependents(owner.object) ? 'waiting' : 'solid';
  }

  *#dependentsOf(uid: string): Iterable<readonly [Node, ObjectVersion]> {
    for (const each of [...(this.#dependents.get(uid) ?? [])]) {
      const node = this.#nodes.get(each);
      const version = node === undefined ? undefined : this.#present(node);
      if (node !== undefined && version !== undefined) yield [node, version];
    }
  }

  #remember(node: Node): void {
    const before = this.#nodes.get(node.uid);
    const owners = new Set(node.owners);
    for (const owner of before?.owners ?? []) if (!owners.has(owner)) this.#unlink(owner, node.uid);
    this.#nodes.set(node.uid, node);
    for (const owner of node.owners) {
      const dependents = this.#dependents.get(owner) ?? new Set<string>();
      dependents.add(node.uid);
      this.#dependents.set(owner, dependents);
    }
  }

  #forget(uid: string): void {
    const node = this.#nodes.get(uid);
    this.#nodes.delete(uid);
    this.#undecided.delete(uid);
    for (const owner of node?.owners ?? []) this.#unlink(owner, uid);
  }

  #unlink(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(dependent);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

/** The policy that an object's finalizers request, if the request has no policy. */
function ownPolicy(object: UntypedObject): 'Orphan' | 'Foreground' | 'Background' {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(orphan)) return 'Orphan';
  return finalizers.includes(foreground) ? 'Foreground' : 'Background';
}

export function createGarbageCollector(backend: Backend): InnerController {
  return new GarbageCollector(backend);
}
