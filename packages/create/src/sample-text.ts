/** The longest line of a literal, before its members stand on lines of their own. */
const longestLine = 100;

/** A value as a TypeScript literal, with the quotes and the line breaks of the template. */
export function literalOf(value: unknown, indent = 0): string {
  const inline = inlineOf(value);
  if (typeof value !== 'object' || value === null || inline.length + indent <= longestLine) return inline;
  const inner = ' '.repeat(indent + 2);
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(
    ([key, each]) => `${inner}${isList ? '' : `${nameOf(key)}: `}${literalOf(each, indent + 2)},\n`,
  );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${members.join('')}${' '.repeat(indent)}${close}`;
}

function inlineOf(value: unknown): string {
  if (typeof value === 'string') return `'${value.replace(/['\\]/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(inlineOf).join(', ')}]`;
  const members = Object.entries(value).map(([key, each]) => `${nameOf(key)}: ${inlineOf(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function nameOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : inlineOf(key);
}

/** The fields of an object as YAML, a line each; '' if there are none. */
export function yamlOf(fields: object, indent = 0): string {
  const pad = ' '.repeat(indent);
  const nested = (value: unknown): string => {
    if (!isFilled(value)) return ` ${scalarOf(value)}\n`;
    if (!Array.isArray(value)) return `\n${yamlOf(value, indent + 2)}`;
    const items = value.map((item: unknown) =>
      isFilled(item) ? `- ${yamlOf(item, indent + 4).trimStart()}` : `- ${scalarOf(item)}\n`,
    );
    return `\n${items.map((item) => `${pad}  ${item}`).join('')}`;
  };
  return Object.entries(fields)
    .map(([key, value]) => `${pad}${key}:${nested(value)}`)
    .join('');
}

function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Text that YAML could read as something else stands in quotes. */
function scalarOf(value: unknown): string {
  return typeof value === 'string' &&
    /^[A-Za-z][\w./:-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value);
}
