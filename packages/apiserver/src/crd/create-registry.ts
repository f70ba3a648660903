import type { UntypedObject } from '@kctl/apimachinery';
import { compareText } from '@kctl/crd/internal/engine';
import { definitionsOfCrd, type CrdOutlets } from './crd-definition.js';
import type { ApiGroup, Registry, RegistryChange, RegistryOptions } from '../registry/registry.js';
import type { ResourceDefinition } from '../resource/resource.js';

/**
 * `v1` before `v2beta1` before `v1beta2` before `v1alpha1`, then anything else. This is the order of kube-aware
 * versions.
 */
export function compareVersions(a: string, b: string): number {
  const parse = (version: string): readonly [stage: number, major: number, minor: number] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return [3, 0, 0];
    const stage = match[2] === undefined ? 0 : match[2] === 'beta' ? 1 : 2;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [left, right] = [parse(a), parse(b)];
  if (left[0] !== right[0]) return left[0] - right[0];
  if (left[1] !== right[1]) return right[1] - left[1];
  if (left[2] !== right[2]) return right[2] - left[2];
  return compareText(a, b);
}

function keyOf({ group, version, plural }: ResourceDefinition): string {
  return `${group}/${version}/${plural}`;
}

/**
 * Groups as aggregated discovery orders them, with core first, then built-in groups in order of registration, then
 * custom ones by name.
 */
function sortGroups(definitions: readonly ResourceDefinition[]): ApiGroup[] {
  const builtin = new Map<string, string[]>();
  const custom = new Map<string, string[]>();
  for (const { group, version, isCustom } of definitions) {
    const target = isCustom && !builtin.has(group) ? custom : builtin;
    const versions = target.get(group) ?? [];
    if (!versions.includes(version)) versions.push(version);
    target.set(group, versions);
  }
  const names = [...builtin.keys(), ...[...custom.keys()].sort(compareText)];
  return names.map((name) => ({
    name,
    versions: [...(builtin.get(name) ?? custom.get(name) ?? [])].sort(compareVersions),
  }));
}

class ResourceRegistry implements Registry {
  readonly #byKey = new Map<string, ResourceDefinition>();
  readonly #crds = new Map<string, readonly ResourceDefinition[]>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();
  #list: readonly ResourceDefinition[] | undefined;
  #groups: readonly ApiGroup[] | undefined;
  #kinds: ReadonlyMap<string, ResourceDefinition> | undefined;
  #storages: ReadonlyMap<string, readonly ResourceDefinition[]> | undefined;
  #revision = 0;

  readonly #outlets: CrdOutlets;

  constructor({ definitions = [], webhookCaller, longReader }: RegistryOptions) {
    this.#outlets = { webhookCaller, longReader };
    for (const definition of definitions) this.#byKey.set(keyOf(definition), definition);
  }

  get revision(): number {
    return this.#revision;
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byKey.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ResourceDefinition | undefined {
    this.#kinds ??= new Map(this.list().map((each) => [`${each.group}/${each.version}/${each.kind}`, each]));
    return this.#kinds.get(`${group}/${version}/${kind}`);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.groups().some((each) => each.name === group && each.versions.includes(version));
  }

  ofStorage(storageKey: string): readonly ResourceDefinition[] {
    this.#storages ??= Map.groupBy(
      this.list().toSorted(
        (a, b) => Number(b.apiVersion === b.storageApiVersion) - Number(a.apiVersion === a.storageApiVersion),
      ),
      (each) => each.storageKey,
    );
    return this.#storages.get(storageKey) ?? [];
  }

  list(): readonly ResourceDefinition[] {
    this.#list ??= [...this.#byKey.values()];
    return this.#list;
  }

  groups(): readonly ApiGroup[] {
    this.#groups ??= sortGroups(this.list());
    return this.#groups;
  }

  registerCrd(crd: UntypedObject): RegistryChange {
    return this.#replace(crd.metadata.name ?? '', definitionsOfCrd(crd, this.#outlets));
  }

  unregisterCrd(name: string): RegistryChange {
    return this.#replace(name, []);
  }

  #replace(name: string, added: readonly ResourceDefinition[]): RegistryChange {
    const removed = this.#crds.get(name) ?? [];
    if (removed.length === 0 && added.length === 0) return { added, removed };
    for (const definition of removed) this.#byKey.delete(keyOf(definition));
    for (const definition of added) this.#byKey.set(keyOf(definition), definition);
    if (added.length === 0) this.#crds.delete(name);
    else this.#crds.set(name, added);
    this.#list = undefined;
    this.#groups = undefined;
    this.#kinds = undefined;
    this.#storages = undefined;
    this.#revision += 1;
    const change: RegistryChange = { added, removed };
    for (const listener of this.#listeners) listener(change);
    return change;
  }

  subscribe(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Creates a registry. */
export function createRegistry(options: RegistryOptions = {}): Registry {
  return new ResourceRegistry(options);
}
