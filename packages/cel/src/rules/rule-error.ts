import { formatDouble } from '../values/go-format.js';
import { jsonNumber } from '../values/json-number.js';
/** One thing wrong with a field, in the API server's words. */
export interface RuleError {
  /** As the cause of a Status names it. */
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate'
    | 'FieldValueNotSupported'
    | 'InternalError';
  /** `spec.parts[1].name`; `<nil>` for the whole object. */
  readonly field: string;
  /** Complete: `Invalid value: "x": must be …`. */
  readonly message: string;
}

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON as Go writes it, with 64-bit integers. */
export function goJson(value: unknown): string {
  const text =
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)) ?? 'null';
  return text.replaceAll(/[<>&\u2028\u2029]/g, (char) => escapes[char] ?? char);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'bigint' && typeof value !== 'number') return goJson(value);
  const number = jsonNumber(value);
  return typeof number === 'bigint' ? String(number) : formatDouble(number);
}

/** The value of an error that does not show it. */
export const omitted: unique symbol = Symbol('omitted');

function head(text: string, value: unknown): string {
  return value === omitted ? text : `${text}: ${shown(value)}`;
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

export function invalid(field: string, value: unknown, detail: string): RuleError {
  return { reason: 'FieldValueInvalid', field, message: withDetail(head('Invalid value', value), detail) };
}

export function required(field: string, detail: string): RuleError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function forbidden(field: string, detail: string): RuleError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): RuleError {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${list}`,
  };
}

/** The error of a rule that does not hold, by the rule's own reason. */
export function byReason(reason: string | undefined, field: string, value: unknown, detail: string): RuleError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return { reason, field, message: head('Duplicate value', value) };
    default:
      return invalid(field, value, detail);
  }
}
