import { isThenable } from './is-thenable.js';

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
  if (isPromise(value)) return 'a promise';
  return isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

/**
 * Formats an argument as the message of an error names it: a string, a number or a boolean as {@link shownValue} does, of
 * anything else the type. Does not throw.
 */
export function shownArgument(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? shownValue(value)
    : shownType(value);
}

function isPromise(value: object): boolean {
  try {
    return typeof value === 'object' && isThenable(value);
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
