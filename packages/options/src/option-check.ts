import type { NumberRange } from './number-problem.js';
import { numberProblem } from './number-problem.js';
import { shownArgument, shownType, shownValue } from './shown-value.js';

/**
 * Looks at the value of an option, which is not undefined: a sentence that names the option, what it is and what fits;
 * undefined when the value fits. Stands in a record of `OptionNames`, so that `requireOptions` calls it.
 */
export type OptionCheck = (name: string, value: unknown) => string | undefined;

/**
 * A check that a value has methods, own or inherited, which is what makes it a logger, a store or a client. One of them is
 * enough: the stub of a test has those that the test needs, while an object of options or another thing has none.
 *
 * @param methods the methods by which it is known
 * @param expected what fits, after "expected", e.g. `a Clock, such as systemClock`
 *
 * @example
 * ```ts
 * import { optionWithMethods, requireOptions } from '@kctl/options';
 *
 * const names = { store: optionWithMethods(['get', 'set'], 'a store, such as a Map') };
 * requireOptions('createThing', { store: new Map() }, names);
 * ```
 */
export function optionWithMethods(methods: readonly string[], expected: string): OptionCheck {
  return methodsCheck(methods, expected, (missing) => missing.length < methods.length);
}

function methodsCheck(
  methods: readonly string[],
  expected: string,
  isEnough: (missing: readonly string[]) => boolean,
): OptionCheck {
  return (name, value) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
      return `${name} is ${shownType(value)}: expected ${expected}`;
    const missing = methods.filter((method) => !hasMethod(value, method));
    return isEnough(missing) ? undefined : `${name} has no method ${missing.join(', ')}: expected ${expected}`;
  };
}

/** A check that an option is a function. */
export const functionOption: OptionCheck = (name, value) =>
  typeof value === 'function' ? undefined : `${name} is ${shownType(value)}: expected a function`;

/** A check that an option is a boolean: a text such as "false" would count as true. */
export const booleanOption: OptionCheck = (name, value) =>
  typeof value === 'boolean' ? undefined : `${name} ${shownValue(value)} is not valid: expected true or false`;

/** A check that an option is a text. */
export const textOption: OptionCheck = (name, value) =>
  typeof value === 'string' ? undefined : `${name} is ${shownType(value)}: expected a string`;

/**
 * A check that an option is a number of a range, see {@link numberProblem}.
 *
 * @example
 * ```ts
 * import { numberOption, requireOptions } from '@kctl/options';
 *
 * requireOptions('createThing', { timeoutMs: 5 }, { timeoutMs: numberOption({ above: 0, orInfinity: true }) });
 * ```
 */
export function numberOption(range: NumberRange = {}): OptionCheck {
  return (name, value) => numberProblem(name, value, range);
}

/** A check that an option is one of these values, such as the names of its modes. */
export function oneOfOption(...values: readonly (string | number | boolean)[]): OptionCheck {
  return (name, value) =>
    values.some((each) => each === value)
      ? undefined
      : `${name} ${shownValue(value)} is not valid: expected ${values.map((each) => JSON.stringify(each)).join(' or ')}`;
}

/** A check that an option is an object, not an array; `expected` says what fits, after "expected". */
export function objectOption(expected = 'an object'): OptionCheck {
  return (name, value) =>
    typeof value === 'object' && value !== null && !isList(value)
      ? undefined
      : `${name} is ${shownType(value)}: expected ${expected}`;
}

/** A check that an option is an array, each element of which passes `element`; `expected` says what fits, after "expected". */
export function listOption(expected: string, element?: OptionCheck): OptionCheck {
  return (name, value) => {
    if (!isList(value)) return `${name} is ${shownType(value)}: expected ${expected}`;
    if (element === undefined) return undefined;
    for (const [index, each] of value.entries()) {
      const problem = element(`${name}[${index}]`, each);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** A check that an option is an object whose values are texts, such as labels. */
export const textsOption: OptionCheck = (name, value) =>
  objectOption('an object of strings')(name, value) ??
  Object.entries(typeof value === 'object' && value !== null ? value : {})
    .map(([key, each]) => textOption(`${name}[${JSON.stringify(key)}]`, each))
    .find((problem) => problem !== undefined);

/** A proxy that was revoked makes the question throw. */
function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

const aClock = 'a Clock, such as systemClock or a FakeClock';
const isClock = methodsCheck(['now', 'monotonicNow', 'setTimer'], aClock, (missing) => missing.length === 0);
/** Clocks that were checked: the check is on the path of calls. */
const soundClocks = new WeakSet<object>();
/** The last instant that a Date can be, in ms. */
const lastInstantMs = 8.64e15;

/**
 * A check that an option is a Clock of `@kctl/wait`, with all of its methods: `Date` has one of them. Its time is
 * read once, because one that is not a number makes waits that never end.
 */
export const clockOption: OptionCheck = (name, value) => {
  if (!isReference(value)) return isClock(name, value);
  if (soundClocks.has(value)) return undefined;
  const problem = isClock(name, value) ?? timeProblem(name, value);
  if (problem === undefined) soundClocks.add(value);
  return problem;
};

/** A class with static methods is a clock, too. */
function isReference(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** What is wrong with the times of a clock. */
function timeProblem(name: string, clock: object): string | undefined {
  for (const method of ['now', 'monotonicNow']) {
    const { time, failure } = timeOf(clock, method);
    if (failure !== undefined) return `${name}.${method}() failed (${failure}): expected a number of ms`;
    const isTime = typeof time === 'number' && Math.abs(time) <= lastInstantMs;
    if (!isTime) return `${name}.${method}() returned ${shownArgument(time)}: expected a number of ms`;
  }
  return undefined;
}

function timeOf(clock: object, method: string): { readonly time?: unknown; readonly failure?: string } {
  try {
    const call: unknown = Reflect.get(clock, method);
    return { time: typeof call === 'function' ? Reflect.apply(call, clock, []) : undefined };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : shownArgument(error) };
  }
}

/** A check that an option is an AbortSignal, of this realm or another. */
export const signalOption: OptionCheck = (name, value) =>
  isSignal(value)
    ? undefined
    : `${name} is ${shownSignal(value)}: expected an AbortSignal, such as new AbortController().signal`;

/** Whether a value is an AbortSignal; one of another realm is. */
export function isSignal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return typeof Reflect.get(value, 'aborted') === 'boolean' && hasMethod(value, 'addEventListener');
}

function shownSignal(value: unknown): string {
  return typeof value === 'object' && value !== null && isSignal(Reflect.get(value, 'signal'))
    ? 'an AbortController'
    : shownType(value);
}

/** A value whose properties cannot be read, such as a revoked proxy, has no methods. */
function hasMethod(value: object, method: string): boolean {
  try {
    return typeof Reflect.get(value, method) === 'function';
  } catch {
    return false;
  }
}
