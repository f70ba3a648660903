import { systemClock } from '@kctl/wait';
import type { ResourceDefinition } from '../resource/resource.js';
import { expired, notFound, tooManyRequests, unclassified } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import type { Sink } from '../protocol/sink.js';
import { convertAnew, convertVersions } from '../storage/convert-versions.js';
import { readAll, whyNotFilled } from '../storage/watch-cache.js';
import type { Table } from '../storage/table.js';
import type { ObjectVersion, Rendering } from '../storage/version.js';
import { requireStream } from '../codecs/negotiate.js';
import type { ListMetadata } from '../protocol/list-metadata.js';
import { protobufType } from '../protobuf/envelope.js';
import type { WatchScope } from '../watch/hub.js';
import { runWatch, type WatchStart, type WatchTap } from '../watch/session.js';
import { storageKeyOf, type Backend, type ResourceCall } from './call.js';
import { decodeContinue, encodeContinue } from './continue-token.js';
import {
  checkListOptions,
  checkWatchOptions,
  parseListOptions,
  parseRevision,
  parseWatchParameters,
  waitForRevision,
  type WatchParameters,
} from './read-options.js';
import { listReply, sliceSize, turnMs } from './list-reply.js';
import { nextTurn } from '@kctl/wait/internal';
import { commonHeaders } from '../protocol/plain-reply.js';
import type { getParameters, QueryOf } from './parameters.js';
import { objectReply, shapeOf } from './reply.js';
import { selectionOf } from './selection.js';

/** GET of one object. */
export async function get(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { definition, path, request } = call;
  const query: QueryOf<typeof getParameters> = call.query;
  const asked = parseRevision(query.get('resourceVersion') ?? '', unclassified);
  if (asked !== undefined) await waitForRevision(backend, asked, request.signal);
  const table = backend.store.table(definition.storageKey);
  const key = storageKeyOf(path.namespace, path.name);
  const version = call.revisionsBehind === 0 ? table.get(key) : table.getAt(key, staleRevision(backend, call, table));
  if (version === undefined) throw notFound(definition, path.name);
  const converted = asked === undefined ? convertAnew(definition, version) : convertVersions(definition, [version]);
  if (converted !== undefined) await converted;
  return objectReply(backend, call, { status: 200, rendering: version.in(definition) });
}

/** The revision that a read under the fault `staleRead` shows. */
function staleRevision({ store }: Backend, call: ResourceCall, table: Table): number {
  return Math.max(table.floor, store.revision - call.revisionsBehind);
}

/** Content of a page, and its continuation. */
interface Page {
  readonly scope: WatchScope;
  /** The state that is shown. */
  readonly revision: number;
  /** Revision that the list states. */
  readonly shown: number;
  /** First key. */
  readonly start: string;
  /** 0: all. */
  readonly limit: number;
}

/** Reads a page in slices, so that a long one does not hold up others. The pin keeps its state readable meanwhile. */
async function readPage(
  table: Table,
  { definition }: ResourceCall,
  page: Page,
): Promise<{ found: ObjectVersion[]; last: string; isMore: boolean }> {
  const { scope, revision, limit } = page;
  const found: ObjectVersion[] = [];
  let { start } = page;
  let last = '';
  for (;;) {
    let read = 0;
    const begun = systemClock.monotonicNow();
    let isOver = false;
    let unconverted: ObjectVersion[] | undefined;
    for (const [key, version] of table.scan({ prefix: scope.key ?? scope.prefix, start, revision })) {
      if (scope.key !== undefined && key !== scope.key) continue;
      // Upstream does not check whether anything further matches, so the next page may be empty.
      if (limit > 0 && found.length === limit) return { found, last, isMore: true };
      if (scope.matches !== undefined && !version.has(definition)) {
        unconverted = nextVersions(table, page, start);
        break;
      }
      read++;
      start = `${key}\u0000`;
      if (scope.matches?.(version.in(definition).object) ?? true) {
        found.push(version);
        last = key;
      }
      // A selector may look into long objects.
      isOver = read === sliceSize || (scope.matches !== undefined && systemClock.monotonicNow() - begun >= turnMs);
      if (isOver) break;
    }
    if (unconverted !== undefined) await convertVersions(definition, unconverted);
    else if (!isOver) return { found, last, isMore: false };
    else await nextTurn();
  }
}

/** Versions that a selector checks next, for one call of a conversion webhook. */
function nextVersions(table: Table, { scope, revision }: Page, start: string): ObjectVersion[] {
  const next: ObjectVersion[] = [];
  for (const [key, version] of table.scan({ prefix: scope.key ?? scope.prefix, start, revision })) {
    if (scope.key === undefined || key === scope.key) next.push(version);
    if (next.length === sliceSize) break;
  }
  return next;
}

/** LIST. */
export async function list(backend: Backend, call: ResourceCall): Promise<Reply> {
  const scope = selectionOf(call, checkListOptions);
  const table = backend.store.table(call.definition.storageKey);
  // As upstream, pages without selectors are read from the storage itself meanwhile.
  const { limit } = parseListOptions(call.query);
  const missing = limit > 0 && scope.matches === undefined ? undefined : await whyNotFilled(call.definition, table);
  if (missing !== undefined) throw notReady(missing);
  using page = await readList(backend, call, scope);
  return await page.reply();
}

/** A page of a list. Its state stays readable until it is disposed of. */
export interface ListPage extends Disposable {
  readonly found: readonly ObjectVersion[];
  /** The page as an answer. */
  reply(): Promise<Reply>;
}

/** The page that the parameters of a LIST or a deletecollection request. @throws StatusError 400, 410, 422, 504 */
export async function readList(backend: Backend, call: ResourceCall, scope: WatchScope): Promise<ListPage> {
  const { store } = backend;
  const { definition } = call;
  const page = await choosePage(backend, call, scope);
  const table = store.table(definition.storageKey);
  if (page.revision < table.floor) throw expiredPage(call);
  const unpin = store.pin(page.revision);
  try {
    const { found, last, isMore } = await readPage(table, call, page);
    const converted = convertVersions(definition, found);
    if (converted !== undefined) await converted;
    const next = `${last}\u0000`;
    const metadata: ListMetadata = {
      resourceVersion: String(page.shown),
      ...(isMore && {
        continue: encodeContinue({ revision: page.revision, start: `/${next.slice(scope.prefix.length)}` }),
      }),
      ...(isMore &&
        scope.matches === undefined && {
          remainingItemCount: table.count({ prefix: scope.prefix, start: next, revision: page.revision }),
        }),
    };
    const rendered = (from: number, to: number): Rendering[] =>
      found.slice(from, to).map((version) => version.in(definition));
    return {
      found,
      reply: () => listReply(shapeOf(backend, call), call, { metadata, length: found.length, rendered }),
      [Symbol.dispose]: unpin,
    };
  } catch (error) {
    unpin();
    throw error;
  }
}

/**
 * Chooses the state that a LIST shows, and its start. Mirrors the table of the API concepts page and the 1.36 watch
 * cache.
 */
async function choosePage(backend: Backend, call: ResourceCall, scope: WatchScope): Promise<Page> {
  const { store } = backend;
  const { revision, match, limit, continueToken } = parseListOptions(call.query);
  if (continueToken !== '') {
    const token = decodeContinue(continueToken);
    const at = token.revision < 0 ? store.revision : token.revision;
    const start = `${scope.prefix}${token.start.replace(/^\//, '')}`;
    if (at > store.revision) await waitForRevision(backend, at, call.request.signal);
    return { scope, revision: at, shown: at, start, limit };
  }
  if (revision !== undefined) await waitForRevision(backend, revision, call.request.signal);
  // With a limit alone the revision is exact; of one object by its name there are no pages.
  const isPaged = limit > 0 && scope.key === undefined;
  const isExact = match === 'Exact' || (match === '' && isPaged && revision !== undefined && revision > 0);
  const latest = staleRevision(backend, call, store.table(call.definition.storageKey));
  const at = isExact && revision !== undefined ? revision : latest;
  return { scope, revision: at, shown: at, start: '', limit: revision === 0 ? 0 : limit };
}

/** 410; for a continue token with another one that goes on with the present state, at the price of consistency. */
function expiredPage(call: ResourceCall): Error {
  if ((call.query.get('continue') ?? '') === '')
    return expired('The resourceVersion for the provided list is too old.');
  const { start } = decodeContinue(call.query.get('continue') ?? '');
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  error.status.metadata = { continue: encodeContinue({ revision: -1, start }) };
  return error;
}

/** Shortest and longest life of a watch without `timeoutSeconds`: upstream's --min-request-timeout, once and twice. */
const minWatchMs = 1_800_000;

/**
 * WATCH. @throws StatusError 400, 422; 429 if the objects cannot be converted, as upstream while its watch cache is not
 * filled
 */
export async function watch(backend: Backend, call: ResourceCall, tap?: WatchTap): Promise<Reply> {
  const scope = selectionOf(call, checkWatchOptions);
  const parameters = parseWatchParameters(call.query);
  await fillWatchCache(backend, call.definition);
  const { mediaType } = call.negotiated;
  requireStream(call.negotiated);
  const shape = shapeOf(backend, call).watch;
  const seconds = parameters.timeoutSeconds;
  const timeoutMs = seconds !== undefined && seconds > 0 ? seconds * 1000 : minWatchMs * (1 + backend.random());
  const stream = (sink: Sink): Promise<void> =>
    runWatch(backend.watch, {
      scope,
      shape,
      start: watchStart(parameters),
      bookmarks: parameters.bookmarks,
      timeoutMs,
      sink,
      ...(tap !== undefined && { tap }),
    });
  const contentType = mediaType === protobufType ? `${mediaType};stream=watch` : mediaType;
  return { status: 200, headers: { ...commonHeaders, 'content-type': contentType }, stream };
}

/** Upstream watches from a cache of all objects in the version of the watch. @throws StatusError 429 */
async function fillWatchCache({ store }: Backend, definition: ResourceDefinition): Promise<void> {
  const table = store.table(definition.storageKey);
  const missing = await whyNotFilled(definition, table);
  if (missing !== undefined) throw notReady(missing);
  if (definition.conversion === undefined) return;
  try {
    await readAll(definition, table);
  } catch {
    throw notReady();
  }
}

function notReady(why?: string): Error {
  return tooManyRequests(`storage is (re)initializing${why === undefined ? '' : `: ${why}`}`, 1);
}

function watchStart({ revision, sendInitialEvents, bookmarks }: WatchParameters): WatchStart {
  if (sendInitialEvents === true) return { from: 'current', atLeast: revision ?? 0, endBookmark: bookmarks };
  if (sendInitialEvents === false)
    return revision === undefined || revision === 0 ? { from: 'now' } : { from: 'revision', revision };
  return revision === undefined || revision === 0
    ? { from: 'current', atLeast: 0, endBookmark: bookmarks }
    : { from: 'revision', revision };
}
