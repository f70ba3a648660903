import { givenNames, isObjectOfOptions, isPlain, memberNames, readOption, shownKind } from './given-options.js';
import type { OptionCheck } from './option-check.js';
import { shownArgument, shownValue } from './shown-value.js';

/**
 * The names of the options of type `T`, complete by type: an option that is added to `T` and not to its record does not
 * compile. The value under a name is an {@link OptionCheck}, or `true` where what reads the option checks its value.
 */
export type OptionNames<T> = Readonly<Record<T extends unknown ? keyof T : never, unknown>>;

/**
 * A sentence for each option that is not known, naming the nearest one that is: `unknown option "metricServer": did you
 * mean "metricsServer"?`. Options whose value is undefined are not given. For plain JavaScript and casts, where a
 * misspelled option would otherwise mean its default.
 *
 * @example
 * unknownOptions({ metricServer: {} }, ['metricsServer', 'health']);
 */
export function unknownOptions(given: object, known: Iterable<string>, prefix = ''): string[] {
  const names = new Set(known);
  return givenNames(given)
    .filter((name) => !names.has(name) && isGiven(given, name))
    .map((name) => {
      const nearest = nearestName(name, [...names]);
      const hint =
        nearest === undefined
          ? names.size === 0
            ? 'there are no options'
            : `expected ${[...names].toSorted().join(', ')}`
          : `did you mean ${JSON.stringify(nearest)}?`;
      return `unknown option ${JSON.stringify(prefix + name)}: ${hint}`;
    });
}

/**
 * What is wrong with the options themselves, or with an object of options among them, whose name is `section`: it is not an
 * object, has options that are not known, or values that their {@link OptionCheck} objects to. Nothing for undefined,
 * which means that none are given.
 *
 * @example
 * optionProblems(options.ageing, { stepMs: true }, 'ageing');
 */
export function optionProblems(given: unknown, known: Readonly<Record<string, unknown>>, section?: string): string[] {
  if (given === undefined) return [];
  if (!isObjectOfOptions(given)) {
    const kind = shownKind(given);
    const shown = kind === undefined ? shownValue(given) : `of type ${kind}`;
    return [`${section ?? 'options'} ${shown} is not valid: expected an object of options`];
  }
  const prefix = section === undefined ? '' : `${section}.`;
  return [...unknownOptions(given, Object.keys(known), prefix), ...valueProblems(given, known, prefix)];
}

/** Objections of the checks of options. An option that is undefined is not given. */
function valueProblems(given: object, known: Readonly<Record<string, unknown>>, prefix: string): string[] {
  return Object.entries(known).flatMap(([name, check]) => {
    if (!isCheck(check)) return [];
    const { value, problem } = readOption(given, name);
    if (problem !== undefined) return [`${prefix}${name} ${problem}`];
    return (value === undefined ? undefined : check(prefix + name, value)) ?? [];
  });
}

/** An option whose getter throws is given, too. */
function isGiven(given: object, name: string): boolean {
  const { value, problem } = readOption(given, name);
  return value !== undefined || problem !== undefined;
}

function isCheck(value: unknown): value is OptionCheck {
  return typeof value === 'function';
}

/**
 * Refuses options that are not known, and values that their {@link OptionCheck} objects to. What takes options calls it
 * before it reads any of them.
 *
 * @param what names what the options are for, at the beginning of the message, e.g. `createWorkQueue`
 * @throws TypeError naming every option that is not known, and the nearest one that is, and every value that does not
 *   fit, with what does; TypeError when there are no
 *   options: where they may be left out, their default is `{}`
 */
export function requireOptions<T extends object>(what: string, options: T, known: OptionNames<T>): void {
  if (isFine(options, known)) return;
  const given: unknown = options;
  if (!isObjectOfOptions(given)) {
    const kind = shownKind(given);
    throw new TypeError(`${what}: expected options, not ${kind === undefined ? shownArgument(given) : named(kind)}`);
  }
  const problems = optionProblems(given, known);
  if (problems.length > 0) throw new TypeError(`${what}: ${problems.join('; ')}`);
}

function named(kind: string): string {
  return `${/^[aeio]/i.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** The usual case at the price of a look: it is on the path of calls, not only of constructors. */
function isFine(options: unknown, known: object): boolean {
  if (!isPlain(options)) return false;
  return Object.keys(options).every((name) => {
    if (!Object.hasOwn(known, name)) return false;
    const check: unknown = Reflect.get(known, name);
    if (!isCheck(check)) return true;
    const { value, problem } = readOption(options, name);
    return problem === undefined && (value === undefined || check(name, value) === undefined);
  });
}

/**
 * Returns the check of an option that is itself an object of options, so that a misspelled name inside of it is refused with
 * its path: `unknown option "retry.maxattempts": did you mean "maxAttempts"?`.
 *
 * @example
 * ```ts
 * import { nestedOptions, numberOption, requireOptions } from '@kctl/options';
 *
 * const names = { retry: nestedOptions<{ readonly maxAttempts?: number }>({ maxAttempts: numberOption({ least: 1 }) }) };
 * requireOptions('createThing', { retry: { maxAttempts: 3 } }, names);
 * ```
 */
export function nestedOptions<T extends object>(known: OptionNames<T>): OptionCheck {
  return (name, value) => {
    const problems = optionProblems(value, known, name);
    return problems.length === 0 ? undefined : problems.join('; ');
  };
}

/**
 * Refuses an object of functions, such as a handler, with a member whose name is nearly one of those that are called: it would
 * never be called. A class may have other methods and fields.
 *
 * @param what names the call, at the beginning of the message
 * @param subject names the object, e.g. `the handler`
 * @throws TypeError naming the member and the nearest name
 */
export function requireNoSimilarName(what: string, given: object, known: readonly string[], subject: string): void {
  for (const name of memberNames(given)) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    if (nearest === undefined || !startsAlike(name, nearest) || !isGiven(given, name)) continue;
    throw new TypeError(
      `${what}: unknown option ${JSON.stringify(name)} of ${subject}: did you mean ${JSON.stringify(nearest)}?`,
    );
  }
}

function startsAlike(name: string, other: string): boolean {
  return name.slice(0, 2).toLowerCase() === other.slice(0, 2).toLowerCase();
}

/** The most similar name, for a message that names a misspelled one; undefined where none is similar. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const [nearest] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** How many letters have to be added, removed or replaced (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, letter] of Array.from(a).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(b).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
