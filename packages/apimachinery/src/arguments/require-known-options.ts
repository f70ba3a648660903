/**
 * Refuses options that are not an object, and names that are not known, with the nearest one that is. This package has no
 * dependencies: `requireOptions` of @kctl/wait is for those above.
 */
export function requireKnownOptions(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${what}: the options are of type ${typeOf(options)}: expected an object of options`);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name) || Reflect.get(options, name) === undefined) continue;
    const names = Object.keys(known).toSorted();
    const nearest = names.find((each) => isSimilar(each.toLowerCase(), name.toLowerCase()));
    const hint = nearest === undefined ? `expected ${names.join(', ')}` : `did you mean ${JSON.stringify(nearest)}?`;
    throw new TypeError(`${what}: unknown option ${JSON.stringify(name)}: ${hint}`);
  }
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

/** Whether two names have their beginning or their end in common, up to two letters in the middle. */
function isSimilar(a: string, b: string): boolean {
  const longest = Math.max(a.length, b.length);
  let start = 0;
  while (start < longest && a[start] === b[start]) start++;
  let end = 0;
  while (end < longest - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return longest - start - end <= 2;
}
