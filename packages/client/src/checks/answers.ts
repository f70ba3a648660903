import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownType } from '@kctl/options';
import { isKubeObject } from '../kube-object.js';

/** Returns the list of a foreign client unchanged. @throws TypeError if it is not a list of objects */
export function requireListAnswer<L>(what: string, list: L): L {
  const given: unknown = list;
  if (isJsonObject(given) && Array.isArray(given['items'])) {
    const odd = given['items'].findIndex((item) => !isJsonObject(item));
    if (odd < 0) return list;
    throw new TypeError(`${what}: list of the client returned items[${odd}] that is not an object: expected objects`);
  }
  throw new TypeError(`${what}: list of the client returned ${shownType(given)}: expected { items }`);
}

/** The same for an object. @throws TypeError when it is not one with metadata */
export function requireObjectAnswer<T>(what: string, object: T): T {
  if (isKubeObject(object)) return object;
  throw new TypeError(`${what}: get of the client returned ${shownType(object)}: expected an object with metadata`);
}

/** The same for what `status` and `subResource` return. @throws TypeError when it lacks the verbs */
export function requireClientPart<P>(method: 'status' | 'subResource', part: P): P {
  const verbs = method === 'status' ? ['update', 'patch'] : ['get', 'create', 'update', 'patch'];
  const given: unknown = part;
  // A fake may have the verbs alone that its test needs.
  if (isJsonObject(given) && verbs.some((verb) => typeof given[verb] === 'function')) return part;
  throw new TypeError(`${method} of the client returned ${shownType(given)}: expected the verbs ${verbs.join(', ')}`);
}
