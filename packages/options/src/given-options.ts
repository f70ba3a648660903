import { isThenable } from './is-thenable.js';

/** Built-in objects that hold data other than options; given as options, each option would mean its default. */
const foreignTags = new Set([
  ...['Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'Date', 'RegExp', 'Error', 'Promise', 'AbortSignal', 'URL'],
  ...['ArrayBuffer', 'DataView', 'Uint8Array', 'String', 'Number', 'Boolean'],
]);

/** Whether a value can hold options: an object that is neither a promise nor a built-in of another purpose. */
export function isObjectOfOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && shownKind(value) === undefined;
}

/** Returns the type of a built-in object that holds no options, such as `array` or `Map`; undefined for other values. */
export function shownKind(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    if (Array.isArray(value)) return 'array';
    if (isPlain(value)) return isThenable(value) ? 'promise' : undefined;
    const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (tag !== 'Promise' && foreignTags.has(tag)) return tag;
    return isThenable(value) ? 'promise' : undefined;
  } catch {
    // A revoked proxy, or a getter that throws.
    return isRevoked(value) ? 'revoked proxy' : undefined;
  }
}

function isRevoked(value: object): boolean {
  try {
    Array.isArray(value);
    return false;
  } catch {
    return true;
  }
}

/** Whether all options of an object are its own: an object literal, or one without a prototype. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const prototype = Reflect.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null;
  } catch {
    return false;
  }
}

/**
 * Returns the names of the options that an object has: its own, and those that it inherits. Methods and getters of a class
 * are not options: an object that has options may have more, as the context of a reconcile has a signal.
 */
export function givenNames(given: object): string[] {
  const names = new Set(Object.keys(given));
  for (const level of prototypesOf(given)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(level)))
      if (descriptor.enumerable === true) names.add(name);
  }
  return [...names];
}

/** Returns the names of the members of an object, including the methods of its class. */
export function memberNames(given: object): Iterable<string> {
  const names = new Set(Object.keys(given));
  for (const level of prototypesOf(given)) for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  return names;
}

/** The prototypes of an object, except for the one that all objects have. */
function* prototypesOf(given: object): Generator<object> {
  for (let level = Reflect.getPrototypeOf(given); level !== null; level = Reflect.getPrototypeOf(level)) {
    if (Object.hasOwn(level, 'hasOwnProperty')) return;
    yield level;
  }
}

/** Reads an option. A getter that throws is a problem of the option, not of the function that takes it. */
export function readOption(
  given: object,
  name: string,
): { readonly value?: unknown; readonly problem?: string | undefined } {
  try {
    return { value: Reflect.get(given, name) };
  } catch (error) {
    return { problem: `cannot be read: ${error instanceof Error ? error.message : 'its getter throws'}` };
  }
}
