import type { JsonObject } from '../engine/values/json.js';

const asField = 'write one optional field for each alternative and exactlyOneOf() on the object';

/** Remedies by what they are for. */
interface Remedies {
  readonly recursive: string;
  readonly intersection: string;
  readonly union: string;
  readonly pattern: string;
  readonly propertyNames: string;
  readonly catchAll: string;
  readonly tuple: string;
  readonly uniqueItems: string;
  readonly flags: string;
  readonly otherLoss: string;
  /** By what a library could not write. */
  readonly lost: Readonly<Record<string, string>>;
  /** By keyword of JSON Schema. */
  readonly keywords: Readonly<Record<string, string>>;
}

/** Alternatives to parts that a structural schema cannot express. */
export const remedies: Remedies = {
  recursive: 'nest as deep as is needed, or mark the field with preserveUnknownFields()',
  intersection: 'write one object with the fields of both',
  union: `${asField}; for a number or a string use intOrString()`,
  pattern: 'write it without look-around and back-references, or as a cel() rule',
  propertyNames: 'add cel("self.all(key, key.matches(\'…\'))") to the map, or write the names as optional fields',
  catchAll: 'put the map into a field, or mark the object with preserveUnknownFields()',
  tuple: 'write an object with named fields, or a list of one type',
  uniqueItems: 'mark the list with listSet(), or with listMap() and a key',
  flags: 'write i, m and s into the pattern, as in (?i:abc); leave the others out',
  otherLoss: 'write a type that JSON has, or give the schema by path in fields',
  lost: {
    refine: 'write it as a cel() rule, or add libraryOnly() to keep the check out of the API server',
    predicate: 'write it as a cel() rule, or add libraryOnly() to keep the check out of the API server',
    url: 'add a pattern for them: z.string().regex(/^https?:/), or add libraryOnly() to keep the check out of the API server',
    default: 'give a value, or let the reconciler or a webhook fill it in',
    transform: 'store the value as it is written, and transform it where it is used',
    morph: 'store the value as it is written, and transform it where it is used',
    pipe: 'write the checks on one type',
    overwrite: 'require the form with a pattern: the API server stores what it gets',
    'decoding default': 'make the field an optional key, and annotate it with defaultTo(…)',
    'check of record keys': 'add cel("self.all(key, key.matches(\'…\'))") to the map',
    coerce: 'name the type that is stored: the API server does not convert values',
    catch: 'use a default: the API server refuses what is not valid',
    date: 'use a string with format date-time: timestamp()',
    bigint: 'use an integer with format int64',
    map: 'use a record',
    set: 'use a list marked with listSet()',
    undefined: 'make the field optional',
    void: 'make the field optional',
    custom: 'give its schema with meta(), or use embed() of @kctl/crd/zod',
  },
  keywords: {
    patternProperties: 'use a map (additionalProperties) with a cel() rule on its names',
    dependentRequired: 'write it as a cel() rule on the object',
    dependentSchemas: 'write it as a cel() rule on the object',
    dependencies: 'write it as a cel() rule on the object',
    contains: 'write it as a cel() rule: self.exists(item, …)',
    minContains: 'write it as a cel() rule',
    maxContains: 'write it as a cel() rule',
    if: 'write it as a cel() rule: condition ? rule : true',
    then: 'write it as a cel() rule',
    else: 'write it as a cel() rule',
    additionalItems: 'write a list of one type',
    unevaluatedItems: 'write a list of one type',
    $dynamicRef: 'write the type in its place',
    $recursiveRef: 'nest as deep as is needed',
  },
};

/** The remedy for a union, by what it is one of. */
export function unionRemedy(parts: readonly JsonObject[]): string {
  return parts.some(({ type }) => type === 'object') ? asField : remedies.union;
}
