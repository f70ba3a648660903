import { arrayOf, isObject, stringOf, stringsOf, type JsonObject } from '../engine/values/json.js';

/** Collects the interfaces that a kind needs, under names that are not taken. */
export interface TypeWriter {
  /** A free name for a type, and its place in the output. */
  readonly add: (name: string, text: (name: string) => string) => string;
  /** The interfaces since the last call, the outermost first. */
  readonly take: () => string[];
}

/** A writer for one module. */
export function createTypeNames(taken: readonly string[]): TypeWriter {
  const names = new Set(['Kind', 'KubeObject', ...taken]);
  let texts: { name: string; text: string }[] = [];
  return {
    add(wanted, text) {
      let name = wanted;
      for (let count = 2; names.has(name); count++) name = `${wanted}${count}`;
      names.add(name);
      const entry = { name, text: '' };
      texts.push(entry);
      entry.text = text(name);
      return name;
    },
    take() {
      const result = texts.map(({ text }) => text);
      texts = [];
      return result;
    },
  };
}

function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** The name of the items of a list: `parts` → `Part`. */
function singular(name: string): string {
  if (/ies$/.test(name)) return `${name.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(name)) return name;
  return /(?:ches|shes|xes|sses)$/.test(name) ? name.slice(0, -2) : name.replace(/s$/, '');
}

/** The doc comment of a type or field: its description, then what bounds it. */
export function typeComment(schema: JsonObject, indent: string): string {
  const text = stringOf(schema['description']).trim().replaceAll('*/', '*\\/');
  const lines = text === '' ? [] : text.split('\n').map((line) => line.trimEnd());
  if (schema['default'] !== undefined) {
    const value = JSON.stringify(schema['default']).replaceAll('*/', '*\\/');
    lines.push(...(lines.length > 0 ? [''] : []), `@default ${value}`);
  }
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ''} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`;
}

function literals(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))).join(' | ');
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function bare(schema: JsonObject, name: string, writer: TypeWriter): string {
  const values = arrayOf(schema['enum']);
  if (values.length > 0) return literals(values);
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  switch (schema['type']) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const items = isObject(schema['items']) ? typeText(schema['items'], singular(name), writer) : 'unknown';
      return /[|&]/.test(items) ? `(${items})[]` : `${items}[]`;
    }
    case 'object':
      return objectText(schema, name, writer);
    default:
      return 'unknown';
  }
}

function objectText(schema: JsonObject, name: string, writer: TypeWriter): string {
  const { properties, additionalProperties: values } = schema;
  if (isObject(properties) && Object.keys(properties).length > 0) {
    return writer.add(name, (given) => {
      const body = interfaceOf(schema, given, writer);
      return `${typeComment(schema, '')}export interface ${given} {\n${body.join('\n')}\n}`;
    });
  }
  if (isObject(values)) return `Record<string, ${typeText(values, singular(name), writer)}>`;
  return 'Record<string, unknown>';
}

/** The type of a value; interfaces that it needs go to the writer. */
export function typeText(schema: JsonObject, name: string, writer: TypeWriter): string {
  const text = bare(schema, name, writer);
  return schema['nullable'] === true && text !== 'unknown' ? `${text} | null` : text;
}

/** The lines between the braces of an interface. */
export function interfaceOf(schema: JsonObject, name: string, writer: TypeWriter): string[] {
  const required = new Set(stringsOf(schema['required']));
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const lines = Object.entries(properties).map(([field, property]) => {
    const own = isObject(property) ? property : {};
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : quoted(field);
    const optional = required.has(field) ? '' : '?';
    return `${typeComment(own, '  ')}  ${key}${optional}: ${typeText(own, `${name}${pascal(field)}`, writer)};`;
  });
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) lines.push('  [field: string]: unknown;');
  return lines;
}
