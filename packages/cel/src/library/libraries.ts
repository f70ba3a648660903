import type { FunctionEntry } from '../check/functions.js';
import type { MacroOptions } from '../syntax/macros.js';
import { arithmeticLibrary } from './arithmetic.js';
import { conversionLibrary } from './conversions.js';
import { authorizerLibrary, authorizerSelectors } from './authorizer.js';
import { formatLibrary } from './format.js';
import { ipLibrary } from './ip.js';
import { listEnds, listExtension, listLibrary, setLibrary } from './lists.js';
import { quantityLibrary } from './quantity.js';
import { regexLibrary } from './regex.js';
import { semverLibrary } from './semver.js';
import { optionalLibrary, standardLibrary } from './standard.js';
import { stringLibrary } from './strings.js';
import { timeLibrary } from './time.js';
import { urlLibrary } from './url.js';

/** The libraries of one Kubernetes version. */
export interface Libraries {
  readonly entries: readonly FunctionEntry[];
  readonly macros: MacroOptions;
}

/** The libraries with the minor version that brought them. */
function all(): readonly (readonly [since: number, entries: readonly FunctionEntry[]])[] {
  return [
    [0, standardLibrary],
    [0, arithmeticLibrary],
    [0, conversionLibrary],
    [0, timeLibrary],
    [0, urlLibrary],
    [0, regexLibrary()],
    [0, listLibrary],
    [0, stringLibrary()],
    [27, authorizerLibrary],
    [28, optionalLibrary],
    [28, listEnds],
    [28, quantityLibrary],
    [29, setLibrary],
    [30, ipLibrary],
    [31, formatLibrary],
    [31, authorizerSelectors],
    [33, semverLibrary],
    [34, listExtension],
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
  return { entries, macros: { optionals: minor >= 28, twoVariables: minor >= 32, sortBy: minor >= 34 } };
}
