import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { shownArgument } from '@kctl/options';
import { isKubeObject } from '../kube-object.js';

/**
 * For functions that take a client. Refuses a value that lacks the methods that they call, such as a client that was
 * not awaited.
 *
 * @param what the function, at the beginning of the message
 * @param methods the methods to be called; empty if they depend on the calls that follow
 * @throws TypeError naming what is missing
 *
 * @example
 * ```ts
 * import { requireClient } from '@kctl/client/internal';
 *
 * requireClient('restartAll', client, ['list', 'patch']);
 * ```
 */
export function requireClient(what: string, client: unknown, methods: readonly string[]): void {
  const missing = methods.filter((method) => !hasMethod(client, method));
  if (missing.length === 0 && isObject(client)) return;
  const having = methods.length === 0 ? '' : ` with ${methods.join(' and ')}`;
  const expected = `expected a client${having}, such as createHttpClient returns or manager.client`;
  throw new TypeError(
    isObject(client)
      ? `${what}: the client has no ${missing.join(' and no ')}: ${expected}`
      : `${what}: the client is ${shownArgument(client)}: ${expected}`,
  );
}

/**
 * For functions that take an object. Refuses a value that is not an object, or has no metadata.
 *
 * @param what the function, at the beginning of the message
 * @param name the argument
 * @throws TypeError naming the argument and its value
 */
export function requireObject(what: string, name: string, object: unknown): asserts object is DeepReadonly<KubeObject> {
  if (isKubeObject(object)) return;
  const given = isObject(object) ? 'an object without metadata' : shownArgument(object);
  throw new TypeError(`${what}: the ${name} is ${given}: expected an object as it was read`);
}

/** Refuses what is not an object of options. @throws TypeError naming the argument and what fits */
export function requireOptionsObject(what: string, options: unknown, expected = 'an object of options'): void {
  if (isObject(options) && !Array.isArray(options)) return;
  throw new TypeError(`${what}: the options are ${shownArgument(options)}: expected ${expected}`);
}

/** Refuses what is not an array. @throws TypeError naming the argument and what fits */
export function requireList(what: string, name: string, list: unknown, expected: string): void {
  if (Array.isArray(list)) return;
  throw new TypeError(`${what}: ${name} is ${shownArgument(list)}: expected ${expected}`);
}

/** Refuses an invalid name, which would name a collection. @throws TypeError naming the argument */
export function requireName(what: string, name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`${what}: the ${name} is ${value === '' ? 'empty' : shownArgument(value)}: expected its name`);
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function hasMethod(value: unknown, method: string): boolean {
  return isObject(value) && typeof Reflect.get(value, method) === 'function';
}
