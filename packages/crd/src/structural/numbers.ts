import type { JsonObject } from '../engine/values/json.js';

/** Bounds as OpenAPI 3.0 writes them, and the format that a library's bounds stand for. */
export interface Numbers {
  readonly schema: JsonObject;
  readonly bounds: JsonObject;
  readonly format: string | undefined;
}

const safe = Number.MAX_SAFE_INTEGER;
const int32 = 2 ** 31;
const float32 = 3.4028234663852886e38;

/** Bounds that libraries write for their integer and float types, and the equivalent formats. */
const typeBounds: readonly (readonly [minimum: number, maximum: number, format: string | undefined])[] = [
  [-safe, safe, undefined],
  [-int32, int32 - 1, 'int32'],
  [-float32, float32, 'float'],
  [-Number.MAX_VALUE, Number.MAX_VALUE, 'double'],
];

/** Whether bounds, as far as there are some, lie within those of an int32. */
function fitsInt32({ minimum, maximum }: JsonObject): boolean {
  return typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -int32 && maximum <= int32 - 1;
}

/** Reads bounds of any dialect. Those of 2020-12 have numbers in `exclusiveMinimum`, those of OpenAPI 3.0 flags. */
export function convertNumbers(schema: JsonObject): Numbers {
  const bounds: JsonObject = {};
  const isInteger = schema['type'] === 'integer';
  const isInt32 = isInteger && (schema['maximum'] === int32 - 1 || schema['minimum'] === -int32);
  const known = typeBounds.find(
    ([low, high, format]) =>
      (schema['minimum'] === low && schema['maximum'] === high) || (format === 'int32' && isInt32 && fitsInt32(schema)),
  );
  const isOfType = (value: unknown): boolean => {
    if (known !== undefined) return value === known[0] || value === known[1];
    return isInteger && (value === safe || value === -safe);
  };
  for (const [bound, exclusive, isTighter] of [
    ['minimum', 'exclusiveMinimum', (a: number, b: number): boolean => a >= b],
    ['maximum', 'exclusiveMaximum', (a: number, b: number): boolean => a <= b],
  ] as const) {
    const value = schema[bound];
    const limit = schema[exclusive];
    if (typeof value === 'number' && !isOfType(value)) {
      bounds[bound] = value;
      if (limit === true) bounds[exclusive] = true;
    }
    if (typeof limit !== 'number') continue;
    const inclusive = bounds[bound];
    if (typeof inclusive === 'number' && !isTighter(limit, inclusive)) continue;
    bounds[bound] = limit;
    bounds[exclusive] = true;
  }
  const { minimum: _low, maximum: _high, exclusiveMinimum: _above, exclusiveMaximum: _below, ...rest } = schema;
  const format = typeof schema['format'] === 'string' ? undefined : known?.[2];
  return { schema: { ...rest, ...bounds }, bounds, format };
}
