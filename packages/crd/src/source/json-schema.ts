import { messageOf } from '@kctl/telemetry/internal';
import { isObject, type JsonObject } from '../engine/values/json.js';
import { inspectEffect } from './effect-inspection.js';
import { markTransformations } from './transformation.js';
import { foreignField, lostKey, zodOptions } from './zod-inspection.js';
import type { SchemaValue } from './schema-value.js';

/** Tried in this order, because a later one is less expressive. */
const targets = ['draft-2020-12', 'draft-07', 'openapi-3.0'];

/** The schema written by a library, or the reason why there is no schema. */
export type WrittenSchema = { readonly schema: JsonObject } | { readonly problem: string };

interface Convertible {
  toJsonSchema(options: object): unknown;
}

function isConvertible(value: object): value is Convertible {
  return 'toJsonSchema' in value && typeof value.toJsonSchema === 'function';
}

/** ArkType leaves out what it cannot write, except from its own function, which calls back for it. */
function writeArkType(source: Convertible): WrittenSchema {
  const fallback = ({ code, base }: { code: string; base: object }): object => ({ ...base, [lostKey]: code });
  try {
    const written = source.toJsonSchema({ fallback });
    return isObject(written) ? { schema: written } : { problem: 'the library did not return an object' };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The JSON Schema of a schema value, as its library writes what goes into it. */
export function writeJsonSchema(source: SchemaValue): WrittenSchema {
  const standard = source['~standard'];
  if (standard.vendor === 'arktype' && isConvertible(source)) return writeArkType(source);
  const libraryOptions = standard.vendor === 'zod' ? zodOptions : undefined;
  let problem = '';
  for (const target of targets) {
    try {
      const request = libraryOptions === undefined ? { target } : { target, libraryOptions };
      const written = standard.jsonSchema.input(request);
      if (standard.vendor === 'effect') return { schema: inspectEffect(source, written) };
      return { schema: withTransformations(standard, written, target) };
    } catch (error) {
      if (problem === '') problem = messageOf(error);
    }
  }
  const foreign = standard.vendor === 'zod' ? foreignField(source) : undefined;
  if (foreign === undefined) return { problem };
  return { problem: `field ${foreign} is not a zod schema: wrap it in embed() of @kctl/crd/zod` };
}

/** Libraries whose own words for transformations are read, and plain JSON Schema. */
const inspected: ReadonlySet<string> = new Set(['zod', 'arktype', 'json-schema', 'kctl']);

function withTransformations(
  { vendor, jsonSchema }: SchemaValue['~standard'],
  schema: JsonObject,
  target: string,
): JsonObject {
  if (inspected.has(vendor)) return schema;
  let output: unknown;
  try {
    output = jsonSchema.output({ target });
  } catch {
    // The library cannot write the output schema, so it differs from the input schema somewhere.
  }
  return markTransformations(schema, output);
}
