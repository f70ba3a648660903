const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);
const unescapes: ReadonlyMap<string, string> = new Map(Array.from(escapes, ([plain, escaped]) => [escaped, plain]));

/**
 * The name by which CEL reaches a field: `foo-bar` is `foo__dash__bar`, `namespace` is `__namespace__`. Undefined for a
 * field that has no such name and cannot be reached.
 */
export function escapeField(name: string): string | undefined {
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (part) => escapes.get(part) ?? part);
}

/** The field that a name of {@link escapeField} stands for; undefined for an escape that does not exist. */
export function unescapeField(name: string): string | undefined {
  if (!name.includes('__')) return name;
  let isValid = true;
  const field = name.replaceAll(/__[^_]+__/g, (part) => {
    const plain = unescapes.get(part);
    if (plain !== undefined) return plain;
    const keyword = part.slice(2, -2);
    if (reserved.has(keyword) && part === name) return keyword;
    isValid = false;
    return '';
  });
  return isValid ? field : undefined;
}
