import { isError } from './describe-error.js';
import type { LogFields } from './logger.js';
import { isKubernetesObject } from './kubernetes-object.js';
import { messageOf } from './message-of.js';
import { unwrapWhole } from './whole-object.js';

/** The fields of a call, read once. A value given in the place of fields, as in plain JavaScript, is a field itself. */
export function readFields(given: unknown): LogFields {
  if (given === undefined || given === null) return {};
  if (isError(given)) return { error: given };
  if (typeof given !== 'object') return { fields: given };
  try {
    if (isOneValue(given)) return { fields: given };
    return Object.fromEntries(Object.keys(given).map((key) => [key, readField(given, key)]));
  } catch (error) {
    return { fields: `[cannot be logged: ${messageOf(error)}]` };
  }
}

/** Whether an object is written as a whole, and by parts would show what it leaves out. */
function isOneValue(given: object): boolean {
  return (
    typeof Reflect.get(given, 'toJSON') === 'function' || isKubernetesObject(given) || unwrapWhole(given) !== undefined
  );
}

function readField(fields: object, key: string): unknown {
  try {
    return Reflect.get(fields, key);
  } catch (error) {
    return `[cannot be logged: ${messageOf(error)}]`;
  }
}

/**
 * The message and the fields of a call of a logger, whatever was given. An error in the place of either is the field
 * `error`. Does not throw.
 */
export function readCall(message: unknown, fields: unknown): { readonly text: string; readonly fields: LogFields } {
  return {
    text: messageOf(message),
    fields: { ...(isError(message) ? { error: message } : {}), ...readFields(fields) },
  };
}
