/**
 * The metadata of an object. Callers without types, and objects that were looked up and do not exist, get an error that
 * names the function and what is missing, whereas the engine would only name a property.
 *
 * @throws TypeError when it is not an object with metadata
 */
export function metadataOf<M>(what: string, name: string, object: { readonly metadata: M }): M {
  const given: unknown = object;
  if (typeof given === 'object' && given !== null && 'metadata' in given && isObject(given.metadata))
    return object.metadata;
  throw new TypeError(`${what}: the ${name} is ${shown(given)}: expected an object with metadata`);
}

/** @throws TypeError when it is not a list, or one of its items is not an object */
export function requireObjects(what: string, name: string, list: unknown, remedy: string): void {
  if (!Array.isArray(list)) throw new TypeError(`${what}: the ${name} are ${shown(list)}: expected ${remedy}`);
  const index = list.findIndex((item) => !isObject(item));
  if (index >= 0) throw new TypeError(`${what}: ${name}[${index}] is ${shown(list[index])}: expected ${remedy}`);
}

/** @throws TypeError when it is not a string */
export function requireText(what: string, name: string, value: unknown): void {
  if (typeof value === 'string') return;
  throw new TypeError(`${what}: the ${name} is ${shown(value)}: expected a string`);
}

/** @throws TypeError when it is not an object */
export function requireRecord(what: string, name: string, value: unknown, remedy: string): void {
  if (!isObject(value)) throw new TypeError(`${what}: the ${name} is ${shown(value)}: expected ${remedy}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'metadata' in value ? 'an object whose metadata is none' : 'an object without metadata';
  return typeof value === 'function' ? 'a function' : typeof value === 'string' ? JSON.stringify(value) : String(value);
}
