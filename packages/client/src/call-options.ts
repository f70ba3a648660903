import type { Kind } from '@kctl/apimachinery';
import { shownArgument, unknownOptions } from '@kctl/options';
import type { FrameOptions } from './client.js';
import type {
  DeleteAllOfOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  Preconditions,
  WatchOptions,
} from './options.js';
import { requireOptionsObject } from './checks/require-arguments.js';

/** Describes the problem of an option; undefined if there is no problem. */
type Check = (name: string, value: unknown) => string | undefined;

/** How each option is checked; true if the server or a parser reports the problem. */
type Checks<T extends object> = { readonly [Name in keyof Required<T>]: Check | true };
type CheckMap = ReadonlyMap<string, Check | true>;

const expecting =
  (expected: string, fits: (value: unknown) => boolean): Check =>
  (name, value) =>
    fits(value) ? undefined : `${name} is ${shownArgument(value)}: expected ${expected}`;
const flag = expecting('true or false', (value) => typeof value === 'boolean');
const text = expecting('a string', (value) => typeof value === 'string');
const whole = expecting('a whole number', (value) => Number.isInteger(value) || value === Infinity);
const consistency = expecting(
  '"overlay", "barrier" or "off"',
  (value) => value === 'overlay' || value === 'barrier' || value === 'off',
);

const preconditionChecks: Checks<Preconditions> = { uid: text, resourceVersion: text };
const preconditionMap: CheckMap = new Map(Object.entries(preconditionChecks));
const preconditionsObject = expecting('{ uid, resourceVersion }', isOptions);
/** A precondition that is misspelled would be none. */
const preconditions: Check = (name, value) =>
  isOptions(value)
    ? problemsOf(value, preconditionMap, { unknown: 'preconditions.', unfit: `${name}.` })[0]
    : preconditionsObject(name, value);

const getChecks: Checks<GetOptions> = { signal: true, resourceVersion: true, live: flag, readYourWrites: consistency };

const selectionChecks: Checks<Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>> = {
  namespace: text,
  labelSelector: true,
  fieldSelector: true,
};

const listChecks: Checks<ListOptions & FrameOptions> = {
  ...getChecks,
  ...selectionChecks,
  limit: whole,
  continue: true,
  resourceVersionMatch: true,
  timeoutSeconds: true,
  transient: flag,
};

const watchChecks: Checks<WatchOptions & FrameOptions> = {
  ...selectionChecks,
  signal: true,
  resourceVersion: true,
  resourceVersionMatch: true,
  allowWatchBookmarks: flag,
  sendInitialEvents: flag,
  timeoutSeconds: true,
  transient: flag,
};

const writeChecks: Checks<PatchOptions> = {
  signal: true,
  dryRun: flag,
  fieldOwner: text,
  fieldValidation: true,
  force: flag,
};

const deleteChecks: Checks<DeleteOptions> = {
  signal: true,
  dryRun: flag,
  gracePeriodSeconds: true,
  preconditions,
  propagationPolicy: true,
  ignoreStoreReadErrorWithClusterBreakingPotential: flag,
};

const deleteAllOfChecks: Checks<DeleteAllOfOptions> = { ...deleteChecks, ...selectionChecks };

/** A caller has one object of options for all that it does, so that reads and deletes meet those of writes. */
const withThoseOfWrites = (checks: Readonly<Record<string, Check | true>>): CheckMap =>
  new Map(Object.entries({ ...writeChecks, ...checks }));

const byVerb: ReadonlyMap<string, CheckMap> = new Map([
  ['get', withThoseOfWrites(getChecks)],
  ['list', withThoseOfWrites(listChecks)],
  ['watch', withThoseOfWrites(watchChecks)],
  ['delete', withThoseOfWrites(deleteChecks)],
  ['deleteAllOf', withThoseOfWrites(deleteAllOfChecks)],
]);
const ofWrites = withThoseOfWrites({});

/**
 * For clients. Refuses options of a call that are not an object, options that the verb does not have, and values that
 * would be misinterpreted, such as a `dryRun` that is not a boolean, since an intended dry run must not be written, or
 * a `limit` that is not a whole number. Without its selector, a list or delete would cover more than intended; without
 * its precondition, a delete would apply to another object. The options that writes share (`dryRun`, `fieldOwner`,
 * `fieldValidation`, `force`) are accepted by every verb.
 *
 * @param verb the call, at the beginning of the message; any other than `get`, `list`, `watch`, `delete` and `deleteAllOf`
 *   has the options of writes
 * @throws TypeError naming what is not valid, and what was probably meant
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { requireCallOptions } from '@kctl/client/internal';
 *
 * requireCallOptions('list', Pod, { namespace: 'shop' });
 * ```
 */
export function requireCallOptions(verb: string, kind: Kind, options: unknown): void {
  if (!isOptions(options)) {
    requireOptionsObject(`${verb} ${kind.kind}`, options);
    return;
  }
  const checks = byVerb.get(verb) ?? ofWrites;
  // Cached reads come here, too, so nothing is built unless it is wrong.
  if (areFine(options, checks)) return;
  const problems = problemsOf(options, checks, { unknown: '', unfit: 'options.' });
  if (problems.length > 0) throw new TypeError(`${verb} ${kind.kind}: ${problems.join('; ')}`);
}

function areFine(options: object, checks: CheckMap): boolean {
  for (const name of Object.keys(options)) {
    const check = checks.get(name);
    if (check === undefined) return false;
    if (check === true) continue;
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined && check(name, value) !== undefined) return false;
  }
  return true;
}

function problemsOf(
  options: object,
  checks: CheckMap,
  prefixes: { readonly unknown: string; readonly unfit: string },
): string[] {
  const unfit = [...checks].flatMap(([name, check]) => {
    const value: unknown = Reflect.get(options, name);
    return value === undefined || check === true ? [] : (check(prefixes.unfit + name, value) ?? []);
  });
  return [...unknownOptions(options, checks.keys(), prefixes.unknown), ...unfit];
}

function isOptions(value: unknown): value is object {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && !Array.isArray(value);
}
