import { createHash } from 'node:crypto';
import { isNotFound, isNoKindMatch, untyped } from '@kctl/apimachinery';
import type { Kind, UntypedObject } from '@kctl/apimachinery';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { apply } from '@kctl/client';
import type { KindResolver } from '@kctl/client';
import { requireOptions, shownValue } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { ManifestClient } from './client.js';
import { ApplySetError } from './errors.js';

/** The labels and annotations of the ApplySet specification (KEP-3659). */
const keys = {
  id: 'applyset.kubernetes.io/id',
  partOf: 'applyset.kubernetes.io/part-of',
  tooling: 'applyset.kubernetes.io/tooling',
  namespaces: 'applyset.kubernetes.io/additional-namespaces',
  kinds: 'applyset.kubernetes.io/contains-group-kinds',
} as const;

/** The object that remembers what belongs together. */
export interface ApplySetParent {
  readonly name: string;
  readonly namespace: string;
  /** @default 'Secret', as kubectl has it */
  readonly kind?: 'Secret' | 'ConfigMap';
  /** Whose set it is, `<name>/<version>`: the name must stay the same. @default 'kctl/v1' */
  readonly tooling?: string;
}

/** A misspelled option would mean another parent, and so another set: what belongs to the one that is meant would stay. */
const parentNames: OptionNames<ApplySetParent> = { name: true, namespace: true, kind: true, tooling: true };

/** Members of a set: groups of kinds, and namespaces. */
interface Extent {
  readonly kinds: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

/** Something that belongs to a set. */
export interface Member {
  readonly kind: Kind;
  readonly namespace: string | undefined;
}

/** How the parent is written. */
export interface ParentWrite {
  readonly dryRun: boolean;
  /** Whether its namespace is one that is applied, too: in a dry run it is not there. */
  readonly isNamespaceApplied: boolean;
  readonly signal: AbortSignal;
}

/** The groups of kinds in the parent's annotation: `Deployment.apps`, `ConfigMap`. */
const groupKind = ({ group, kind }: Pick<Kind, 'group' | 'kind'>): string => (group === '' ? kind : `${kind}.${group}`);

/** A set of objects that were applied together, so that those which are left out can be deleted later. */
export class ApplySet {
  readonly id: string;
  readonly #client: ManifestClient;
  readonly #parent: Required<Pick<ApplySetParent, 'name' | 'namespace'>>;
  readonly #kind: Kind<UntypedObject, 'Namespaced'>;
  readonly #tooling: string;
  #before: Extent = { kinds: new Set(), namespaces: new Set() };

  constructor(client: ManifestClient, parent: ApplySetParent) {
    requireOptions('applyManifests: prune', parent, parentNames);
    const { name, namespace, kind = 'Secret', tooling = 'kctl/v1' } = parent;
    for (const [option, value] of Object.entries<unknown>({ name, namespace }))
      if (typeof value !== 'string' || value === '')
        throw new TypeError(`prune.${option} ${shownValue(value)} is not valid: expected a name`);
    if (kind !== 'Secret' && kind !== 'ConfigMap')
      throw new TypeError(`prune.kind ${JSON.stringify(kind)} is not valid: expected Secret or ConfigMap`);
    if (!/^[^/]+(\/[^/]+)*\/v?\d/.test(tooling))
      throw new TypeError(
        `prune.tooling ${JSON.stringify(tooling)} is not valid: expected <name>/<version>, such as shop/v1`,
      );
    this.#client = client;
    this.#parent = { name, namespace };
    this.#kind = untyped(kind === 'Secret' ? Secret : ConfigMap);
    this.#tooling = tooling;
    const hash = createHash('sha256').update(`${name}.${namespace}.${kind}.`).digest('base64url');
    this.id = `applyset-${hash}-v1`;
  }

  /** The label that makes an object a member. */
  get label(): Readonly<Record<string, string>> {
    return { [keys.partOf]: this.id };
  }

  /** Reads what belongs to the set up to now. @throws ApplySetError for a parent of another tool or set */
  async read(signal: AbortSignal): Promise<void> {
    const { namespace } = this.#parent;
    try {
      const { metadata } = await this.#client.get(this.#kind, this.#parent, { live: true, signal });
      const { annotations = {}, labels = {} } = metadata;
      this.#requireOwn(annotations[keys.tooling], labels[keys.id]);
      this.#before = {
        kinds: new Set(listOf(annotations[keys.kinds])),
        namespaces: new Set([namespace, ...listOf(annotations[keys.namespaces])]),
      };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Widens the parent before anything is applied, so that what an interrupted call leaves behind is known. */
  async widen(members: readonly Member[], write: ParentWrite): Promise<void> {
    const { kinds, namespaces } = extentOf(members);
    const both = { kinds: kinds.union(this.#before.kinds), namespaces: namespaces.union(this.#before.namespaces) };
    await this.#write(both, write);
  }

  /** Narrows the parent to what belongs to it now. */
  async narrow(members: readonly Member[], write: ParentWrite): Promise<void> {
    await this.#write(extentOf(members), write);
  }

  /** Objects that belonged to the set and were not applied now. */
  async leftOut(
    applied: ReadonlySet<string>,
    { mapper, signal }: { readonly mapper: KindResolver; readonly signal: AbortSignal },
  ): Promise<readonly { readonly kind: Kind<UntypedObject>; readonly object: UntypedObject }[]> {
    const found: { readonly kind: Kind<UntypedObject>; readonly object: UntypedObject }[] = [];
    for (const name of this.#before.kinds) {
      const kind = await kindOf(mapper, name);
      // With its definition its objects are gone.
      if (kind === undefined) continue;
      const namespaces = kind.scope === 'Cluster' ? [undefined] : [...this.#before.namespaces];
      for (const namespace of namespaces) {
        const { items } = await this.#client.list(kind, {
          live: true,
          signal,
          labelSelector: this.label,
          ...(namespace === undefined ? {} : { namespace }),
        });
        for (const object of items)
          if (!applied.has(object.metadata.uid)) found.push({ kind, object: object as UntypedObject });
      }
    }
    return found;
  }

  #requireOwn(tooling: string | undefined, id: string | undefined): void {
    const parent = `${this.#kind.kind} ${this.#parent.namespace}/${this.#parent.name}`;
    const nameOf = (text: string): string => text.slice(0, text.lastIndexOf('/'));
    if (tooling === undefined)
      throw new ApplySetError(
        `${parent} exists and is not the parent of an ApplySet: it lacks ${keys.tooling}: choose another name`,
      );
    if (nameOf(tooling) !== nameOf(this.#tooling))
      throw new ApplySetError(
        `${parent} is the parent of an ApplySet of ${JSON.stringify(nameOf(tooling))}, not of ${JSON.stringify(nameOf(this.#tooling))}: choose another name`,
      );
    if (id !== this.id)
      throw new ApplySetError(
        `${parent} has the label ${keys.id}=${id ?? ''}: expected ${this.id}: it was copied or renamed`,
      );
  }

  async #write({ kinds, namespaces }: Extent, { dryRun, isNamespaceApplied, signal }: ParentWrite): Promise<void> {
    const others = [...namespaces].filter((namespace) => namespace !== this.#parent.namespace).sort();
    const annotations = {
      [keys.tooling]: this.#tooling,
      [keys.kinds]: [...kinds].sort().join(','),
      [keys.namespaces]: others.join(','),
    };
    const metadata = { ...this.#parent, annotations, labels: { [keys.id]: this.id } };
    const fieldOwner = `${this.#tooling.slice(0, this.#tooling.lastIndexOf('/'))}-applyset`;
    try {
      await apply(this.#client, this.#kind, { metadata }, { fieldOwner, force: true, dryRun, signal });
    } catch (error) {
      if (!dryRun || !isNamespaceApplied || !isNotFound(error)) throw error;
    }
  }
}

function extentOf(members: readonly Member[]): Extent {
  return {
    kinds: new Set(members.map(({ kind }) => groupKind(kind))),
    namespaces: new Set(members.flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace]))),
  };
}

function listOf(annotation = ''): readonly string[] {
  return annotation.split(',').filter((entry) => entry !== '');
}

async function kindOf(mapper: KindResolver, name: string): Promise<Kind<UntypedObject> | undefined> {
  const dot = name.indexOf('.');
  const wanted = dot < 0 ? { group: '', kind: name } : { group: name.slice(dot + 1), kind: name.slice(0, dot) };
  try {
    return (await mapper.kindFor(wanted)) as Kind<UntypedObject>;
  } catch (error) {
    if (isNoKindMatch(error)) return undefined;
    throw error;
  }
}
