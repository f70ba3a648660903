/**
 * Returns a value with a string in the place of each Date, as JSON has it; the value itself if it has none. Models of
 * other clients, such as `V1Pod` of `@kubernetes/client-node`, have Dates, and the store holds what the API server
 * sends.
 *
 * @throws TypeError with the path of a Date that is not valid
 */
export function datesAsText<T>(value: T): T;
export function datesAsText(value: unknown): unknown {
  return replaced(value, '');
}

function replaced(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return textOf(value, path);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    let copy: unknown[] | undefined;
    for (const [index, item] of items.entries()) {
      const next = replaced(item, `${path}[${index}]`);
      if (next !== item) (copy ??= [...items])[index] = next;
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const next = replaced(member, path === '' ? name : `${path}.${name}`);
    if (next !== member) (copy ??= { ...value })[name] = next;
  }
  return copy ?? value;
}

/** RFC 3339, without a fraction if there is none, as the API server writes it. */
function textOf(date: Date, path: string): string {
  if (Number.isNaN(date.getTime())) throw new TypeError(`${path} is a Date that is not valid`);
  return date.toISOString().replace('.000Z', 'Z');
}
