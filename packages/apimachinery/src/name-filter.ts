/** One pattern of a {@link NameFilter}. */
export interface NamePattern {
  /** Without the exclamation mark. */
  readonly text: string;
  /** Whether names that match are left out. */
  readonly isExcluded: boolean;
  /** Whether it is one name, without wildcards. */
  readonly isExact: boolean;
  /** Matches the same names; in the syntax that JavaScript and RE2 share. */
  readonly regularExpression: string;
}

/** Chooses names, of namespaces for example, by patterns. */
export interface NameFilter {
  readonly patterns: readonly NamePattern[];
  /** The names, if patterns without wildcards choose them; undefined if a match can only be decided per name. */
  readonly names: readonly string[] | undefined;
  matches(name: string): boolean;
}

/**
 * Chooses names by patterns. `*` stands for any characters, `?` for one character, and `!` before a pattern leaves out
 * what it matches. The last pattern that matches a name decides; if the first one begins with `!`, names that match no
 * pattern are chosen. As kopf's namespace patterns.
 *
 * @throws TypeError naming the pattern that is not valid
 *
 * @example
 * ```ts
 * import { nameFilter } from '@kctl/apimachinery';
 *
 * const teams = nameFilter(['team-*', '!team-*-test']);
 * console.log(teams.matches('team-red'), teams.matches('team-red-test')); // true false
 * ```
 */
export function nameFilter(patterns: readonly string[]): NameFilter {
  const given: unknown = patterns;
  if (!Array.isArray(given))
    throw new TypeError(
      `name patterns: ${typeof given === 'string' ? JSON.stringify(given) : `a value of type ${typeof given}`} is not a list: expected names or patterns such as ["team-*"]`,
    );
  const parsed = patterns.map(parsePattern);
  if (parsed.length === 0)
    throw new TypeError('name patterns: the list is empty: give names or patterns such as "team-*"');
  const expressions = parsed.map(({ regularExpression }) => new RegExp(regularExpression));
  const [first] = parsed;
  const matches = (name: string): boolean => {
    for (let index = parsed.length - 1; index >= 0; index--)
      if (expressions[index]?.test(name) === true) return parsed[index]?.isExcluded === false;
    return first?.isExcluded === true;
  };
  const isListed = first?.isExcluded === false && parsed.every(({ isExact, isExcluded }) => isExact || isExcluded);
  const listed = [...new Set(parsed.filter(({ isExcluded }) => !isExcluded).map(({ text }) => text))];
  return { patterns: parsed, names: isListed ? listed.filter(matches).sort() : undefined, matches };
}

function parsePattern(pattern: unknown): NamePattern {
  const match = typeof pattern === 'string' ? /^(!?)([a-z0-9.*?-]+)$/.exec(pattern) : null;
  const text = match?.[2];
  if (text === undefined)
    throw new TypeError(
      `name pattern ${JSON.stringify(pattern)} is not valid: expected lower-case letters, digits, "-", ".", the wildcards "*" and "?", and "!" before what is left out`,
    );
  const body = text.replaceAll('.', '[.]').replaceAll('*', '.*').replaceAll('?', '.');
  return { text, isExcluded: match?.[1] === '!', isExact: !/[*?]/.test(text), regularExpression: `^${body}$` };
}
