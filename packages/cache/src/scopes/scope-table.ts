import { fieldSelectorFrom } from '@kctl/apimachinery';
import type { FieldTerm, Kind, KubeObject } from '@kctl/apimachinery';
import type { ReadScope } from '@kctl/client/internal';
import type { ResolvedScope } from '../cache-options.js';
import { matchesFields } from './server-fields.js';

interface Row {
  readonly scope: ResolvedScope;
  readonly fields: readonly FieldTerm[];
}

/** The scopes of a kind, found by namespace in constant time. Immutable; other scopes are another table. */
export class ScopeTable {
  readonly kind: Kind;
  readonly scopes: readonly ResolvedScope[];
  /** Scopes that each informer lists and watches. */
  readonly lists: readonly ReadScope[];
  /** Whether an object of one of them may be held in part only. */
  readonly isLossy: boolean;
  readonly #rows: ReadonlyMap<string, Row>;

  constructor(kind: Kind, scopes: readonly ResolvedScope[]) {
    this.kind = kind;
    this.scopes = scopes;
    this.lists = Object.freeze(scopes.map(({ listScope }) => listScope));
    this.isLossy = scopes.some(({ transform }) => transform !== undefined);
    this.#rows = new Map(scopes.map((scope) => [scope.namespace, { scope, fields: termsOf(scope) }]));
  }

  /** Whether a scope holds a namespace ('' and undefined mean all, or the cluster). */
  covers(namespace: string | undefined): boolean {
    return namespace === undefined || namespace === '' || this.#row(namespace) !== undefined;
  }

  /**
   * The scope that holds an object; undefined if namespaces or selectors exclude it. For an object that is metadata
   * alone, other fields are not known, because the server selected it.
   */
  scopeOf(object: KubeObject): ResolvedScope | undefined {
    const { namespace = '', labels } = object.metadata;
    const row = this.#row(this.kind.scope === 'Cluster' ? '' : namespace);
    if (row === undefined) return undefined;
    const { scope, fields } = row;
    if (scope.listScope.namespace !== undefined && scope.listScope.namespace !== namespace) return undefined;
    if (scope.labels !== undefined && !scope.labels.matches(labels)) return undefined;
    const isPart = this.kind.shape === 'metadata' && isMetadataAlone(object);
    const known = isPart ? fields.filter(({ path }) => path.startsWith('metadata.')) : fields;
    return matchesFields(this.kind, object, known) ? scope : undefined;
  }

  #row(namespace: string): Row | undefined {
    return this.#rows.get(namespace) ?? this.#rows.get('');
  }
}

function termsOf({ listScope: { fieldSelector } }: ResolvedScope): readonly FieldTerm[] {
  return fieldSelector === undefined ? [] : fieldSelectorFrom(fieldSelector).terms;
}

function isMetadataAlone(object: KubeObject): boolean {
  return Object.keys(object).every((field) => field === 'apiVersion' || field === 'kind' || field === 'metadata');
}
