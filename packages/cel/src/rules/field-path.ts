import type { StructuralSchema } from '../schema/structural.js';

const quotes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

function unquote(text: string): string | undefined {
  let isValid = true;
  const plain = text.replaceAll(/\\(.)/gs, (_whole, char: string) => {
    const value = quotes[char];
    isValid &&= value !== undefined;
    return value ?? '';
  });
  return isValid ? plain : undefined;
}

/** The child of a node by name, and how a path spells it. */
function step(schema: StructuralSchema, name: string): { schema: StructuralSchema; text: string } | undefined {
  if (schema.properties !== undefined) {
    const child = schema.properties.get(name);
    return child === undefined ? undefined : { schema: child, text: `.${name}` };
  }
  return schema.additional === undefined ? undefined : { schema: schema.additional, text: `[${name}]` };
}

/**
 * The path that a rule's `fieldPath` (`.spec.size`, `['a.b']`) names, as errors print it, without the leading dot.
 * Undefined if it is malformed or leads to no field of the schema.
 */
export function resolveFieldPath(path: string, schema: StructuralSchema): string | undefined {
  let node = schema;
  let text = '';
  let rest = path;
  while (rest !== '') {
    const quoted = /^\['((?:[^'\\]|\\.)*)'\]/s.exec(rest);
    const plain = /^\.([^.[\]]+)/.exec(rest);
    const name = quoted === null ? plain?.[1] : unquote(quoted[1] ?? '');
    const length = (quoted ?? plain)?.[0].length;
    if (name === undefined || length === undefined) return undefined;
    const next = step(node, name);
    if (next === undefined) return undefined;
    node = next.schema;
    text += next.text;
    rest = rest.slice(length);
  }
  return text.replace(/^\./, '');
}

/** The path of a property below a path; both may be empty. */
export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A path as errors name it. */
export function shownPath(path: string): string {
  return path === '' ? '<nil>' : path;
}
