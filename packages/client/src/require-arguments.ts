import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { shownType, shownValue, unknownOptions } from '@kctl/wait';
import type { OptionNames } from '@kctl/wait';
import { isKubeObject } from './kube-object.js';
import type { DeleteAllOfOptions, DeleteOptions } from './options.js';

/**
 * For functions that take a client: refuses what lacks the methods that they call, such as a client that was not awaited.
 *
 * @param what the function, at the beginning of the message
 * @param methods what is called; none where that depends on the calls that follow
 * @throws TypeError naming what is missing
 *
 * @example
 * ```ts
 * import { requireClient } from '@kctl/client';
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
      : `${what}: the client is ${shown(client)}: ${expected}`,
  );
}

/**
 * For functions that take an object: refuses what is none, and one without metadata.
 *
 * @param what the function, at the beginning of the message
 * @param name the argument
 * @throws TypeError naming the argument and its value
 */
export function requireObject(what: string, name: string, object: unknown): asserts object is DeepReadonly<KubeObject> {
  if (isKubeObject(object)) return;
  const given = isObject(object) ? 'an object without metadata' : shown(object);
  throw new TypeError(`${what}: the ${name} is ${given}: expected an object as it was read`);
}

/** Refuses what is not an object of options. @throws TypeError naming the argument and what fits */
export function requireOptionsObject(what: string, options: unknown, expected = 'an object of options'): void {
  if (isObject(options) && !Array.isArray(options)) return;
  throw new TypeError(`${what}: the options are ${shown(options)}: expected ${expected}`);
}

/**
 * For clients: refuses options of a call that are not an object, a `dryRun` that is not a boolean, since what is meant as a
 * dry run must not be written, a `limit` that is not a whole number, and of deletes what is not known: without its selector
 * or precondition, one deletes more than what is meant.
 *
 * @param verb the call, at the beginning of the message
 * @throws TypeError naming what is not valid
 */
export function requireCallOptions(verb: string, kind: Kind, options: unknown): void {
  if (!isObject(options) || Array.isArray(options)) {
    requireOptionsObject(`${verb} ${kind.kind}`, options);
    return;
  }
  // Cached reads come here, too: nothing is built unless it is wrong.
  if ('dryRun' in options && options.dryRun !== undefined && typeof options.dryRun !== 'boolean')
    throw new TypeError(`${verb} ${kind.kind}: options.dryRun is ${shown(options.dryRun)}: expected true or false`);
  if ('limit' in options && options.limit !== undefined && !isWhole(options.limit))
    throw new TypeError(`${verb} ${kind.kind}: options.limit is ${shown(options.limit)}: expected a whole number`);
  const names = namesOfDeletes.get(verb);
  if (names === undefined) return;
  const unknown = unknownOptions(options, names);
  if (unknown.length > 0) throw new TypeError(`${verb} ${kind.kind}: ${unknown.join('; ')}`);
}

const deleteOptionNames: OptionNames<DeleteOptions> = {
  dryRun: true,
  gracePeriodSeconds: true,
  preconditions: true,
  propagationPolicy: true,
  ignoreStoreReadErrorWithClusterBreakingPotential: true,
  signal: true,
};

const deleteAllOfOptionNames: OptionNames<DeleteAllOfOptions> = {
  ...deleteOptionNames,
  namespace: true,
  labelSelector: true,
  fieldSelector: true,
};

/** Options of other writes: a caller has one object of them for all. A delete has no use for them. */
const ofOtherWrites = ['fieldOwner', 'fieldValidation'];

/** A misspelled selector would mean every object, a misspelled precondition none. */
const namesOfDeletes: ReadonlyMap<string, readonly string[]> = new Map([
  ['delete', [...Object.keys(deleteOptionNames), ...ofOtherWrites]],
  ['deleteAllOf', [...Object.keys(deleteAllOfOptionNames), ...ofOtherWrites]],
]);

function isWhole(limit: unknown): boolean {
  return Number.isInteger(limit) || limit === Infinity;
}

/** Refuses what is not an array. @throws TypeError naming the argument and what fits */
export function requireList(what: string, name: string, list: unknown, expected: string): void {
  if (Array.isArray(list)) return;
  throw new TypeError(`${what}: ${name} is ${shown(list)}: expected ${expected}`);
}

/** Refuses a name that is none, which would name a collection. @throws TypeError naming the argument */
export function requireName(what: string, name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`${what}: the ${name} is ${value === '' ? 'empty' : shown(value)}: expected its name`);
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? shownValue(value)
    : shownType(value);
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function hasMethod(value: unknown, method: string): boolean {
  return isObject(value) && typeof Reflect.get(value, method) === 'function';
}
