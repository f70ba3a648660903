import { compileSchema } from '../engine/schema/compile.js';
import { validateValue } from '../engine/schema/validate.js';
import { arrayOf, at, isObject, objectsOf, stringOf, stringsOf, type JsonObject } from '../engine/values/json.js';
import type { SchemaValue } from './schema-value.js';

/** A value that a library rejects and the definition accepts. */
export interface LibraryRefusal {
  /** Names of fields and indexes of items. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly message: string;
}

/** Strings of many kinds, of which some match a pattern or a format. */
const texts: readonly string[] = [
  ...['a', '', 'A', 'abc', 'Abc Def', 'a-b', 'a.example.com', 'x', '0', '12', '1.5', ' a ', 'true', 'null'],
  ...['2026-11-23T20:15:00Z', '2026-11-23', '1h30m', '10.0.0.1', '10.0.0.0/8', '::1', 'https://example.com/a?b=c'],
  ...['a@example.com', '123e4567-e89b-42d3-a456-426614174000', 'YQ==', '1Gi', '500m', '*/5 * * * *', 'a/b', 'é', '50%'],
];
const numbers: readonly number[] = [1, 0, -1, 2, 3, 7, 10, 100, 8080, 65_536, 0.5, -2.25];

/** How deep values are made. */
const maxDepth = 8;
/** How many values of a scalar there are at most, and of a whole. */
const maxScalars = 24;
const maxValues = 1500;

function bounded(schema: JsonObject, depth: number): unknown[] {
  const bounds = [schema['minimum'], schema['maximum']].filter((each) => typeof each === 'number');
  const near = bounds.flatMap((bound) => [bound, bound + 1, bound - 1]);
  switch (schema['type']) {
    case 'boolean':
      return [true, false];
    case 'integer':
      return [...near, ...numbers].filter(Number.isInteger);
    case 'number':
      return [...near, ...numbers];
    case 'string': {
      const lengths = [schema['minLength'], schema['maxLength']].filter(
        (each) => typeof each === 'number' && each < 300,
      );
      return [...texts, ...lengths.map((length) => 'a'.repeat(Number(length)))];
    }
    case 'array':
      return lists(schema, depth);
    case 'object':
      return isObject(schema['properties']) ? objects(schema, depth) : maps(schema, depth);
    default:
      return ['a', 1, true, { a: 1 }];
  }
}

function lists(schema: JsonObject, depth: number): unknown[] {
  const items = isObject(schema['items']) ? valuesOf(schema['items'], depth + 1) : [];
  const least = typeof schema['minItems'] === 'number' ? Math.min(schema['minItems'], 20) : 0;
  const of = (item: unknown): unknown[] => Array.from({ length: Math.max(1, least) }, () => item);
  return [[], ...items.map(of), items.slice(0, Math.max(2, least))];
}

function maps(schema: JsonObject, depth: number): unknown[] {
  const values = isObject(schema['additionalProperties']) ? valuesOf(schema['additionalProperties'], depth + 1) : ['a'];
  return [{}, ...values.map((value) => ({ a: value })), { 'a.b/c': values[0], b: values[0] }];
}

/** An object with everything that is required, then with one field more or other than that. */
function objects(schema: JsonObject, depth: number): unknown[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = stringsOf(schema['required']);
  const byName = Object.entries(properties).map(([name, property]): [string, unknown[]] => [
    name,
    isObject(property) ? valuesOf(property, depth + 1) : [],
  ]);
  const base = Object.fromEntries(
    byName.filter(([name]) => required.includes(name)).map(([name, [first]]) => [name, first]),
  );
  // The first value of each field, then the second, so that no field is left out if there are too many.
  const rounds = Math.max(0, ...byName.map(([, values]) => values.length));
  const others = Array.from({ length: rounds }, (_, round) =>
    byName.flatMap(([name, values]) => (round < values.length ? [{ ...base, [name]: values[round] }] : [])),
  );
  return [base, ...others.flat()];
}

/** Values that a structural schema takes. */
function valuesOf(schema: JsonObject, depth: number): unknown[] {
  if (depth > maxDepth) return [];
  const given = [schema['default'], schema['example']].filter((each) => each !== undefined);
  const known = arrayOf(schema['enum']);
  const candidates = [...given, ...(known.length > 0 ? known : bounded(schema, depth))];
  const compiled = compileSchema(schema);
  const isScalar = schema['type'] !== 'object' && schema['type'] !== 'array';
  return candidates
    .slice(0, maxValues)
    .filter((value) => value !== undefined && validateValue(value, compiled).length === 0)
    .slice(0, isScalar ? maxScalars : maxValues);
}

interface Validating {
  validate(value: unknown): unknown;
}

function isValidating(standard: object): standard is Validating {
  return 'validate' in standard && typeof standard.validate === 'function';
}

function pathOf(issue: JsonObject): string[] {
  return arrayOf(issue['path']).map((step) => String(isObject(step) ? step['key'] : step));
}

/** Whether a rule of the field or of its parents may express the library's check. */
function hasRule(schema: JsonObject, path: readonly string[]): boolean {
  let current: unknown = schema;
  for (const step of [undefined, ...path]) {
    if (step !== undefined && isObject(current)) {
      current = at(current, 'properties', step) ?? current['items'] ?? current['additionalProperties'];
    }
    if (objectsOf(at(current, 'x-kubernetes-validations')).length > 0) return true;
  }
  return false;
}

/**
 * Passes values that the definition accepts to the library, and returns those it rejects, one for each field. Each is a
 * check that the library did not write into its JSON Schema. For libraries that are not inspected directly; nothing is
 * called if a library validates asynchronously.
 */
export function refusalsOf(source: SchemaValue, structural: JsonObject): LibraryRefusal[] {
  const standard: object = source['~standard'];
  if (!isValidating(standard)) return [];
  const found = new Map<string, LibraryRefusal>();
  for (const value of valuesOf(structural, 0)) {
    let result: unknown;
    try {
      result = standard.validate(value);
    } catch {
      return [];
    }
    if (result instanceof Promise) return [];
    for (const issue of objectsOf(at(result, 'issues'))) {
      const path = pathOf(issue);
      const key = path.map((step) => (/^\d+$/.test(step) ? '[]' : `.${step}`)).join('');
      if (found.has(key) || hasRule(structural, path)) continue;
      const there = path.reduce<unknown>(
        (current, step) => (Array.isArray(current) ? current[Number(step)] : at(current, step)),
        value,
      );
      found.set(key, { path, value: there, message: stringOf(issue['message']) });
    }
  }
  return [...found.values()];
}
