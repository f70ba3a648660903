import type { DeepReadonly, Kind, KubeList, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { fieldSelectorFrom, labelSelectorFrom, StatusError } from '@kctl/apimachinery';
import { formatGroupResource } from '@kctl/apimachinery/internal';
import type { IndexListOptions, IndexReader, StoredObject } from '@kctl/cache-index';
import type { ListOptions } from '@kctl/client';
import { refusedOption, type AnsweredOptions } from '@kctl/options';
import { UnsupportedReadError } from '../errors.js';
import { storeList } from './read-decisions.js';
import { readable, readableOf } from './readable.js';

/** How a field index of a cache is called in its stores. Mirrors controller-runtime's "field:" names. */
export function fieldIndexName(field: string): string {
  return `field:${field}`;
}

/** The field of such an index, in a separate list; none for indexes that are not of a field. */
export function indexedFieldOf(indexName: string): string[] {
  return indexName.startsWith('field:') ? [indexName.slice('field:'.length)] : [];
}

/** Error that a server returns for an object that does not exist. */
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

/** A read, for the words of its errors. */
export interface CachedRead {
  readonly verb: string;
  /** '' for all. */
  readonly namespace: string;
}

/** One read of a list. */
export interface ListRead<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly reader: IndexReader<T>;
  readonly options: AnsweredOptions<ListOptions, typeof storeList> & Pick<ListOptions, 'continue'>;
}

/**
 * Lists from a store. Selectors filter, then `limit` cuts; field selectors need an index each, except for
 * `metadata.name` and `metadata.namespace`. A list that is cut reports it in `remainingItemCount`, and has no next
 * page. An object whose bytes cannot be read is left out.
 *
 * @throws UnsupportedReadError for what only a server can do
 */
export function listFrom<T extends KubeObject>({ kind, reader, options }: ListRead<T>): KubeList<DeepReadonly<T>> {
  const plan = planOf({ kind, reader, options });
  let found = select(reader, plan);
  for (const { value } of plan.names) found = found.filter((stored) => stored.name === value);
  for (const { value } of plan.pinned) found = found.filter((stored) => stored.namespace === value);
  const { resourceVersion } = reader;
  const { items, left } = readUpTo(found, options.limit);
  const metadata = {
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(left === 0 ? {} : { remainingItemCount: left }),
  };
  return { apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata, items };
}

/** The first objects of versions, and how many versions were left. Unreadable objects do not count. */
function readUpTo<T extends KubeObject>(
  versions: readonly StoredObject<T>[],
  limit = 0,
): { readonly items: DeepReadonly<T>[]; readonly left: number } {
  if (limit <= 0 || versions.length <= limit) return { items: readableOf(versions), left: 0 };
  const items: DeepReadonly<T>[] = [];
  let left = versions.length;
  for (const stored of versions) {
    if (items.length >= limit) break;
    left--;
    const object = readable(stored);
    if (object !== undefined) items.push(object);
  }
  return { items, left };
}

/**
 * The first items of a list, and how many were left out, which is the only field that reports this without promising a
 * next page.
 */
export function cutList<T>(list: KubeList<T>, limit = 0): KubeList<T> {
  if (limit <= 0 || list.items.length <= limit) return list;
  return {
    ...list,
    metadata: { ...list.metadata, remainingItemCount: list.items.length - limit },
    items: list.items.slice(0, limit),
  };
}

/**
 * Whether {@link listFrom} with these options contains an object, if the store holds it. Uses the same selectors,
 * evaluated by the same index definitions. `limit` does not apply to a single object.
 *
 * @throws UnsupportedReadError as {@link listFrom}
 */
export function matcherFrom<T extends KubeObject>(read: ListRead<T>): (object: DeepReadonly<T>) => boolean {
  const { reader } = read;
  const { filter, names, pinned, indexed } = planOf(read);
  return (object) => {
    const { metadata } = object as DeepReadonly<KubeObject>;
    const { namespace = '' } = metadata;
    if (filter.namespace !== undefined && namespace !== filter.namespace) return false;
    if (pinned.some(({ value }) => value !== namespace)) return false;
    if (names.some(({ value }) => value !== metadata.name)) return false;
    if (filter.selector !== undefined && !filter.selector.matches(metadata.labels)) return false;
    return indexed.every(({ path, value }) => reader.indexValues(fieldIndexName(path), object).includes(value));
  };
}

/** Requirements of a list on a store. */
interface ListPlan {
  readonly filter: IndexListOptions;
  /** The terms about the name; if there are several, all must hold. */
  readonly names: readonly ExactTerm[];
  /** The terms about the namespace. */
  readonly pinned: readonly ExactTerm[];
  /** The terms that are answered by an index. */
  readonly indexed: readonly ExactTerm[];
}

function planOf<T extends KubeObject>({ kind, reader, options }: ListRead<T>): ListPlan {
  const refused = refusedOption(storeList, options);
  if (refused !== undefined)
    throw new UnsupportedReadError(`${refused.name} list option is not supported by the cache: ${refused.reason}`);
  const terms = exactTerms(options);
  const names = terms.filter(({ path }) => path === 'metadata.name');
  const pinned = terms.filter(({ path }) => path === 'metadata.namespace');
  const namespace = kind.scope === 'Cluster' ? undefined : (options.namespace ?? pinned[0]?.value);
  const indexed = terms.filter((term) => !names.includes(term) && !pinned.includes(term));
  for (const { path } of indexed)
    if (!reader.indexNames.includes(fieldIndexName(path)))
      throw new UnsupportedReadError(
        `index with name ${fieldIndexName(path)} does not exist: add it with addIndex(kind, ${JSON.stringify(path)}, …) before listing by it`,
      );
  return {
    filter: {
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
      ...(options.labelSelector === undefined ? {} : { selector: labelSelectorFrom(options.labelSelector) }),
    },
    names,
    pinned,
    indexed,
  };
}

interface ExactTerm {
  readonly path: string;
  readonly value: string;
}

function exactTerms(options: Pick<ListOptions, 'fieldSelector'>): readonly ExactTerm[] {
  if (options.fieldSelector === undefined) return [];
  const { terms } = fieldSelectorFrom(options.fieldSelector);
  if (terms.some((term) => term.operator !== '='))
    throw new UnsupportedReadError('non-exact field matches are not supported by the cache: use =, or read live');
  return terms;
}

function select<T extends KubeObject>(reader: IndexReader<T>, { indexed, filter }: ListPlan): StoredObject<T>[] {
  const [first, ...rest] = indexed;
  if (first === undefined) return reader.listStored(filter);
  let found = reader.storedByIndex(fieldIndexName(first.path), first.value, filter);
  for (const { path, value } of rest) {
    const others = new Set(reader.storedByIndex(fieldIndexName(path), value, filter));
    found = found.filter((stored) => others.has(stored));
  }
  return found;
}
