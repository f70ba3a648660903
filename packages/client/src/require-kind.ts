import type { Kind } from '@kctl/apimachinery';

/** For clients: refuses what cannot be a kind, which is what an import under a wrong name yields. @throws TypeError */
export function requireKind(verb: string, kind: Kind): void {
  const given: unknown = kind;
  const isKind = typeof given === 'object' && given !== null && 'plural' in given && 'apiVersion' in given;
  if (!isKind)
    throw new TypeError(
      `${verb}: the kind is ${shown(given, 'an object that is none')}: expected a token such as ConfigMap or what defineKind returns; is its import right?`,
    );
}

/** For clients: {@link requireKind}, and refuses what has no name to find an object by. @throws TypeError */
export function requireKey(verb: string, kind: Kind, key: object): void {
  requireKind(verb, kind);
  const given: unknown = key;
  const isKey = typeof given === 'object' && given !== null && 'name' in given && typeof given.name === 'string';
  if (isKey) return;
  const expected = kind.scope === 'Namespaced' ? '{ namespace, name }' : '{ name }';
  throw new TypeError(
    `${verb} ${kind.kind}: the key is ${shown(given, 'an object without a name')}: expected ${expected}`,
  );
}

function shown(value: unknown, object: string): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? object : String(value);
}
