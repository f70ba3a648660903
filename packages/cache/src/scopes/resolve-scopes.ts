import type { ReadScope } from '@kctl/client/internal';
import type { FieldTerm, Kind } from '@kctl/apimachinery';
import { fieldSelectorFrom, formatGroupVersionKind, labelSelectorFrom } from '@kctl/apimachinery';
import { isSameKind } from '@kctl/apimachinery/internal';
import type { ListerWatcherScope } from '@kctl/informer';
import type {
  KindOptions,
  NamespaceScopes,
  ResolvedScope,
  ScopeOptions,
  SelectedInformerOptions,
} from '../cache-options.js';
import { idOf } from './kind-id.js';

/** The inputs from which the scopes of a kind are resolved. */
export interface ScopeSources {
  readonly byKind: KindOptions | undefined;
  /** Undefined: all; `{}`: none. */
  readonly defaultNamespaces: NamespaceScopes | undefined;
  readonly defaults: ScopeOptions | undefined;
}

/**
 * The options of a kind, else those of another shape of it without the options for stripped objects alone. A limit
 * given for a kind thus holds for its metadata, too. Mirrors controller-runtime, in which options are found by group,
 * version and kind.
 */
export function limitsOf(kind: Kind, byObject: readonly KindOptions[]): KindOptions | undefined {
  const own = byObject.find((options) => idOf(options.kind) === idOf(kind));
  if (own !== undefined) return own;
  const others = byObject.filter((options) => isSameKind(options.kind, kind));
  const other = others.find((options) => options.kind.shape !== 'metadata') ?? others[0];
  if (other === undefined) return undefined;
  const { transform: _transform, namespaces, ...limits } = other;
  const entries = Object.entries(namespaces ?? {}).map(
    ([name, { transform: _own, ...scope }]) => [name, scope] as const,
  );
  return { ...limits, kind, ...(namespaces === undefined ? {} : { namespaces: Object.fromEntries(entries) }) };
}

/**
 * The options of a further informer of a kind. Without `namespaces` it has those of the kind. Each field comes from the
 * selection, then from the namespace.
 */
export function selectionOf(
  kind: Kind,
  selection: Omit<SelectedInformerOptions, 'name'>,
  byObject: readonly KindOptions[],
): KindOptions {
  const own = selection.namespaces === undefined ? limitsOf(kind, byObject)?.namespaces : undefined;
  const entries = Object.entries(own ?? {}).map(
    ([name, { transform: _own, ...scope }]) => [name, mergeOptions([selection, scope])] as const,
  );
  return {
    ...selection,
    kind,
    ...(own === undefined ? {} : { namespaces: Object.fromEntries(entries) }),
    ...(isWhole(kind) ? { transform: null } : {}),
  };
}

const everywhere: NamespaceScopes = { '': {} };

/**
 * The informers that a kind needs. Each field of a namespace's options comes from the namespace's entry of the kind,
 * then the kind's own options, the same namespace in `defaultNamespaces`, and the defaults. Mirrors
 * controller-runtime's ByObject.
 *
 * @throws TypeError when a cluster-scoped kind is given namespaces, or a kind that is held whole a transform
 */
export function resolveScopes(kind: Kind, sources: ScopeSources): ResolvedScope[] {
  const { byKind, defaultNamespaces, defaults } = sources;
  if (kind.shape !== 'stripped') requireNoTransform(kind, byKind);
  if (isWhole(kind)) requireNoDefaultTransform(kind, sources);
  if (kind.scope === 'Cluster') {
    if (byKind?.namespaces !== undefined && !isEmpty(byKind.namespaces))
      throw new TypeError(
        `type ${formatGroupVersionKind(kind)} is not namespaced, but its byObject.namespaces setting is not undefined: leave it out`,
      );
    return [resolveScope('', optionsOf(kind, [byKind, defaults]), [])];
  }
  const own = byKind?.namespaces;
  const namespaces = own !== undefined && isEmpty(own) ? everywhere : (own ?? defaultNamespaces ?? everywhere);
  const names = Object.keys(namespaces);
  const named = names.filter((name) => name !== '').sort();
  return names.sort().map((name) => {
    const options = optionsOf(kind, [byKind?.namespaces?.[name], byKind, defaultNamespaces?.[name], defaults]);
    return resolveScope(name, options, named);
  });
}

/**
 * Whether the set of namespaces is empty, which means all of them in the options of a cache, and none in
 * `setNamespaces`.
 */
export function isEmpty(namespaces: NamespaceScopes): boolean {
  return Object.keys(namespaces).length === 0;
}

function requireNoTransform(kind: Kind, byKind: KindOptions | undefined): void {
  const own = [byKind, ...Object.values(byKind?.namespaces ?? {})];
  if (own.every((options) => (options?.transform ?? undefined) === undefined)) return;
  throw new TypeError(
    `the cache is to transform ${formatGroupVersionKind(kind)}: declare it as byObject: [{ kind: stripped(${kind.kind}), transform }] and read it by that token`,
  );
}

/** Objects that would be taken for whole, and could be written back. */
function isWhole({ shape }: Kind): boolean {
  return shape !== 'stripped' && shape !== 'metadata';
}

/** A default that did not apply would go unnoticed. */
function requireNoDefaultTransform(kind: Kind, { byKind, defaultNamespaces, defaults }: ScopeSources): void {
  if (byKind?.transform === null) return;
  const named = Object.entries(defaultNamespaces ?? {}).find(([, { transform }]) => (transform ?? null) !== null);
  const isDefault = (defaults?.transform ?? null) !== null;
  if (!isDefault && (named === undefined || kind.scope === 'Cluster')) return;
  const option = isDefault ? 'defaults.transform' : `defaultNamespaces[${JSON.stringify(named?.[0])}].transform`;
  const name = kind.kind;
  throw new TypeError(
    `the cache has ${option}, and ${formatGroupVersionKind(kind)} is to be held whole: declare it as byObject: [{ kind: stripped(${name}) }] and read it by that token, or keep it whole by byObject: [{ kind: ${name}, transform: null }]`,
  );
}

/** The sources without their default transforms, for kinds that are not held. */
export function withoutTransforms({ byKind, defaultNamespaces, defaults }: ScopeSources): ScopeSources {
  const without = <S extends ScopeOptions>({ transform: _transform, ...scope }: S): Omit<S, 'transform'> => scope;
  const namespaces = Object.entries(defaultNamespaces ?? {}).map(([name, scope]) => [name, without(scope)] as const);
  return {
    byKind,
    defaultNamespaces: defaultNamespaces === undefined ? undefined : Object.fromEntries(namespaces),
    defaults: defaults === undefined ? undefined : without(defaults),
  };
}

function optionsOf(kind: Kind, levels: readonly (ScopeOptions | undefined)[]): Merged {
  const { transform, ...options } = mergeOptions(levels);
  return isWhole(kind) || transform === undefined || transform === null ? options : { ...options, transform };
}

/** Options whose transform, if there is one, applies. */
type Merged = Omit<ScopeOptions, 'transform'> & Pick<ResolvedScope, 'transform'>;

/** Earlier options win, field by field. */
function mergeOptions(levels: readonly (ScopeOptions | undefined)[]): ScopeOptions {
  const merged: Record<string, unknown> = {};
  for (const field of optionFields)
    for (const level of levels) {
      const value = level?.[field];
      if (value === undefined) continue;
      merged[field] = value;
      break;
    }
  return merged;
}

const optionFields = [
  'labelSelector',
  'fieldSelector',
  'transform',
  'unsafeMutableObjects',
  'bookmarks',
  'resyncMs',
  'keepManagedFields',
  'storage',
] as const satisfies readonly (keyof ScopeOptions)[];

function resolveScope(namespace: string, options: Merged, named: readonly string[]): ResolvedScope {
  const terms = options.fieldSelector === undefined ? [] : fieldSelectorFrom(options.fieldSelector).terms;
  // A field of another namespace than the scope's stays, because it then selects nothing, and without it the scope
  // would be wider.
  const isPin = ({ path, operator, value }: FieldTerm): boolean =>
    path === 'metadata.namespace' && operator === '=' && (namespace === '' || namespace === value);
  const pinned = terms.find(isPin);
  const others = namespace === '' ? named.map(elsewhereThan) : [];
  const fieldSelector = fieldSelectorFrom([...others, ...terms.filter((term) => term !== pinned)]).toString();
  const within = namespace === '' ? pinned?.value : namespace;
  const listScope: ListerWatcherScope = {
    ...(within === undefined ? {} : { namespace: within }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(fieldSelector === '' ? {} : { fieldSelector }),
  };
  const labels = options.labelSelector === undefined ? undefined : labelSelectorFrom(options.labelSelector);
  return { ...options, namespace, listScope, labels };
}

function elsewhereThan(name: string): FieldTerm {
  return { path: 'metadata.namespace', operator: '!=', value: name };
}

/** For a kind that is not declared. */
export const noScopes: readonly ReadScope[] = Object.freeze([]);
