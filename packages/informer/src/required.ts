import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownValue } from '@kctl/options';

/** Whether a value has all of these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => isFunction(Reflect.get(value, name)));
}

/** Refuses a value that is not a kind. The value of an object is not quoted, because it may be large, or secret. */
export function requireKind(where: string, kind: unknown): void {
  const isKind = isJsonObject(kind) && [kind['plural'], kind['apiVersion'], kind['kind'], kind['scope']].every(isText);
  requireThat(isKind, `${where}: kind`, {
    value: kind,
    expected: 'a kind, such as Pod of @kctl/apimachinery/kinds/core/v1 or one of defineKind(…)',
  });
}

/** @throws TypeError naming the field, the value and what is expected, unless `holds` */
export function requireThat(
  holds: boolean,
  field: string,
  { value, expected }: { readonly value: unknown; readonly expected: string },
): void {
  if (!holds) throw new TypeError(`${field} ${shownValue(value)} is not valid: expected ${expected}`);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
