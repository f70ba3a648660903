import type { StatusCause } from '@kctl/apimachinery';
import { jsonNumber } from '@kctl/cel/internal';
import { goJsonEscaped, goQuoted } from './go-quoted.js';
import { goText } from './go-number.js';
import { jsonText } from './json-text.js';

/** Reason of a cause, as `metav1.CauseType` and `field.ErrorType` name them. */
export type FieldErrorReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** One thing wrong with one field of an object. `message` is complete: `Invalid value: "x": must be …`. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.parts[1].name`; `<nil>` if upstream provides none. */
  readonly field: string;
  readonly message: string;
}

/** How Go's validation prints a value in a message, with strings quoted, scalars bare, and the rest as JSON. */
export function quoteValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'bigint') return goText(jsonNumber(value));
  return typeof value === 'string' ? goQuoted(value) : goJsonEscaped(jsonText(value));
}

function withDetail(head: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? head : `${head}: ${detail}`;
}

/** A value is missing. */
export function required(field: string, detail?: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

/** A value is malformed or breaks a rule. */
export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${quoteValue(value)}`, detail) };
}

/** A value has the wrong JSON type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueTypeInvalid', field, message: withDetail(`Invalid value: ${quoteValue(value)}`, detail) };
}

function unsupported(field: string, shown: string, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? undefined : `supported values: ${supported.map(goQuoted).join(', ')}`;
  return { reason: 'FieldValueNotSupported', field, message: withDetail(`Unsupported value: ${shown}`, detail) };
}

/**
 * A value is not one of the constants of its type; `supported` is printed in the given order. Go prints a value of a
 * named string type, such as `v1.Protocol`, as JSON.
 */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  return unsupported(
    field,
    typeof value === 'string' ? goJsonEscaped(JSON.stringify(value)) : quoteValue(value),
    supported,
  );
}

/** As {@link notSupported}, for a field whose type in Go is a plain string, so the value is quoted. */
export function notSupportedText(field: string, value: unknown, supported: readonly string[]): FieldError {
  return unsupported(field, quoteValue(value), supported);
}

/** A value is a duplicate although it must be unique. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${quoteValue(value)}` };
}

/** A value is not allowed under these circumstances. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

/** A string is too long. */
export function tooLong(field: string, maxBytes: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${maxBytes} bytes` };
}

/** A list is too long. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${actual}: must have at most ${max} items` };
}

/** Something refers to what does not exist. */
export function notFoundValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${quoteValue(value)}` };
}

/** Formats an error for a Status message, such as `spec.size: Required value`. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

/** Field errors as the causes of a Status, in order, with duplicates kept. */
export function toCauses(errors: readonly FieldError[]): StatusCause[] {
  return errors.map(({ reason, message, field }) => ({ reason, message, field }));
}

/** The message of several errors, one bare, several as `[a, b]`, with duplicates dropped. */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(formatFieldError))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}
