import type { DeepReadonly, Kind, KubeList, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { fieldSelectorFrom, formatGroupResource, labelSelectorFrom, StatusError } from '@kctl/apimachinery';
import type { IndexListOptions, IndexReader, StoredObject } from '@kctl/cache-index';
import type { ListOptions } from '@kctl/client';
import { UnsupportedReadError } from './errors.js';

/** How a field index of a cache is called in its stores. Mirrors controller-runtime's "field:" names. */
export function fieldIndexName(field: string): string {
  return `field:${field}`;
}

/** What a server answers for an object that is not there. */
export function notFound(kind: Kind, key: ObjectKey): StatusError {
  const { group, plural } = kind;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'NotFound',
    code: 404,
    message: `${formatGroupResource(kind)} ${JSON.stringify(key.name)} not found`,
    details: { name: key.name, ...(group === '' ? {} : { group }), kind: plural },
  });
}

/** One read of a list. */
export interface ListRead<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly reader: IndexReader<T>;
  readonly options: ListOptions;
}

/**
 * Lists from a store. Selectors filter, then `limit` cuts; field selectors need an index each, except for
 * `metadata.name` and `metadata.namespace`.
 *
 * @throws UnsupportedReadError for what only a server can do
 */
export function listFrom<T extends KubeObject>({ kind, reader, options }: ListRead<T>): KubeList<DeepReadonly<T>> {
  if (options.continue !== undefined && options.continue !== '')
    throw new UnsupportedReadError('continue list option is not supported by the cache: list without it, or live');
  const terms = exactTerms(options);
  const pinned = terms.find((term) => term.path === 'metadata.namespace');
  const namespace = kind.scope === 'Cluster' ? undefined : (options.namespace ?? pinned?.value);
  const filter: IndexListOptions = {
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    ...(options.labelSelector === undefined ? {} : { selector: labelSelectorFrom(options.labelSelector) }),
  };
  const name = terms.find((term) => term.path === 'metadata.name')?.value;
  const indexed = terms.filter((term) => term.path !== 'metadata.name' && term !== pinned);
  let found = select(reader, indexed, filter);
  if (name !== undefined) found = found.filter((stored) => stored.name === name);
  if (pinned !== undefined) found = found.filter((stored) => stored.namespace === pinned.value);
  const { limit } = options;
  if (limit !== undefined && limit > 0 && found.length > limit) found = found.slice(0, limit);
  const { resourceVersion } = reader;
  return {
    apiVersion: kind.apiVersion,
    kind: `${kind.kind}List`,
    metadata: resourceVersion === '' ? {} : { resourceVersion },
    items: found.map((stored) => stored.object),
  };
}

interface ExactTerm {
  readonly path: string;
  readonly value: string;
}

function exactTerms(options: ListOptions): readonly ExactTerm[] {
  if (options.fieldSelector === undefined) return [];
  const { terms } = fieldSelectorFrom(options.fieldSelector);
  if (terms.some((term) => term.operator !== '='))
    throw new UnsupportedReadError('non-exact field matches are not supported by the cache: use =, or read live');
  return terms;
}

function select<T extends KubeObject>(
  reader: IndexReader<T>,
  terms: readonly ExactTerm[],
  filter: IndexListOptions,
): StoredObject<T>[] {
  const [first, ...rest] = terms;
  if (first === undefined) return reader.listStored(filter);
  for (const { path } of terms)
    if (!reader.indexNames.includes(fieldIndexName(path)))
      throw new UnsupportedReadError(
        `index with name ${fieldIndexName(path)} does not exist: add it with addIndex(kind, ${JSON.stringify(path)}, …) before listing by it`,
      );
  let found = reader.storedByIndex(fieldIndexName(first.path), first.value, filter);
  for (const { path, value } of rest) {
    const others = new Set(reader.storedByIndex(fieldIndexName(path), value, filter));
    found = found.filter((stored) => others.has(stored));
  }
  return found;
}
