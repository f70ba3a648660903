import { equalJson, isObject, type JsonObject } from '../engine/values/json.js';
import { lostKey } from './zod-inspection.js';

/** Keywords that differ between what goes in and what comes out of a schema with defaults. */
const ofDefaults: ReadonlySet<string> = new Set([
  '$schema',
  'default',
  'required',
  'additionalProperties',
  'properties',
  'items',
]);

function ownKeywords(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ofDefaults.has(keyword)));
}

/**
 * Marks, in a copy of the input schema, parts whose output has another type, which reveals the transformations of a
 * library that does not report them. `output` is undefined if the library cannot write the output schema.
 */
export function markTransformations(input: JsonObject, output: unknown): JsonObject {
  const lost: JsonObject = { ...input, [lostKey]: 'transform' };
  if (!isObject(output) || !equalJson(ownKeywords(input), ownKeywords(output))) return lost;
  const marked: JsonObject = { ...input };
  if (isObject(input['properties'])) {
    const after = isObject(output['properties']) ? output['properties'] : {};
    marked['properties'] = Object.fromEntries(
      Object.entries(input['properties']).map(([name, property]) => [
        name,
        isObject(property) ? markTransformations(property, after[name]) : property,
      ]),
    );
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const child = input[keyword];
    if (isObject(child)) marked[keyword] = markTransformations(child, output[keyword]);
  }
  return marked;
}
