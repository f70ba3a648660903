/**
 * Types for which zod has no schema, as zod schemas, including built-in Kubernetes types, int-or-string, and
 * quantities.
 *
 * @packageDocumentation
 */
import type { Condition, IntOrString, Quantity } from '@kctl/apimachinery';
import { z } from 'zod';
import { conditionsSchema } from '../markers/conditions.js';
import {
  duration as durationMarker,
  intOrString as intOrStringMarker,
  quantity as quantityMarker,
} from '../markers/markers.js';
import { writeJsonSchema } from '../source/json-schema.js';
import type { SchemaInput, SchemaValue } from '../source/schema-value.js';

/**
 * Any schema value as a field of a zod object, either a built-in type, or a schema of another library. zod itself
 * accepts every value there; `validate` of the resource and the API server check it.
 *
 * @example
 * z.object({ template: embed(PodTemplateSpec) })
 * @throws TypeError if the schema cannot be written as JSON Schema
 */
export function embed<S extends SchemaValue>(schema: S): z.ZodType<SchemaInput<S>, SchemaInput<S>> {
  const written = writeJsonSchema(schema);
  if ('problem' in written)
    throw new TypeError(`embed: the schema cannot be written as JSON Schema: ${written.problem}`);
  return z.custom<SchemaInput<S>>().meta(written.schema);
}

/** A number or a string, as ports and percentages are. */
export function intOrString(): z.ZodType<IntOrString, IntOrString> {
  return z.union([z.int(), z.string()]).meta(intOrStringMarker());
}

/** A quantity: `500m`, `1Gi`, `2`. */
export function quantity(): z.ZodType<Quantity, Quantity> {
  return z.union([z.int(), z.string()]).meta(quantityMarker());
}

/** A duration as Go writes it: `1h30m`. */
export function duration(): z.ZodString {
  return z.string().meta(durationMarker());
}

/** A point in time, RFC 3339. */
export function timestamp(): z.ZodString {
  return z.string().meta({ format: 'date-time' });
}

/**
 * `status.conditions` as an optional list of conditions, one of each type.
 *
 * @example
 * z.object({ conditions: conditions() })
 */
export function conditions(): z.ZodOptional<z.ZodType<Condition[], Condition[]>> {
  return z
    .custom<Condition[]>()
    .meta({ ...conditionsSchema() })
    .optional();
}

/** Fields of {@link statusFields}. */
export interface StatusFields {
  readonly observedGeneration: z.ZodOptional<z.ZodType<number, number>>;
  readonly conditions: z.ZodOptional<z.ZodType<Condition[], Condition[]>>;
}

/**
 * The fields that a status has by convention, both optional: `observedGeneration`, an int64, and `conditions`, of which
 * there is one of each type.
 *
 * @example
 * z.object({ ...statusFields(), ready: z.int32().optional() })
 */
export function statusFields(): StatusFields {
  const description = 'The metadata.generation that this status is about.';
  return {
    observedGeneration: z
      .custom<number>()
      .meta({ type: 'integer', format: 'int64', minimum: 0, description })
      .optional(),
    conditions: conditions(),
  };
}

/** The metadata of a template that the API server keeps. */
export interface EmbeddedMetadata {
  name?: string | undefined;
  namespace?: string | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
}

/**
 * The metadata of a template that a resource holds, with labels, annotations, finalizers, name and namespace.
 * `embeddedMetadata` of the resource defines whether the definition names them.
 *
 * @example
 * z.object({ template: z.object({ metadata: embeddedMetadata().optional(), spec: embed(PodSpec) }) })
 */
export function embeddedMetadata(): z.ZodType<EmbeddedMetadata, EmbeddedMetadata> {
  return z.object({
    name: z.string().optional(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    finalizers: z.array(z.string()).optional(),
  });
}
