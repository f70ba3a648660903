import type { FunctionEntry } from '../check/functions.js';
import { arithmeticLibrary } from './arithmetic.js';
import { conversionLibrary } from './conversions.js';
import { optionalLibrary, standardLibrary } from './standard.js';
import { stringLibrary } from './strings.js';
import { timeLibrary } from './time.js';

/** What an environment of one Kubernetes version has. */
export interface Libraries {
  readonly entries: readonly FunctionEntry[];
  readonly macros: { readonly optionals: boolean; readonly twoVariables: boolean };
}

/** The libraries with the minor version that brought them. */
function all(): readonly (readonly [since: number, entries: readonly FunctionEntry[]])[] {
  return [
    [0, standardLibrary],
    [0, arithmeticLibrary],
    [0, conversionLibrary],
    [0, timeLibrary],
    [0, stringLibrary()],
    [28, optionalLibrary],
  ];
}

function minorOf(version: string): number {
  const minor = /^v?1\.(\d+)(?:\.|$)/.exec(version)?.[1];
  if (minor === undefined) {
    throw new TypeError(`version ${JSON.stringify(version)} is not a Kubernetes version: give one such as "1.36"`);
  }
  return Number(minor);
}

/** The libraries of a Kubernetes version; all of them without one. */
export function libraries(version: string | undefined): Libraries {
  const minor = version === undefined ? Infinity : minorOf(version);
  const entries = all().flatMap(([since, library]) => (since <= minor ? library : []));
  return { entries, macros: { optionals: minor >= 28, twoVariables: minor >= 32 } };
}
