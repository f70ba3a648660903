import { forbidden, notSupported } from '@kctl/crd/engine';
import { parseBoolParameter, parseIntParameter } from '../codecs/go-text.js';
import { badRequest, invalidOptions, resourceVersionTooLarge, unclassified } from '../registry/status.js';
import type { Backend } from './call.js';

/** Parameters of a LIST. */
export interface ListOptions {
  /** undefined: the most recent state. */
  readonly revision: number | undefined;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  readonly limit: number;
  readonly continueToken: string;
}

const badRevision = (text: string): string =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

/** A resourceVersion parameter; undefined when unset. @throws whatever `fail` makes of the message */
export function parseRevision(text: string, fail: (message: string) => Error): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,20}$/.test(text)) throw fail(badRevision(text));
  return Number(text);
}

const forbiddenMatch = (detail: string): Error =>
  invalidOptions('ListOptions', [forbidden('resourceVersionMatch', detail)]);

/** Parameters of a LIST. @throws StatusError 400 or 422 */
export function parseListOptions(query: URLSearchParams): ListOptions {
  const text = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  if (query.get('sendInitialEvents') !== null)
    throw invalidOptions('ListOptions', [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]);
  if (match !== '') {
    if (text === '') throw forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (continueToken !== '') throw forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan')
      throw invalidOptions('ListOptions', [notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', ''])]);
    if (match === 'Exact' && text === '0')
      throw forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
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

/** Parameters of a WATCH. @throws StatusError 400, 422, and 500 for a resourceVersion that is not a number, as upstream */
export function parseWatchParameters(query: URLSearchParams): WatchParameters {
  const match = query.get('resourceVersionMatch') ?? '';
  const hasInitial = query.get('sendInitialEvents') !== null;
  if (hasInitial && match !== 'NotOlderThan')
    throw forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if ((query.get('continue') ?? '') !== '')
    throw forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
  if (!hasInitial && match !== '')
    throw forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  return {
    revision: parseRevision(query.get('resourceVersion') ?? '', unclassified),
    sendInitialEvents: hasInitial ? parseBoolParameter(query, 'sendInitialEvents') : undefined,
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
