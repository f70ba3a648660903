/** Longer texts are cut: they may be a whole document. */
const maxTextLength = 200;

/**
 * A value as the message of an error names it, after the name of its field: a text in quotes, a number or a boolean as it
 * is, and of anything else only its type, since an object may be large or secret. Does not throw.
 *
 * @example
 * throw new TypeError(`workers ${shownValue(workers)} is not valid: expected an integer`);
 */
export function shownValue(value: unknown): string {
  if (typeof value === 'string')
    return value.length > maxTextLength ? `${JSON.stringify(value.slice(0, maxTextLength))}…` : JSON.stringify(value);
  if ((typeof value === 'object' && value !== null) || typeof value === 'function' || typeof value === 'symbol')
    return `of type ${typeof value}`;
  return String(value);
}
