import { requireList } from '@kctl/client/internal';
import { StatusError, type StatusCause } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';

/** The kind of error of a field. The values are the reasons that `kubectl` and client-go know. */
export type FieldErrorType =
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

/** One error of an object, with its place. Mirrors `field.Error`. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** Path of the field: `spec.containers[0].image`. */
  readonly field: string;
  /** The message after the path, such as `Invalid value: 9: must not exceed 5`. */
  readonly message: string;
}

/**
 * The field has a value that it may not have. Mirrors `field.Invalid`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { invalidError, invalidField } from '@kctl/webhook';
 *
 * throw invalidError(ConfigMap, 'settings', [invalidField('data.colour', 'plaid', 'must be one of blue, red')]);
 * ```
 */
export function invalidField(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: joined(`Invalid value: ${shown(value)}`, detail) };
}

/** The field must have a value. Mirrors `field.Required`. */
export function requiredField(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, message: joined('Required value', detail) };
}

/** The field may not be set, or not be changed. Mirrors `field.Forbidden`. */
export function forbiddenField(field: string, detail = ''): FieldError {
  return { type: 'FieldValueForbidden', field, message: joined('Forbidden', detail) };
}

/** The value must be unique and is not. Mirrors `field.Duplicate`. */
export function duplicateField(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${shown(value)}` };
}

/** The value is not a supported one. Mirrors `field.NotSupported`. */
export function unsupportedField(field: string, value: unknown, supported: readonly string[]): FieldError {
  requireList('unsupportedField', 'supported', supported, 'a list of the values that are supported');
  const detail =
    supported.length === 0 ? '' : `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`;
  return { type: 'FieldValueNotSupported', field, message: joined(`Unsupported value: ${shown(value)}`, detail) };
}

/** The object that the value refers to does not exist. Mirrors `field.NotFound`. */
export function notFoundField(field: string, value: unknown): FieldError {
  return { type: 'FieldValueNotFound', field, message: `Not found: ${shown(value)}` };
}

/**
 * Returns a denial with code 422 and reason Invalid that names every field, to be thrown from a validator. The causes
 * reach the user's client with their field paths. Mirrors `apierrors.NewInvalid`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { invalidError, requiredField, validatingWebhook } from '@kctl/webhook';
 *
 * const webhook = validatingWebhook(ConfigMap, {
 *   validateCreate: ({ metadata, data }) => {
 *     if (data?.['colour'] !== undefined) return undefined;
 *     throw invalidError(ConfigMap, metadata.name ?? '', [requiredField('data.colour', 'a colour is needed')]);
 *   },
 * });
 * ```
 */
export function invalidError(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  requireKindName('invalidError', kind);
  requireList('invalidError', 'errors', errors, remedy);
  const wrong = errors.findIndex((error: unknown) => typeof error !== 'object' || error === null);
  if (wrong >= 0) throw new TypeError(`invalidError: errors[${wrong}] is not an object: expected ${remedy}`);
  const causes = errors.map(({ type, field, message }): StatusCause => ({ reason: type, message, field }));
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return new StatusError({
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message: `${formatGroupKind(kind)} ${JSON.stringify(name)} is invalid${texts.length === 0 ? '' : `: ${list}`}`,
    details: { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.kind, causes },
  });
}

function joined(title: string, detail: string): string {
  const given: unknown = detail;
  if (typeof given !== 'string')
    throw new TypeError(`the detail of ${JSON.stringify(title)} is not a string: describe the error`);
  return detail === '' ? title : `${title}: ${detail}`;
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'a value that is not JSON';
  }
}

const remedy = 'a list of what requiredField, invalidField and their like return';

/** A group and a kind suffice, as those of a request. */
function requireKindName(what: string, kind: unknown): void {
  if (typeof kind === 'object' && kind !== null && 'group' in kind && 'kind' in kind) return;
  throw new TypeError(`${what}: the kind is without group and kind: expected a token such as ConfigMap`);
}
