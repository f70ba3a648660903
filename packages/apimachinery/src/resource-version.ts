/** The relation of two resourceVersions; `unknown` if they cannot be compared and the caller must be conservative. */
export type ResourceVersionOrder = 'older' | 'equal' | 'newer' | 'unknown';

const comparable = /^[1-9][0-9]*$/;

/**
 * How `a` relates to `b`. Valid only within one kind of one server. Versions are opaque decimal strings that may
 * exceed 2^53, so they are compared by length and then by characters (KEP-5504), never as numbers. '', '0', leading
 * zeros and anything that is not digits are `unknown`.
 */
export function compareResourceVersions(a: string, b: string): ResourceVersionOrder {
  // A number, or what else a store of a user's returned, is not compared.
  if (typeof a !== 'string' || typeof b !== 'string') return 'unknown';
  if (a === b) return comparable.test(a) ? 'equal' : 'unknown';
  if (!comparable.test(a) || !comparable.test(b)) return 'unknown';
  if (a.length !== b.length) return a.length < b.length ? 'older' : 'newer';
  return a < b ? 'older' : 'newer';
}
