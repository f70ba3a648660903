import { equalJson, isObject } from '../engine/values/json.js';

/** Marks a part of a JSON Schema that its library could not write; the value names it. */
export const lostKey = 'x-kctl-lost';

/** Marks a check of the library that should stay out of the definition. */
export const libraryOnlyKey = 'x-kctl-library-only';

/** Types of zod that JSON has no value for. */
const withoutJson: ReadonlySet<string> = new Set([
  'bigint',
  'date',
  'file',
  'function',
  'map',
  'nan',
  'promise',
  'set',
  'success',
  'symbol',
  'undefined',
  'void',
]);

function definitionOf(schema: unknown): Readonly<Record<string, unknown>> {
  const internals = isObject(schema) ? schema['_zod'] : undefined;
  const definition: unknown = isObject(internals) ? internals['def'] : undefined;
  return isObject(definition) ? definition : {};
}

function lostCheck(check: unknown): string | undefined {
  const definition = definitionOf(check);
  if (definition['check'] === 'custom') return 'refine';
  if (definition['check'] === 'overwrite') return 'overwrite';
  const { pattern } = definition;
  if (definition['check'] === 'string_format' && pattern instanceof RegExp && pattern.flags.replace('u', '') !== '') {
    return `regular expression flags ${JSON.stringify(pattern.flags)}`;
  }
  return undefined;
}

/** JSON Schema cannot express checks of host name and protocol of an address, so zod writes only `format: uri`. */
function lostOfUrl({ format, hostname, protocol }: Readonly<Record<string, unknown>>): string | undefined {
  return format === 'url' && (hostname !== undefined || protocol !== undefined) ? 'url' : undefined;
}

/** A default from a function differs with each call, but a definition has only one. */
function lostDefault(definition: Readonly<Record<string, unknown>>): string | undefined {
  const { type } = definition;
  if (type !== 'default' && type !== 'prefault') return undefined;
  return equalJson(definition['defaultValue'], definition['defaultValue']) ? undefined : 'default';
}

/** The path of the first field of a zod schema that is not one of zod's: `.a.b`. */
export function foreignField(schema: unknown): string | undefined {
  const { shape, element } = definitionOf(schema);
  if (element !== undefined) {
    const found = isZod(element) ? foreignField(element) : '';
    return found === undefined ? undefined : `[]${found}`;
  }
  for (const [name, field] of Object.entries(isObject(shape) ? shape : {})) {
    const found = isZod(field) ? foreignField(field) : '';
    if (found !== undefined) return `.${name}${found}`;
  }
  return undefined;
}

function isZod(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '_zod' in value;
}

/** Part of a zod schema that its JSON Schema lacks. */
function lostOf(schema: unknown, written: Readonly<Record<string, unknown>>): string | undefined {
  const definition = definitionOf(schema);
  const { type } = definition;
  if (typeof type === 'string' && withoutJson.has(type)) return type;
  if (type === 'transform' || type === 'catch') return type;
  if (type === 'pipe') {
    const after = definitionOf(definition['out'])['type'];
    if (after === 'transform' || definition['transform'] !== undefined) return 'transform';
    return 'pipe';
  }
  if (type === 'custom' && Object.keys(written).length === 0) return 'custom';
  if (definition['coerce'] === true) return 'coerce';
  const lost = lostOfUrl(definition) ?? lostDefault(definition);
  if (lost !== undefined) return lost;
  const checks: unknown = definition['checks'];
  if (!Array.isArray(checks)) return undefined;
  return checks.map(lostCheck).find((lost) => lost !== undefined);
}

/**
 * OpenAPI formats for zod's number formats. The bounds that zod writes for them are dropped as soon as others are
 * given.
 */
const numberFormats: Readonly<Record<string, string>> = { int32: 'int32', float32: 'float', float64: 'double' };

/** Options of zod's JSON Schema writer. Parts that it would silently omit are marked instead. */
export const zodOptions: Record<string, unknown> = {
  unrepresentable: 'any',
  override({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: Record<string, unknown> }): void {
    const lost = lostOf(zodSchema, jsonSchema);
    if (lost !== undefined) jsonSchema[lostKey] = lost;
    const { type, format } = definitionOf(zodSchema);
    const known = type === 'number' && typeof format === 'string' ? numberFormats[format] : undefined;
    if (known !== undefined) jsonSchema['format'] ??= known;
  },
};
