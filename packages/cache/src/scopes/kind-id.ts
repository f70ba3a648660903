import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { requireKind } from '../options/required.js';

/** Each read requires one, of a few tokens. Created once, it is compared by reference. */
const known = new WeakMap<Kind, string>();

/** Full and untyped tokens name the same objects; stripped ones are less, metadata-only ones are less to request. */
export function idOf(token: Kind): string {
  return known.get(token) ?? makeId(token);
}

/** Does not belong to a kind, so reads do not find it, except those with the token of {@link selected}. */
export function selectionId(kind: Kind, name: string): string {
  return `${idOf(kind)}?${name}`;
}

const selection: unique symbol = Symbol('kctl.cache.selection');

/** A token of a kind that stands for its selected informer of a name. */
export function selected<K extends Kind>(kind: K, name: string): K {
  return Object.freeze({ ...kind, [selection]: name });
}

/** Whether a token is one of {@link selected}. */
export function isSelected(token: Kind): boolean {
  return Reflect.get(token, selection) !== undefined;
}

function makeId(token: Kind): string {
  requireKind('cache: kind', token);
  const { group, version, kind, shape } = token;
  const whole = `${group}/${version}/${kind}/${shape === 'metadata' || shape === 'stripped' ? shape : 'whole'}`;
  const name: unknown = Reflect.get(token, selection);
  const id = typeof name === 'string' ? `${whole}?${name}` : whole;
  // A token that can still be changed may get another name.
  if (Object.isFrozen(token)) known.set(token, id);
  return id;
}

/** @throws TypeError when two tokens stand for the same store */
export function requireDistinct(kinds: readonly Kind[]): void {
  const places = new Map<string, number>();
  for (const [index, kind] of kinds.entries()) {
    const id = idOf(kind);
    const first = places.get(id);
    if (first !== undefined)
      throw new TypeError(
        `createCache: byObject[${index}].kind ${formatGroupVersionKind(kind)} is given already by byObject[${first}]: merge the two into one entry`,
      );
    places.set(id, index);
  }
}
