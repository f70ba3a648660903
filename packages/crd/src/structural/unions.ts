import { arrayOf, equalJson, objectsOf, type JsonObject } from '../engine/values/json.js';
import { intersect } from './combine.js';
import { convertNumbers } from './numbers.js';

const scalars: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean']);

/** Keywords that declare what a value consists of, which constraints below a union cannot do. */
const declaring: readonly string[] = [
  ...['type', 'properties', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'],
  ...['anyOf', 'oneOf', 'allOf', 'const', 'enum'],
];

/** A union as a structural schema can have it, or its parts when it cannot. */
export type Union =
  | { readonly schema: JsonObject /** A format that is left out. */; readonly lostFormat?: unknown }
  | { readonly refused: readonly JsonObject[] };

/** The type of all values; undefined when they have several, or one that is not a scalar. */
export function typeOfValues(values: readonly unknown[]): string | undefined {
  const types = new Set(values.map(typeOfValue));
  const [type] = types;
  return types.size === 1 && scalars.has(type) ? type : undefined;
}

function typeOfValue(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** A union of parts without references and null. */
export function unionOf(schema: JsonObject, junctor: 'anyOf' | 'oneOf'): Union {
  const { [junctor]: written, ...beside } = schema;
  const parts = objectsOf(written);
  const values = unionOfValues(parts);
  const known = values === undefined ? undefined : intersect(beside, { enum: values });
  if (known !== undefined) return { schema: known };
  if (schema['x-kubernetes-int-or-string'] === true || isIntOrString(parts)) return intOrString(beside, parts);
  const isDeclared = ['type', 'properties', 'items', 'x-kubernetes-preserve-unknown-fields'].some(
    (keyword) => beside[keyword] !== undefined,
  );
  if (
    parts.every(
      (part) => part['type'] === undefined && (isDeclared || !declaring.some((each) => part[each] !== undefined)),
    )
  )
    return { schema };
  const types = new Set(parts.map(partType));
  const [type] = types;
  const isOfBeside = beside['type'] === undefined || beside['type'] === type;
  if (types.size !== 1 || !scalars.has(type) || !isOfBeside) return { refused: parts };
  const rest = parts.map(({ type: _type, title: _title, description: _text, ...part }) => part);
  return { schema: { ...beside, type, [junctor]: rest } };
}

function partType(part: JsonObject): unknown {
  if (part['type'] !== undefined) return part['type'];
  return typeOfValues('const' in part ? [part['const']] : arrayOf(part['enum']));
}

/** The values of a union of constants; undefined when a part is anything else. */
function unionOfValues(parts: readonly JsonObject[]): unknown[] | undefined {
  const values: unknown[] = [];
  for (const part of parts) {
    const {
      const: value,
      enum: several,
      type: _type,
      title: _title,
      description: _text,
      id: _id,
      $id: _name,
      ...rest
    } = part;
    if (Object.keys(rest).length > 0) return undefined;
    if (Array.isArray(several)) values.push(...arrayOf(several));
    else if (value !== undefined) values.push(value);
    else return undefined;
  }
  return values.filter((value, index) => values.findIndex((each) => equalJson(each, value)) === index);
}

/** Whether a union is that of an int-or-string. */
function isIntOrString(parts: readonly JsonObject[]): boolean {
  const types = parts.map(({ type }) => type);
  return parts.length === 2 && types.includes('string') && (types.includes('integer') || types.includes('number'));
}

function intOrString(beside: JsonObject, parts: readonly JsonObject[]): Union {
  const bounds: JsonObject = {};
  for (const part of parts) {
    // Keywords that hold for only one of the two, because values and constraints of other keywords hold for both.
    if (['enum', 'const', 'not', 'anyOf', 'oneOf', 'allOf'].some((keyword) => part[keyword] !== undefined))
      return { refused: parts };
    const { type, title: _title, description: _text, ...rest } = part;
    const own = type === 'string' ? rest : convertNumbers({ ...rest, type: 'integer' }).schema;
    delete own['type'];
    Object.assign(bounds, own);
  }
  const { format, ...rest } = bounds;
  return { schema: { ...beside, ...rest, 'x-kubernetes-int-or-string': true }, lostFormat: format };
}
