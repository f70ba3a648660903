import { arrayOf, isObject, objectsOf, stringOf, stringsOf, type JsonObject } from '../engine/values/json.js';
import { withOwnEnum } from '../structural/nullable-enum.js';
import { dereferenced, knownModel, modelOf, withoutZeroDefault } from './models.js';
import type { TypeWriter } from './type-writer.js';

/** A TypeScript name from any string. */
export function pascal(name: string): string {
  const text = name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
  return /^\d/.test(text) ? `Type${text}` : text;
}

/** The name of the items of a list: `parts` → `Part`. */
function singular(name: string): string {
  if (/ies$/.test(name)) return `${name.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(name)) return name;
  return /(?:ches|shes|xes|sses)$/.test(name) ? name.slice(0, -2) : name.replace(/s$/, '');
}

/** A doc comment of these lines; empty if there are no lines. */
export function commentText(lines: readonly string[], indent: string): string {
  const safe = lines.flatMap((line) => line.replaceAll('*/', '*\\/').split(/\r\n|[\n\r\u2028\u2029]/));
  const trimmed = safe.map((line) => line.trimEnd());
  if (trimmed.length === 0) return '';
  if (trimmed.length === 1) return `${indent}/** ${trimmed[0] ?? ''} */\n`;
  const body = trimmed.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('');
  return `${indent}/**\n${body}${indent} */\n`;
}

/** The doc comment of a type or field, which has its description, then the defaults of the server. */
export function typeComment(schema: JsonObject, indent: string): string {
  const text = stringOf(schema['description']).trim();
  const lines = text === '' ? [] : [text];
  if (schema['default'] !== undefined) {
    lines.push(...(lines.length > 0 ? [''] : []), `@default ${JSON.stringify(schema['default'])}`);
  }
  return commentText(lines, indent);
}

function literals(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value)));
  return [...new Set(texts)].join(' | ');
}

/** A string as a literal of TypeScript, with the quotes that formatters choose. */
export function quoted(text: string): string {
  if (text.includes("'") && !text.includes('"')) return JSON.stringify(text);
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function isUnion(text: string): boolean {
  return /[|&]/.test(text) && !/^Record<[^<>]*>$/.test(text);
}

function bare(schema: JsonObject, name: string, writer: TypeWriter): string {
  const model = writer.models === undefined ? undefined : modelOf(schema);
  if (model !== undefined) return modelText(model, writer);
  const values = arrayOf(withOwnEnum(schema)['enum']);
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
      return isUnion(items) ? `(${items})[]` : `${items}[]`;
    }
    case 'object':
      return objectText(schema, name, writer);
    default:
      return writer.models === undefined ? 'unknown' : alternatives(schema, name, writer);
  }
}

/** A union of documents: `oneOf` of a quantity. In a structural schema such a thing only bounds what is declared beside it. */
function alternatives(schema: JsonObject, name: string, writer: TypeWriter): string {
  const parts = [...objectsOf(schema['oneOf']), ...objectsOf(schema['anyOf'])];
  const texts = parts.map((part) => typeText(part, name, writer));
  if (texts.length === 0 || texts.includes('unknown'))
    return isObject(schema['properties']) ? objectText(schema, name, writer) : 'unknown';
  return [...new Set(texts)].join(' | ');
}

function modelText(model: string, writer: TypeWriter): string {
  const known = knownModel(model);
  if (known !== undefined) return known.imported ? writer.imported(known.text) : known.text;
  const schema = dereferenced({ $ref: `#/components/schemas/${model}` }, writer.models);
  if (schema === undefined) return 'unknown';
  const wanted = pascal(model.slice(model.lastIndexOf('.') + 1)) || 'Model';
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  if (Object.keys(properties).length > 0)
    return writer.model(model, wanted, (given) => interfaceText(schema, given, writer));
  if (!isUnionOfModels(schema)) return writer.inline(model, () => typeText(schema, wanted, writer));
  // Under a separate name, because the source of a union of unions would double with each of them.
  return writer.alias(model, wanted, (given) => {
    return `${typeComment(schema, '')}export type ${given} = ${typeText(schema, given, writer)};`;
  });
}

function isUnionOfModels(schema: JsonObject): boolean {
  return ['oneOf', 'anyOf'].some((keyword) => containsModel(schema[keyword]));
}

function containsModel(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsModel);
  return isObject(value) && (modelOf(value) !== undefined || Object.values(value).some(containsModel));
}

function interfaceText(schema: JsonObject, name: string, writer: TypeWriter): string {
  const body = interfaceOf(schema, name, writer);
  return `${typeComment(schema, '')}export interface ${name} {\n${body.join('\n')}\n}`;
}

function objectText(schema: JsonObject, name: string, writer: TypeWriter): string {
  const { properties, additionalProperties: values } = schema;
  if (isObject(properties) && Object.keys(properties).length > 0) {
    return writer.add(name, (given) => interfaceText(schema, given, writer));
  }
  if (isObject(values)) return `Record<string, ${typeText(values, singular(name), writer)}>`;
  return 'Record<string, unknown>';
}

/** The type of a value; interfaces that it needs go to the writer. */
export function typeText(schema: JsonObject, name: string, writer: TypeWriter): string {
  const text = bare(schema, name, writer);
  if (schema['nullable'] !== true || text === 'unknown' || /(?:^|\| )null$/.test(text)) return text;
  return `${text} | null`;
}

/** The lines between the braces of an interface. */
export function interfaceOf(schema: JsonObject, name: string, writer: TypeWriter): string[] {
  const required = new Set(stringsOf(schema['required']));
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const lines = Object.entries(properties).map(([field, property]) => {
    const written = isObject(property) ? property : {};
    const own = writer.models === undefined ? written : withoutZeroDefault(written, required.has(field));
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : quoted(field);
    const optional = required.has(field) ? '' : '?';
    return `${typeComment(own, '  ')}  ${key}${optional}: ${typeText(own, `${name}${pascal(field)}`, writer)};`;
  });
  const isOpen = schema['additionalProperties'] === true || isObject(schema['additionalProperties']);
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || (lines.length > 0 && isOpen)) {
    lines.push('  [field: string]: unknown;');
  }
  return lines;
}
