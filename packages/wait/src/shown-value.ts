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

/**
 * What kind of value a function returned, as the message of an error names it where the value itself may be secret:
 * `null`, `a promise`, `an array`, `a value of type number`. Does not throw.
 *
 * @example
 * throw new TypeError(`the transform returned ${shownType(returned)}: expected an object`);
 */
export function shownType(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (isThenable(value)) return 'a promise';
  return isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function isThenable(value: object): boolean {
  try {
    return typeof value === 'object' && typeof Reflect.get(value, 'then') === 'function';
  } catch {
    return false;
  }
}

/** A proxy that was revoked makes the question throw. */
function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
