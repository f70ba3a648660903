import type { UntypedObject } from '@kctl/apimachinery';
import {
  caBundleOf,
  crdCondition,
  crdGroup,
  crdStorageKey,
  equalJson,
  hasCrdCondition,
  objectOf,
  objectsOf,
  readNames,
  validateCaBundle,
  type CrdNames,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { noteFilled } from '../storage/watch-cache.js';
import type { Registry } from '../registry/registry.js';
import type { CrdBackend, CrdController } from './crd-backend.js';
import { crdFinalizer } from '../registry/crd-finalizer.js';

/** Options for a {@link CrdController}. */
export interface CrdControllerOptions {
  readonly registry: Registry;
  readonly backend: CrdBackend;
  /** Now, as RFC 3339 with seconds. */
  readonly now: () => string;
}

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The conditions with one set; the time changes only with the status. */
function withCondition(conditions: unknown, wanted: Condition, now: string): JsonObject[] {
  const list = objectsOf(conditions);
  const present = list.find((each) => each['type'] === wanted.type);
  const { type, status, reason, message } = wanted;
  const time = present?.['status'] === status ? present['lastTransitionTime'] : now;
  const next: JsonObject = { type, status, lastTransitionTime: time, reason, message };
  return present === undefined ? [...list, next] : list.map((each) => (each === present ? next : each));
}

/** The condition Established of a definition that is not established. */
function establishedCondition(crd: UntypedObject, hasNames: boolean): Condition {
  const type = 'Established';
  if (!hasNames) return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  if (validateCaBundle(caBundleOf(crd), '').length > 0) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type, status: 'False', reason: 'InvalidCABundle', message };
  }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
}

const approval = 'api-approved.kubernetes.io';

/** Whether a group is one of the Kubernetes project, whose definitions have to be approved. */
function isCommunityGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** The condition about the approval of a definition; undefined for groups that need none. */
function approvalCondition(crd: UntypedObject): Condition | undefined {
  if (!isCommunityGroup(crdGroup(crd))) return undefined;
  const type = 'KubernetesAPIApprovalPolicyConformant';
  const value = crd.metadata.annotations?.[approval] ?? '';
  if (value === '') {
    const message = `protected groups must have approval annotation "${approval}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return { type, status: 'False', reason: 'MissingAnnotation', message };
  }
  if (value.startsWith('unapproved'))
    return { type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${goQuoted(value)}` };
  return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${value}` };
}

/** Naming and establishing, as upstream's controllers do it, in one step. */
class NamesController {
  readonly #options: CrdControllerOptions;

  constructor(options: CrdControllerOptions) {
    this.#options = options;
  }

  /** Accepted names of other CRDs of the same group. Plurals, singulars and short names share one space. */
  #taken(crd: UntypedObject): { resources: Set<string>; kinds: Set<string> } {
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const other of this.#options.backend.list()) {
      if (other.metadata.name === crd.metadata.name || crdGroup(other) !== crdGroup(crd)) continue;
      const names = readNames(objectOf(other['status'])['acceptedNames']);
      for (const name of [names.plural, names.singular, ...names.shortNames]) if (name !== '') resources.add(name);
      for (const kind of [names.kind, names.listKind]) if (kind !== '') kinds.add(kind);
    }
    return { resources, kinds };
  }

  /** Names that the CRD may use, and the condition that states so. */
  #accept(crd: UntypedObject): { accepted: CrdNames; condition: Condition } {
    const wanted = readNames(objectOf(crd['spec'])['names']);
    const before = readNames(objectOf(crd['status'])['acceptedNames']);
    const { resources, kinds } = this.#taken(crd);
    const conflicts: [reason: string, message: string][] = [];
    const choose = (name: string, old: string, taken: ReadonlySet<string>, reason: string): string => {
      if (!taken.has(name)) return name;
      conflicts.push([reason, `${goQuoted(name)} is already in use`]);
      return old;
    };
    const plural = choose(wanted.plural, before.plural, resources, 'PluralConflict');
    const singular = choose(wanted.singular, before.singular, resources, 'SingularConflict');
    const clashing = wanted.shortNames.filter((name) => resources.has(name));
    if (clashing.length > 0) {
      conflicts.push(['ShortNamesConflict', clashing.map((name) => `${goQuoted(name)} is already in use`).join(', ')]);
    }
    const kind = choose(wanted.kind, before.kind, kinds, 'KindConflict');
    const listKind = choose(wanted.listKind, before.listKind, kinds, 'ListKindConflict');
    const accepted = {
      plural,
      singular,
      kind,
      listKind,
      shortNames: clashing.length > 0 ? before.shortNames : wanted.shortNames,
      categories: wanted.categories,
    };
    const [, last] = [conflicts[0], conflicts.at(-1)];
    const condition: Condition =
      last === undefined
        ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { type: 'NamesAccepted', status: 'False', reason: last[0], message: last[1] };
    return { accepted, condition };
  }

  /** The CRD with its names, conditions and finalizer as they should be; the same object if they are. */
  reconcile(crd: UntypedObject): UntypedObject {
    const now = this.#options.now();
    const status = objectOf(crd['status']);
    const { accepted, condition } = this.#accept(crd);
    let conditions = withCondition(status['conditions'], condition, now);
    if (!hasCrdCondition(crd, 'Established')) {
      const established = establishedCondition(crd, condition.status === 'True');
      conditions = withCondition(conditions, established, now);
    }
    const approved = approvalCondition(crd);
    if (approved !== undefined) conditions = withCondition(conditions, approved, now);
    const { shortNames, categories, ...names } = accepted;
    const acceptedNames = {
      ...names,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    };
    const next = { ...status, conditions, acceptedNames };
    const finalizers = crd.metadata.finalizers ?? [];
    const isGuarded = finalizers.includes(crdFinalizer);
    if (isGuarded && equalJson(next, status)) return crd;
    const metadata = isGuarded ? crd.metadata : { ...crd.metadata, finalizers: [...finalizers, crdFinalizer] };
    return { ...crd, metadata, status: next };
  }
}

/** Definitions that a CRD is served with. */
interface Served {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly spec: unknown;
  readonly names: unknown;
}

/** A spec of 1 MB is compared member by member if its generation does not distinguish it, after a restore. */
function isServedAlike(known: Served, served: Served, isDoubtful: boolean): boolean {
  if (!equalJson(known.names, served.names)) return false;
  if (!isDoubtful && known.uid === served.uid && known.generation === served.generation) return true;
  return equalJson(known.spec, served.spec);
}

class Controller implements CrdController {
  readonly #options: CrdControllerOptions;
  readonly #names: NamesController;
  readonly #deleting = new Map<string, string>();
  #isBusy = false;
  /** Whether states may have come back, in which case generations do not distinguish them. */
  #isDoubtful = false;
  readonly #pending = new Set<string>();
  /** Definitions that each CRD is served with. Unchanged ones are not registered again. */
  readonly #served = new Map<string, Served>();

  constructor(options: CrdControllerOptions) {
    this.#options = options;
    this.#names = new NamesController(options);
  }

  resync(name: string): void {
    this.#isDoubtful = true;
    try {
      this.sync(name);
    } finally {
      this.#isDoubtful = false;
    }
  }

  sync(name: string): void {
    this.#pending.add(name);
    // The writes below come back here as events, which are queued, not nested.
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (const next of this.#pending) {
        this.#pending.delete(next);
        this.#reconcile(next);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #reconcile(name: string): void {
    const { backend, registry } = this.#options;
    const crd = backend.get(name);
    if (crd === undefined) {
      this.#served.delete(name);
      registry.unregisterCrd(name);
      this.#recheckOthers(name);
      return;
    }
    if (crd.metadata.deletionTimestamp !== undefined) {
      this.#finalize(name, crd);
      return;
    }
    backend.update(name, (current) => this.#names.reconcile(current));
    const settled = backend.get(name) ?? crd;
    if (hasCrdCondition(settled, 'Established')) this.#serve(name, settled);
    this.#recheckOthers(name);
  }

  #serve(name: string, crd: UntypedObject): void {
    const { uid, generation } = crd.metadata;
    const served = { uid, generation, spec: crd['spec'], names: objectOf(crd['status'])['acceptedNames'] };
    const known = this.#served.get(name);
    this.#served.set(name, served);
    if (known !== undefined && isServedAlike(known, served, this.#isDoubtful)) return;
    const { registry, backend } = this.#options;
    registry.registerCrd(crd);
    const storageKey = crdStorageKey(crd);
    if (backend.countInstances(storageKey) === 0) for (const each of registry.ofStorage(storageKey)) noteFilled(each);
  }

  /** A name that became free may be what another CRD waits for. */
  #recheckOthers(name: string): void {
    for (const other of this.#options.backend.list()) {
      const isWaiting = crdCondition(other, 'NamesAccepted')?.['status'] === 'False';
      if (other.metadata.name !== undefined && other.metadata.name !== name && isWaiting) {
        const settled = this.#names.reconcile(other);
        if (settled !== other) this.#pending.add(other.metadata.name);
      }
    }
  }

  #finalize(name: string, crd: UntypedObject): void {
    const { backend, now } = this.#options;
    if (!(crd.metadata.finalizers ?? []).includes(crdFinalizer)) return;
    const storageKey = crdStorageKey(crd);
    this.#deleting.set(storageKey, name);
    const condition = (status: 'True' | 'False', reason: string, message: string): void => {
      backend.update(name, (current) => {
        const old = objectOf(current['status']);
        const conditions = withCondition(old['conditions'], { type: 'Terminating', status, reason, message }, now());
        return equalJson(conditions, old['conditions']) ? current : { ...current, status: { ...old, conditions } };
      });
    };
    const isServed = hasCrdCondition(crd, 'Established');
    if (isServed) {
      // The message is the same each time, because every write comes back here, and two messages in turn would never
      // settle.
      condition('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
      backend.deleteInstances(storageKey);
      if (backend.countInstances(storageKey) > 0) return;
      condition('False', 'InstanceDeletionCompleted', 'removed all instances');
    }
    this.#release(name, storageKey);
  }

  #release(name: string, storageKey: string): void {
    this.#deleting.delete(storageKey);
    this.#options.backend.update(name, (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== crdFinalizer);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
    if (this.#options.backend.get(name) === undefined) this.#pending.add(name);
  }

  instanceRemoved(storageKey: string): void {
    const name = this.#deleting.get(storageKey);
    if (name !== undefined && !this.#isBusy && this.#options.backend.countInstances(storageKey) === 0) this.sync(name);
  }
}

/** Creates the controller of CustomResourceDefinitions. It starts nothing and works only when called. */
export function createCrdController(options: CrdControllerOptions): CrdController {
  return new Controller(options);
}
