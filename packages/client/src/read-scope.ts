import { fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import type { Kind, KubeList } from '@kctl/apimachinery';
import type { Reader, ReadObject } from './client.js';
import type { ListOptions } from './options.js';
import { requireClient, requireList, requireOptionsObject } from './checks/require-arguments.js';
import { requireKind } from './checks/require-kind.js';

/** A part of a collection, as a list or watch chooses it. */
export interface ReadScope {
  /** All namespaces if unset. */
  readonly namespace?: string;
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
  readonly fieldSelector?: NonNullable<ListOptions['fieldSelector']>;
}

/** The answer for one scope. */
export interface ScopeList<K extends Kind> {
  /** The namespace that was listed; undefined for all of the scope. */
  readonly namespace: string | undefined;
  readonly list: KubeList<ReadObject<K>>;
}

/** How many scopes are requested at a time. */
const parallelLists = 8;

/**
 * Lists a collection within scopes, such as those of a cache, with one request for each scope that contains the
 * namespace of the options, and with the selectors of both. So no answer contains more than the scopes do.
 *
 * @throws what `list` throws
 */
export async function listWithin<K extends Kind>(
  reader: Pick<Reader, 'list'>,
  kind: K,
  given: ListOptions & { readonly scopes: readonly ReadScope[] },
): Promise<readonly ScopeList<K>[]> {
  requireClient('listWithin', reader, ['list']);
  requireKind('listWithin', kind);
  requireOptionsObject('listWithin', given, '{ scopes }');
  const { scopes, ...options } = given;
  requireList('listWithin', 'scopes', scopes, 'an array of scopes, such as [{ namespace }]');
  const wanted = scopesWithin(kind, scopes, options.namespace);
  const found: ScopeList<K>[] = [];
  for (let start = 0; start < wanted.length; start += parallelLists)
    found.push(
      ...(await Promise.all(
        wanted.slice(start, start + parallelLists).map(async (scope) => ({
          namespace: scope.namespace,
          list: await reader.list(kind, { ...options, ...scope, ...bothSelectors(scope, options) }),
        })),
      )),
    );
  return found;
}

/**
 * Returns the scopes that a read of a namespace (all if undefined or '') falls into, limited to it. Each costs a
 * request.
 */
function scopesWithin(kind: Kind, scopes: readonly ReadScope[], namespace = ''): readonly ReadScope[] {
  if (namespace === '' || kind.scope === 'Cluster') return scopes;
  const own =
    scopes.find((scope) => scope.namespace === namespace) ?? scopes.find((scope) => scope.namespace === undefined);
  return own === undefined ? [] : [{ ...own, namespace }];
}

/** Objects that satisfy the selectors of both. */
function bothSelectors(scope: ReadScope, options: ListOptions): Pick<ListOptions, 'labelSelector' | 'fieldSelector'> {
  const labels = joined([scope.labelSelector, options.labelSelector], (selector) => labelSelectorFrom(selector));
  const fields = joined([scope.fieldSelector, options.fieldSelector], (selector) => fieldSelectorFrom(selector));
  return { ...(labels === '' ? {} : { labelSelector: labels }), ...(fields === '' ? {} : { fieldSelector: fields }) };
}

/** In the string form of both kinds of selectors, a comma is an "and". */
function joined<S>(selectors: readonly (S | undefined)[], parse: (selector: S) => { toString(): string }): string {
  return selectors
    .map((selector) => (selector === undefined ? '' : parse(selector).toString()))
    .filter((text) => text !== '')
    .join(',');
}
