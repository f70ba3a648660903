import { isExpired, isGone } from '@kctl/apimachinery';
import type { Kind, KubeList, ListMeta } from '@kctl/apimachinery';
import { numberProblem } from '@kctl/options';
import { anySignal } from '@kctl/wait';
import { requireListAnswer } from './checks/answers.js';
import type { Reader, ReadObject } from './client.js';
import type { ListOptions } from './options.js';
import { requireClient, requireOptionsObject } from './checks/require-arguments.js';
import { requireKind } from './checks/require-kind.js';

/** client-go's page size (`pager.New`). */
const defaultPageSize = 500;

/** Options of {@link listAll}. */
export interface ListAllOptions extends Omit<ListOptions, 'continue' | 'limit'> {
  /** Items for each request; 0: everything in one. @default 500 */
  readonly pageSize?: number;
  /**
   * How many pages are fetched while one is worked on, and so in memory beside it. client-go's `PageBufferSize`, which is 5.
   *
   * @default 0
   */
  readonly pagesAhead?: number;
}

/**
 * All objects of a collection, fetched page by page as the loop goes on. Memory holds one page, and those of
 * `pagesAhead`. Leaving the loop ends the request for a page that is still on its way. The pages show the collection as
 * of the first one. A reader that answers from a cache is called once, for the whole.
 *
 * If the server drops that state before the last page (410 after minutes), the listing goes on with the token that the
 * server offers for it. The rest then shows a later state, and nothing comes twice. client-go starts over instead,
 * which an iterator cannot do.
 *
 * @throws the errors of `list`; a 410 if the server offers no way to continue; TypeError when `pageSize` is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { listAll } from '@kctl/client';
 *
 * for await (const { metadata } of listAll(client, Pod, { labelSelector: 'app=web' })) console.log(metadata.name);
 * ```
 */
export async function* listAll<K extends Kind>(
  reader: Reader,
  kind: K,
  options: ListAllOptions = {},
): AsyncGenerator<ReadObject<K>, void, undefined> {
  requireClient('listAll', reader, ['list']);
  requireKind('listAll', kind);
  requireOptionsObject('listAll', options);
  const { pageSize = defaultPageSize, pagesAhead = 0, ...rest } = options;
  const problem =
    numberProblem('pageSize', pageSize, { integer: true, remedy: '0 asks for everything at once' }) ??
    numberProblem('pagesAhead', pagesAhead, { integer: true });
  if (problem !== undefined) throw new TypeError(`listAll: ${problem}`);
  if (pagesAhead === 0) {
    for await (const items of pagesOf(reader, kind, { ...rest, pageSize })) yield* items;
    return;
  }
  const left = new AbortController();
  using link = anySignal([rest.signal, left.signal]);
  try {
    const pages = pagesOf(reader, kind, { ...rest, pageSize, signal: link.signal });
    for await (const items of ahead(pages, pagesAhead)) yield* items;
  } finally {
    left.abort();
  }
}

/** The items of each page. */
async function* pagesOf<K extends Kind>(
  reader: Reader,
  kind: K,
  { pageSize, ...rest }: Omit<ListAllOptions, 'pageSize'> & { readonly pageSize: number },
): AsyncGenerator<readonly ReadObject<K>[], void, undefined> {
  let token: string | undefined;
  do {
    const page: KubeList<ReadObject<K>> = await listPage(reader, kind, {
      ...rest,
      limit: pageSize,
      continue: token ?? '',
    });
    requireListAnswer('listAll', page);
    const metadata: Partial<ListMeta> | undefined = page.metadata;
    token = metadata?.continue;
    yield isCut(metadata, token) ? requireListAnswer('listAll', await reader.list(kind, rest)).items : page.items;
    // JSON may have null for an absent value.
  } while ((token ?? '') !== '');
}

/** Requests some elements before they are needed, because a generator works on one after the other. */
async function* ahead<T>(
  source: AsyncGenerator<T, void, undefined>,
  count: number,
): AsyncGenerator<T, void, undefined> {
  const asked: Promise<IteratorResult<T, void>>[] = [];
  for (;;) {
    while (asked.length <= count) {
      const step = source.next();
      // It fails when its turn comes.
      step.catch(() => undefined);
      asked.push(step);
    }
    const step = await asked.shift();
    if (step === undefined || step.done === true) return;
    yield step.value;
  }
}

/** A cache cuts a list at the limit and cannot continue, so the whole list is requested, which costs it nothing. */
function isCut(metadata: Partial<ListMeta> | undefined, token: string | undefined): boolean {
  return (token ?? '') === '' && (metadata?.remainingItemCount ?? 0) > 0;
}

async function listPage<K extends Kind>(
  reader: Reader,
  kind: K,
  { limit = 0, continue: token = '', ...rest }: ListOptions,
): Promise<KubeList<ReadObject<K>>> {
  const page = limit === 0 ? {} : { limit };
  if (token === '') return await reader.list(kind, { ...rest, ...page });
  // A token carries the version of its list, so the server refuses another version beside it.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...following } = rest;
  try {
    return await reader.list(kind, { ...following, ...page, continue: token });
  } catch (error) {
    const later = isExpired(error) || isGone(error) ? error.status.metadata?.continue : undefined;
    if (later === undefined || later === '' || later === token) throw error;
    return await reader.list(kind, { ...following, ...page, continue: later });
  }
}
