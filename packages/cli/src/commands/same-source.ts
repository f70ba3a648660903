const token = /\/\*[\s\S]*?\*\/|\/\/[^\n\r]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[\p{ID_Continue}$]+|\S/gu;
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The string that a literal with either quote denotes, as JSON. */
function textOf(literal: string): string {
  const text = literal.slice(1, -1).replaceAll(/\\(.)/gs, (found, next: string) => (/['"]/.test(next) ? next : found));
  return JSON.stringify(text);
}

/**
 * TypeScript without details that formatters decide, such as white space, quotes, quotes around keys, separators, and
 * the bar before the first of several alternatives.
 */
function withoutFormat(source: string): string {
  const tokens: string[] = [];
  for (const [found] of source.matchAll(token)) {
    if (found === ';' || found === ',') continue;
    const last = tokens.at(-1) ?? '';
    if (found === '|' && [':', '=', '(', '<'].includes(last)) continue;
    const isComment = found.startsWith('/*') || found.startsWith('//');
    if (isComment) tokens.push(found.replaceAll(/\s+/g, ' ').trim());
    else tokens.push(/^['"]/.test(found) ? textOf(found) : found);
  }
  return tokens
    .map((each, index) => {
      const isKey = each.startsWith('"') && [':', '?'].includes(tokens[index + 1] ?? '');
      const name = each.slice(1, -1);
      return isKey && identifier.test(name) ? name : each;
    })
    .join('\n');
}

/** Whether two modules differ in nothing but what a formatter changes. */
export function isSameSource(a: string, b: string): boolean {
  return a === b || withoutFormat(a) === withoutFormat(b);
}
