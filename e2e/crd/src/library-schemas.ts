import { fromJsonSchema, type SchemaValue } from '@kctl/crd';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type, type Type as ArkType } from 'arktype';
import * as t from 'typebox';
import { Value } from 'typebox/value';
import * as v from 'valibot';
import { z } from 'zod';
import type { Field, Shape } from './random-shape.js';

/** A schema of one library. */
export interface LibrarySchema {
  readonly spec: SchemaValue;
  /** Whether the library takes a value. */
  readonly takes: (value: unknown) => boolean;
}

type Build = (shape: Shape) => LibrarySchema;

function fieldsOf<T>(fields: readonly Field[], build: (field: Field) => T): Record<string, T> {
  return Object.fromEntries(fields.map((field) => [field.name, build(field)]));
}

function zodOf(shape: Shape, named: Map<string, z.ZodType>): z.ZodType {
  const inner = (each: Shape): z.ZodType => zodOf(each, named);
  switch (shape.is) {
    case 'string':
      return z.string().min(shape.min).max(shape.max);
    case 'integer':
      return z.int().min(shape.min).max(shape.max);
    case 'boolean':
      return z.boolean();
    case 'enum':
      return z.literal([...shape.values]);
    case 'list':
      return z.array(inner(shape.items));
    case 'map':
      return z.record(z.string(), inner(shape.values));
    case 'object':
      return z.object(
        fieldsOf(shape.fields, (field) => (field.isOptional ? inner(field.shape).optional() : inner(field.shape))),
      );
    case 'nullable':
      return inner(shape.shape).nullable();
    case 'union':
      return z.union(shape.parts.map(inner));
    case 'both':
      return z.intersection(inner(shape.left), inner(shape.right));
    case 'named': {
      const known = named.get(shape.name) ?? inner(shape.shape).meta({ id: shape.name });
      named.set(shape.name, known);
      return known;
    }
  }
}

function valibotOf(shape: Shape): v.GenericSchema {
  switch (shape.is) {
    case 'string':
      return v.pipe(v.string(), v.minLength(shape.min), v.maxLength(shape.max));
    case 'integer':
      return v.pipe(v.number(), v.integer(), v.minValue(shape.min), v.maxValue(shape.max));
    case 'boolean':
      return v.boolean();
    case 'enum':
      return v.picklist([...shape.values]);
    case 'list':
      return v.array(valibotOf(shape.items));
    case 'map':
      return v.record(v.string(), valibotOf(shape.values));
    case 'object':
      return v.object(
        fieldsOf(shape.fields, (field) =>
          field.isOptional ? v.optional(valibotOf(field.shape)) : valibotOf(field.shape),
        ),
      );
    case 'nullable':
      return v.nullable(valibotOf(shape.shape));
    case 'union':
      return v.union(shape.parts.map(valibotOf));
    case 'both':
      return v.intersect([valibotOf(shape.left), valibotOf(shape.right)]);
    case 'named':
      return valibotOf(shape.shape);
  }
}

function arkOf(shape: Shape): ArkType {
  switch (shape.is) {
    case 'string':
      return type.raw(`${String(shape.min)} <= string <= ${String(shape.max)}`);
    case 'integer':
      return type.raw(`${String(shape.min)} <= number.integer <= ${String(shape.max)}`);
    case 'boolean':
      return type.raw('boolean');
    case 'enum':
      return type.raw(shape.values.map((value) => JSON.stringify(value)).join(' | '));
    case 'list':
      return type.raw([arkOf(shape.items), '[]']);
    case 'map':
      return type.raw({ '[string]': arkOf(shape.values) });
    case 'object':
      return type.raw(
        Object.fromEntries(
          shape.fields.map((field) => [`${field.name}${field.isOptional ? '?' : ''}`, arkOf(field.shape)]),
        ),
      );
    case 'nullable':
      return type.raw([arkOf(shape.shape), '|', 'null']);
    case 'union':
      return shape.parts.map(arkOf).reduce((all, part) => type.raw([all, '|', part]));
    case 'both':
      return type.raw([arkOf(shape.left), '&', arkOf(shape.right)]);
    case 'named':
      return arkOf(shape.shape);
  }
}

function typeboxOf(shape: Shape, named: Record<string, t.TSchema>): t.TSchema {
  const inner = (each: Shape): t.TSchema => typeboxOf(each, named);
  switch (shape.is) {
    case 'string':
      return t.String({ minLength: shape.min, maxLength: shape.max });
    case 'integer':
      return t.Integer({ minimum: shape.min, maximum: shape.max });
    case 'boolean':
      return t.Boolean();
    case 'enum':
      return t.Union(shape.values.map((value) => t.Literal(value)));
    case 'list':
      return t.Array(inner(shape.items));
    case 'map':
      return t.Record(t.String(), inner(shape.values));
    case 'object':
      return t.Object(
        fieldsOf(shape.fields, (field) => (field.isOptional ? t.Optional(inner(field.shape)) : inner(field.shape))),
      );
    case 'nullable':
      return t.Union([inner(shape.shape), t.Null()]);
    case 'union':
      return t.Union(shape.parts.map(inner));
    case 'both':
      return t.Intersect([inner(shape.left), inner(shape.right)]);
    case 'named':
      named[shape.name] ??= inner(shape.shape);
      return t.Ref(shape.name);
  }
}

/** `#/$defs/name` in place of TypeBox's own names. */
function pointers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' ? `#/$defs/${member}` : pointers(member),
    ]),
  );
}

/** The libraries, by name. */
export const libraries: Readonly<Record<string, Build>> = {
  zod(shape) {
    const spec = zodOf(shape, new Map());
    return { spec, takes: (value) => spec.safeParse(value).success };
  },
  valibot(shape) {
    const schema = valibotOf(shape);
    return { spec: toStandardJsonSchema(schema), takes: (value) => v.is(schema, value) };
  },
  arktype(shape) {
    const spec = arkOf(shape);
    return { spec, takes: (value) => spec.allows(value) };
  },
  typebox(shape) {
    const named: Record<string, t.TSchema> = {};
    const schema = typeboxOf(shape, named);
    const written: object = { $defs: Object(pointers(named)), ...Object(pointers(schema)) };
    return { spec: fromJsonSchema<unknown>(written), takes: (value) => Value.Check(named, schema, value) };
  },
};
