import { numberProblem, shownValue } from '@kctl/wait';
import type { CacheOptions } from './cache-options.js';

/** @throws TypeError naming the option, its value and what is expected */
export function requireCacheOptions(options: CacheOptions): void {
  const { client, byObject = [], lingerMs, listerWatcherFor } = options;
  if (listerWatcherFor === undefined && !canRead(client))
    throw new TypeError(
      `createCache: client ${shownValue(client)} is not valid: expected a client, such as createHttpClient(…) of @kctl/client-http`,
    );
  for (const [index, { kind }] of byObject.entries()) requireKind(`createCache: byObject[${index}].kind`, kind);
  const problem = lingerMs === undefined ? undefined : numberProblem('lingerMs', lingerMs);
  if (problem !== undefined) throw new TypeError(`createCache: ${problem}`);
}

/** @throws TypeError when it is not a kind */
export function requireKind(field: string, kind: unknown): void {
  if (typeof kind === 'object' && kind !== null && 'plural' in kind && 'scope' in kind) return;
  throw new TypeError(
    `${field} ${shownValue(kind)} is not valid: expected a kind, such as Pod of @kctl/apimachinery/kinds/core/v1 or one of defineKind(…)`,
  );
}

function canRead(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  const isFunction = (name: string): boolean => typeof Reflect.get(client, name) === 'function';
  return (isFunction('list') && isFunction('watch')) || (isFunction('listFrames') && isFunction('watchFrames'));
}
