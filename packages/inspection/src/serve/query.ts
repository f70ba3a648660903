import { keySorts, keyStates, type KeysQuery } from '../views/keys.js';
import type { TimelineQuery } from '../views/timeline.js';

/** The request is not valid; the message is for the caller. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

const maxText = 1024;

/** @throws QueryError */
export function keysQuery(query: URLSearchParams): KeysQuery {
  return {
    controller: textOf(query, 'controller'),
    state: oneOf(query, 'state', keyStates),
    search: textOf(query, 'search'),
    sort: oneOf(query, 'sort', keySorts),
    offset: wholeOf(query, 'offset', 10_000_000),
    limit: wholeOf(query, 'limit', 500),
  };
}

/** @throws QueryError */
export function timelineQuery(query: URLSearchParams): TimelineQuery {
  const key = textOf(query, 'key');
  if (key === undefined) throw new QueryError('key is missing: expected namespace/name, such as ?key=shop/web');
  return { key, controller: textOf(query, 'controller'), kind: textOf(query, 'kind') };
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (text.length > maxText) throw new QueryError(`${name} is longer than ${maxText} characters`);
  return text;
}

function oneOf<const T extends string>(query: URLSearchParams, name: string, known: readonly T[]): T | undefined {
  const text = textOf(query, name);
  if (text === undefined || text === 'all') return undefined;
  const found = known.find((each) => each === text);
  if (found === undefined) throw new QueryError(`${name} is not valid: expected ${known.join(', ')}`);
  return found;
}

function wholeOf(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw new QueryError(`${name} is not valid: expected a whole number, at most ${most}`);
  return Number(text);
}
