import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownType } from '@kctl/options';
import type { InformerReport, ManagedCache } from './cluster.js';

/** Result of a method of a foreign part. @throws TypeError if it is not a list of objects */
export function listedBy<T>(what: string, listed: Iterable<T> | undefined, expected: string): readonly T[] {
  const given: unknown = listed ?? [];
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw new TypeError(`${what} returned ${shownType(given)}: expected a list of ${expected}`);
  const items = [...(listed ?? [])];
  const odd = items.findIndex((item) => !isJsonObject(item));
  if (odd < 0) return items;
  throw new TypeError(`${what}[${odd}] is ${shownType(items[odd])}: expected ${expected}`);
}

/** The reports of a cache; none if it makes none. @throws TypeError for what is not a list of them */
export function reportsOf(cache: Pick<ManagedCache, 'informers'>): readonly InformerReport[] {
  const reports = listedBy('informers() of the cache', cache.informers?.(), '{ kind, state }');
  const odd = reports.findIndex(({ kind, state }) => !isJsonObject(kind) || !isJsonObject(state));
  if (odd < 0) return reports;
  throw new TypeError(`informers() of the cache returned a list whose item ${odd} lacks kind or state`);
}
