import { arrayOf, objectsOf, type JsonObject } from '../engine/values/json.js';
import { intersect, isNull, mergeAll } from './combine.js';
import { resolveReference } from './references.js';

/** A schema without references, `allOf` and null, at its own level and in the parts of its unions. */
export interface Flat {
  readonly schema: JsonObject;
  /** References that were followed. */
  readonly seen: readonly string[];
  /** Whether null is one of the values. A schema without types accepts null, too. */
  readonly takesNull: boolean;
}

export type Flattened =
  | Flat
  | { readonly recursive: string }
  | { readonly missing: string }
  | { readonly contradiction: unknown };

/** Position of a schema. */
export interface FlattenPlace {
  readonly root: JsonObject;
  /** References that are being followed. */
  readonly seen: readonly string[];
  /** Whether the schema is below `allOf`, `anyOf`, `oneOf` or `not`, in which `allOf` stays as it is. */
  readonly isNested: boolean;
}

/** The result, and whether what was taken out takes null. */
interface Step {
  readonly schema: JsonObject;
  readonly seen: readonly string[];
  readonly takesNull: boolean;
}

type StepOrProblem = Step | Exclude<Flattened, Flat>;

/** Takes references, `allOf` and null out of a schema. */
export function flatten(source: JsonObject, place: FlattenPlace): Flattened {
  const resolved = resolveReference(source, place.root, place.seen);
  if (!('schema' in resolved)) return resolved;
  const { nullable, ...written } = resolved.schema;
  let step: StepOrProblem = { ...withoutNull(written), seen: resolved.seen };
  for (const take of [takeAll, takeAny, takeOne]) {
    if (!('schema' in step)) return step;
    step = take(step, place);
  }
  return 'schema' in step && nullable === true ? { ...step, takesNull: true } : step;
}

/** Whether a schema names the types or values that there are. */
export function limitsTypes(schema: JsonObject): boolean {
  return ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => schema[keyword] !== undefined);
}

/** Without null in `type` and `enum`. */
function withoutNull(schema: JsonObject): { readonly schema: JsonObject; readonly takesNull: boolean } {
  const { type, enum: values } = schema;
  const takesNull =
    (type === undefined || arrayOf(type).includes('null') || type === 'null') &&
    (values === undefined || arrayOf(values).includes(null)) &&
    (schema['const'] === undefined || schema['const'] === null);
  if (isNull(schema)) return { schema: { type: 'null' }, takesNull };
  const result = { ...schema };
  if (Array.isArray(type)) {
    const rest = arrayOf(type).filter((each) => each !== 'null');
    result['type'] = rest.length === 1 ? rest[0] : rest;
  }
  if (Array.isArray(values)) result['enum'] = arrayOf(values).filter((each) => each !== null);
  return { schema: result, takesNull };
}

function flattenAll(parts: readonly JsonObject[], step: Step, place: FlattenPlace): Flat[] | Exclude<Flattened, Flat> {
  const flat: Flat[] = [];
  for (const part of parts) {
    const each = flatten(part, { ...place, seen: step.seen });
    if (!('schema' in each)) return each;
    flat.push(each);
  }
  return flat;
}

function joined(all: readonly { readonly seen: readonly string[] }[]): readonly string[] {
  return [...new Set(all.flatMap(({ seen }) => seen))];
}

function takeAll(step: Step, place: FlattenPlace): StepOrProblem {
  const parts = objectsOf(step.schema['allOf']);
  if (parts.length === 0 || place.isNested) return step;
  const flat = flattenAll(parts, step, place);
  if (!Array.isArray(flat)) return flat;
  const schema = mergeAll(
    step.schema,
    flat.map((part) => part.schema),
  );
  if (schema === undefined) return { contradiction: step.schema['allOf'] };
  const takesNull = step.takesNull && flat.every((part) => part.takesNull);
  return { schema, seen: joined([step, ...flat]), takesNull };
}

function takeAny(step: Step, place: FlattenPlace): StepOrProblem {
  return takeUnion('anyOf', step, place);
}

function takeOne(step: Step, place: FlattenPlace): StepOrProblem {
  return takeUnion('oneOf', step, place);
}

function takeUnion(junctor: 'anyOf' | 'oneOf', step: Step, place: FlattenPlace): StepOrProblem {
  const { [junctor]: written, ...beside } = step.schema;
  const parts = objectsOf(written);
  if (parts.length === 0) return step;
  const flat = flattenAll(parts, step, place);
  if (!Array.isArray(flat)) return flat;
  const nulls = flat.filter((part) => part.takesNull).length;
  const takesNull = step.takesNull && (junctor === 'anyOf' ? nulls > 0 : nulls === 1);
  const rest = flat.filter((part) => !isNull(part.schema));
  const [only] = rest;
  if (only === undefined) return { schema: { ...beside, type: 'null' }, seen: step.seen, takesNull };
  if (rest.length > 1)
    return {
      schema: { ...beside, [junctor]: rest.flatMap((part) => unnested(part.schema, junctor)) },
      seen: step.seen,
      takesNull,
    };
  const schema = intersect(beside, only.schema);
  return schema === undefined ? { contradiction: written } : { schema, seen: only.seen, takesNull };
}

/** The parts of a union that is nothing but a part of another. */
function unnested(part: JsonObject, junctor: 'anyOf' | 'oneOf'): JsonObject[] {
  const { title: _title, description: _text, id: _id, $id: _name, anyOf: inner, ...others } = part;
  const isUnion = junctor === 'anyOf' && Array.isArray(inner) && Object.keys(others).length === 0;
  return isUnion ? objectsOf(inner) : [part];
}

/** The problem, and a value that shows it. */
export function problemOf(problem: Exclude<Flattened, Flat>): {
  readonly value: unknown;
  readonly kind: 'recursive' | 'missing' | 'contradiction';
} {
  if ('recursive' in problem) return { kind: 'recursive', value: { $ref: problem.recursive } };
  if ('missing' in problem) return { kind: 'missing', value: { $ref: problem.missing } };
  return { kind: 'contradiction', value: problem.contradiction };
}
