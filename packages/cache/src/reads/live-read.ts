import { compareResourceVersions, fieldSelectorFrom, formatGroupVersionKind, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeList, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { IndexReader } from '@kctl/cache-index';
import { listWithin } from '@kctl/client/internal';
import type { GetOptions, ListOptions, Reader } from '@kctl/client';
import type { ReadScope } from '@kctl/client/internal';
import type { InformerClient } from '@kctl/informer';
import { sentOptions } from '@kctl/options';
import { UnsupportedReadError } from '../errors.js';
import { liveGet, liveList } from './read-decisions.js';
import { cutList, fieldIndexName, matcherFrom, notFound } from './read.js';

/**
 * Requirements of a `live: true` read on a cache, so that the server answers and the result contains no more than the
 * cache would.
 */
export interface LiveReadScope {
  readonly client: InformerClient;
  readonly scopes: readonly ReadScope[];
  /** Has the indexes of the kind. */
  readonly reader: IndexReader<KubeObject>;
  /** The object as the cache would hold it; undefined if it is left out. */
  readonly project: (object: KubeObject) => DeepReadonly<KubeObject> | undefined;
}

/**
 * A list of one name, because the server evaluates the selectors of the scope.
 *
 * @throws NotFound as the server does, also for objects that the scope excludes; UnsupportedReadError if the client
 * cannot
 */
export async function getLive(
  kind: Kind,
  key: ObjectKey,
  { options, ...scope }: LiveReadScope & { readonly options: GetOptions },
): Promise<DeepReadonly<KubeObject>> {
  const within = key.namespace === undefined ? {} : { namespace: key.namespace };
  const named = { ...sentOptions(liveGet, options), ...within, fieldSelector: { 'metadata.name': key.name } };
  const [object] = (await listLive(kind, { ...scope, options: named })).items;
  if (object === undefined) throw notFound(kind, key);
  return object;
}

/**
 * Fields that the cache has an index for are evaluated by it; the others are sent to the server.
 *
 * @throws what the server answers; UnsupportedReadError for `continue` over several scopes
 */
export async function listLive(
  kind: Kind,
  scope: LiveReadScope & { readonly options: ListOptions },
): Promise<KubeList<DeepReadonly<KubeObject>>> {
  const { client, scopes, reader, project, options } = scope;
  const { limit, continue: token = '', fieldSelector } = options;
  const { indexed, sent } = splitFields(reader, fieldSelector);
  const isPaged = indexed === '' && scopes.length === 1;
  if (token !== '' && !isPaged)
    throw new UnsupportedReadError(
      'continue list option is not supported over several scopes or by an index: list without it',
    );
  const matches = indexed === '' ? undefined : matcherFrom({ kind, reader, options: { fieldSelector: indexed } });
  const answers = await listWithin(readerOf(client, kind), kind, {
    ...sentOptions(liveList, options),
    ...(sent === '' ? {} : { fieldSelector: sent }),
    ...(isPaged && limit !== undefined ? { limit } : {}),
    ...(isPaged && token !== '' ? { continue: token } : {}),
    scopes,
  });
  const items = answers
    .flatMap(({ list }) => list.items)
    .map((item) => project(item as KubeObject))
    .filter((item) => item !== undefined)
    .filter((item) => matches?.(item) ?? true);
  const [first] = answers;
  if (first !== undefined && answers.length === 1) return cutList({ ...first.list, items }, isPaged ? 0 : limit);
  const resourceVersion =
    answers.map(({ list }) => list.metadata.resourceVersion ?? '').reduce(olderOf, undefined) ?? '';
  return cutList(
    {
      apiVersion: kind.apiVersion,
      kind: `${kind.kind}List`,
      metadata: resourceVersion === '' ? {} : { resourceVersion },
      items: items.sort(byKey),
    },
    limit,
  );
}

function readerOf(client: InformerClient, kind: Kind): Reader {
  if ('list' in client) return client;
  throw new UnsupportedReadError(
    `live read of ${formatGroupVersionKind(kind)}: the client of this cache only watches: read with a client of your own`,
  );
}

function splitFields(
  reader: IndexReader<KubeObject>,
  selector: ListOptions['fieldSelector'],
): { readonly indexed: string; readonly sent: string } {
  if (selector === undefined) return { indexed: '', sent: '' };
  const terms = fieldSelectorFrom(selector).terms;
  const textOf = (isIndexed: boolean): string =>
    fieldSelectorFrom(
      terms.filter(({ path }) => reader.indexNames.includes(fieldIndexName(path)) === isIndexed),
    ).toString();
  return { indexed: textOf(true), sent: textOf(false) };
}

function olderOf(a: string | undefined, b: string): string {
  if (a === undefined || a === b) return b;
  const order = compareResourceVersions(a, b);
  return order === 'unknown' ? '' : order === 'older' ? a : b;
}

function byKey(left: DeepReadonly<KubeObject>, right: DeepReadonly<KubeObject>): number {
  const [a, b] = [keyOf(left), keyOf(right)];
  const [ofA = '', ofB = ''] = [a.namespace, b.namespace];
  if (ofA !== ofB) return ofA < ofB ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
