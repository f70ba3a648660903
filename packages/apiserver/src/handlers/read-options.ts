import { forbidden, notSupported, type FieldError, goQuoted } from '@kctl/crd/internal/engine';
import { parseBoolParameter, parseIntParameter } from '../protocol/go-text.js';
import { badRequest, invalidOptions, resourceVersionTooLarge, unclassified } from '../protocol/status.js';
import type { NamedQuery } from '../protocol/named-query.js';
import type { Backend } from './call.js';
import { decodeContinue } from './continue-token.js';
import { listParameters, refusedParameters, type QueryOf, type watchParameters } from './parameters.js';

type ListQuery = QueryOf<typeof listParameters>;
type WatchQuery = QueryOf<typeof watchParameters>;

/** Parameters of a LIST. */
export interface ListOptions {
  /** If undefined, the most recent state. */
  readonly revision: number | undefined;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  readonly limit: number;
  readonly continueToken: string;
}

const badRevision = (text: string, why: string): string =>
  `resourceVersion: Invalid value: ${goQuoted(text)}: strconv.ParseUint: parsing ${goQuoted(text)}: ${why}`;

/** A resourceVersion parameter; undefined when unset. @throws whatever `fail` makes of the message */
export function parseRevision(text: string, fail: (message: string) => Error): number | undefined {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) throw fail(badRevision(text, 'invalid syntax'));
  const exact = BigInt(text);
  if (BigInt.asUintN(64, exact) !== exact) throw fail(badRevision(text, 'value out of range'));
  return Number(text);
}

const forbiddenMatch = (detail: string): FieldError => forbidden('resourceVersionMatch', detail);
const matches = ['Exact', 'NotOlderThan'] as const;

/**
 * Checks the parameters of a LIST or a deletecollection against each other, after the syntax of its selectors and
 * before the fields that these name.
 *
 * @throws StatusError 422 with all that is wrong
 */
export function checkListOptions(query: ListQuery & NamedQuery): void {
  const revision = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const errors: FieldError[] = [];
  if (match !== '') {
    if (revision === '')
      errors.push(forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (hasContinue(query)) errors.push(forbiddenMatch('resourceVersionMatch is forbidden when continue is provided'));
    if (!matches.some((known) => known === match))
      errors.push(notSupported('resourceVersionMatch', match, [...matches, '']));
    if (match === 'Exact' && revision === '0')
      errors.push(forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  errors.push(...refusedParameters(listParameters, query));
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
}

/**
 * Checks the parameters of a WATCH against each other, as {@link checkListOptions} does those of a LIST. @throws
 * StatusError 422
 */
export function checkWatchOptions(query: WatchQuery): void {
  const given = query.get('resourceVersionMatch') ?? '';
  const revision = query.get('resourceVersion') ?? '';
  // As upstream, a watch from no revision requests initial events unless its parameters state otherwise.
  const isLegacy = !query.has('sendInitialEvents') && given === '' && (revision === '' || revision === '0');
  const hasInitial = isLegacy || query.has('sendInitialEvents');
  const match = isLegacy ? 'NotOlderThan' : given;
  const errors: FieldError[] = [];
  if (hasInitial && match !== 'NotOlderThan')
    errors.push(forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (match !== '') {
    if (!hasInitial)
      errors.push(forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if (hasContinue(query)) errors.push(forbiddenMatch('resourceVersionMatch is forbidden when continue is provided'));
  }
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
}

const hasContinue = (query: Pick<ListQuery, 'get'>): boolean => (query.get('continue') ?? '') !== '';

/**
 * Checks the numbers among the parameters of a LIST, a WATCH or a deletecollection, before all else. @throws
 * StatusError 400
 */
export function checkNumbers(query: ListQuery): void {
  for (const name of ['timeoutSeconds', 'limit'] as const) parseIntParameter(query, name);
}

/** Parameters of a LIST that {@link checkListOptions} has let through. @throws StatusError 400 */
export function parseListOptions(query: ListQuery): ListOptions {
  const text = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  if (continueToken !== '') decodeContinue(continueToken);
  if (continueToken !== '' && text !== '' && text !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  const revision = parseRevision(text, (message) => badRequest(`invalid resource version: ${message}`));
  const limit = Math.max(0, parseIntParameter(query, 'limit') ?? 0);
  const isExact = match === 'Exact' || match === 'NotOlderThan' ? match : '';
  return { revision, match: isExact, limit, continueToken };
}

/** Parameters of a WATCH. */
export interface WatchParameters {
  readonly revision: number | undefined;
  readonly sendInitialEvents: boolean | undefined;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Parameters of a WATCH that {@link checkWatchOptions} has let through. @throws StatusError 500 for a resourceVersion that is not a number, as upstream */
export function parseWatchParameters(query: WatchQuery): WatchParameters {
  return {
    revision: parseRevision(query.get('resourceVersion') ?? '', unclassified),
    sendInitialEvents: query.has('sendInitialEvents') ? parseBoolParameter(query, 'sendInitialEvents') : undefined,
    bookmarks: parseBoolParameter(query, 'allowWatchBookmarks'),
    timeoutSeconds: parseIntParameter(query, 'timeoutSeconds'),
  };
}

/** How long a read for a revision in the future waits for it. */
const revisionWaitMs = 3000;

/** Waits until the store has reached a revision. @throws StatusError 504 after 3 s */
export async function waitForRevision(backend: Backend, revision: number, signal: AbortSignal): Promise<void> {
  const { store, clock } = backend;
  if (revision <= store.revision) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer.cancel();
      unsubscribe();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(done, revisionWaitMs);
    const unsubscribe = store.subscribe((event) => {
      if (event.revision >= revision) done();
    });
    signal.addEventListener('abort', done, { once: true });
  });
  if (revision > store.revision) throw resourceVersionTooLarge(String(revision), String(store.revision));
}
