import type { Predicate, WatchOptions } from '@kctl/controller';
import { optionProblems, shownValue, type OptionNames } from '@kctl/options';

/** The methods of a definition that add a kind. */
export type InputMethod = 'for' | 'owns' | 'watches' | 'watchesMetadata';

/** The options of all of them. */
export interface GivenOptions<T> extends WatchOptions {
  readonly predicates?: readonly Predicate<T>[];
  readonly onlyMetadata?: boolean;
  readonly matchEveryOwner?: boolean;
}

const watched = { predicates: true, startPolicy: true };
const known: Readonly<Record<InputMethod, Partial<OptionNames<GivenOptions<never>>>>> = {
  for: { ...watched, onlyMetadata: true },
  owns: { ...watched, onlyMetadata: true, matchEveryOwner: true },
  watches: watched,
  watchesMetadata: watched,
};

/** Everything of the wrong name or type among the options of an input, but for what the controller checks. */
export function inputProblems(method: InputMethod, options: GivenOptions<never> | undefined): string[] {
  const problems = optionProblems(options, known[method]);
  if (problems.length > 0 || options === undefined) return problems;
  return (['onlyMetadata', 'matchEveryOwner'] as const)
    .filter((field) => !['boolean', 'undefined'].includes(typeof options[field]))
    .map((field) => `${field} ${shownValue(options[field])} is not valid: expected true or false`);
}
