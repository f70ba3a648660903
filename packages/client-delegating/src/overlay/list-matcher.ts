import { fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { ListOptions } from '@kctl/client';
import { sentOptions, type SentOptions } from '@kctl/options';
import type { CacheView } from './cache-view.js';
import { matchedList } from './list-decisions.js';

/**
 * Reports whether an object that a store holds belongs to a list of the cache with these options. A cache without a
 * matcher is assumed to read fields at their paths.
 *
 * @throws the errors that `list` of the cache throws
 */
export function listMatcher(
  cache: CacheView,
  kind: Kind,
  list: ListOptions,
): (object: DeepReadonly<KubeObject>) => boolean {
  const options = sentOptions(matchedList, list);
  return cache.matcherFor?.(kind, options) ?? matcherOf(options);
}

/** Whether an object belongs into a list with these options, fields read at their paths. @throws SelectorError when a selector is not valid */
export function matcherOf(
  options: SentOptions<ListOptions, typeof matchedList>,
): (object: DeepReadonly<KubeObject>) => boolean {
  const { namespace, labelSelector, fieldSelector } = options;
  const labels = labelSelector === undefined ? undefined : labelSelectorFrom(labelSelector);
  const fields = fieldSelector === undefined ? undefined : fieldSelectorFrom(fieldSelector);
  return (object) => {
    if (namespace !== undefined && namespace !== '' && object.metadata.namespace !== namespace) return false;
    if (labels !== undefined && !labels.matches(object.metadata.labels)) return false;
    return (
      fields === undefined ||
      fields.matches(
        valuesAt(
          object,
          fields.terms.map(({ path }) => path),
        ),
      )
    );
  };
}

function valuesAt(object: DeepReadonly<KubeObject>, paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, textAt(object, path)]));
}

/** Returns the value at a path, as a field selector compares it, '' if it is absent. */
function textAt(object: unknown, path: string): string {
  let value = object;
  for (const member of path.split('.')) {
    if (typeof value !== 'object' || value === null) return '';
    value = Object.entries(value).find(([name]) => name === member)?.[1];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
